"""Publishing the report of a run."""

from __future__ import annotations

import json

from lambdas import tables
from lambdas.aws import Bucket
from lambdas.report.contents import report
from lambdas.report.markdown import markdown
from lambdas.report.measured import MeasuredRun
from lambdas.report.page import packed_vega, page
from lambdas.stored import StoredRun, fold
from lambdas.summary import summarise
from suites import keys


def publish_report(bucket: Bucket, run_id: str) -> dict[str, str]:
    """Write ``report.md``, ``report.html`` and ``summary.json``; return the key of each."""
    return fold(bucket, run_id, lambda run: write_report(bucket, run))


def write_report(bucket: Bucket, run: StoredRun) -> dict[str, str]:
    """Write the report of a run as it was read; return the key of each file."""
    rates = summarise(run.plan, tables.rate_rows(run.plan, run.trials, run.exclusions))
    said = report(MeasuredRun(run.plan, run.trials, rates, run.exclusions, run.resumes))
    files = {
        "report.md": markdown(said),
        "report.html": page(said, packed_vega()),
        "summary.json": json.dumps([rate.model_dump() for rate in rates]),
    }
    written = {file: keys.report(run.plan.suite.name, run.plan.run_id, file) for file in files}
    for file, text in files.items():
        bucket.write(written[file], text.encode())
    return written
