"""Publishing the report of a run."""

from __future__ import annotations

import json

from lambdas import tables
from lambdas.aws import Bucket
from lambdas.report.contents import report
from lambdas.report.markdown import markdown
from lambdas.report.measured import MeasuredRun
from lambdas.report.page import packed_vega, page
from lambdas.stored import read_exclusions, read_plan, read_trials
from lambdas.summary import summarise
from lambdas.systems import system
from suites import keys


def publish_report(bucket: Bucket, run_id: str) -> dict[str, str]:
    """Write ``report.md``, ``report.html`` and ``summary.json``; return the key of each."""
    plan, trials = read_plan(bucket, run_id), read_trials(bucket, run_id)
    exclusions = read_exclusions(bucket, run_id)
    rates = summarise(plan, tables.rate_rows(plan, trials, exclusions))
    said = report(MeasuredRun(plan, trials, rates, system(plan.suite.name), exclusions))
    files = {
        "report.md": markdown(said),
        "report.html": page(said, packed_vega()),
        "summary.json": json.dumps([rate.model_dump() for rate in rates]),
    }
    written = {file: keys.report(plan.suite.name, run_id, file) for file in files}
    for file, text in files.items():
        bucket.write(written[file], text.encode())
    return written
