"""Publishing the report of a run."""

from __future__ import annotations

import json

from lambdas.aws import Bucket
from lambdas.comparing import write_comparison
from lambdas.report.contents import report
from lambdas.report.markdown import markdown
from lambdas.report.measured import MeasuredRun, measured_run
from lambdas.report.page import packed_vega, page
from lambdas.stored import StoredRun, fold
from suites import keys


def publish_report(bucket: Bucket, run_id: str) -> dict[str, str]:
    """Write the report of a run and its comparisons; return the key of each file of the report."""
    return fold(bucket, run_id, lambda run: write_report(bucket, run))


def write_report(bucket: Bucket, run: StoredRun) -> dict[str, str]:
    """Write the report of a run as it was read; return the key of each of its files.

    With it go the comparisons with the run's baseline, and of which versions it has rates.
    """
    measured = measured_run(run)
    # First, for it takes no time: whatever becomes of the rest, the run can be compared.
    _index(bucket, measured)
    said = report(measured)
    files = {
        "report.md": markdown(said),
        "report.html": page(said, packed_vega()),
        "summary.json": json.dumps([rate.model_dump() for rate in measured.rates]),
    }
    written = {file: keys.report(run.plan.suite.name, run.plan.run_id, file) for file in files}
    for file, text in files.items():
        bucket.write(written[file], text.encode())
    for version in run.plan.compared:
        write_comparison(bucket, (run, run.plan.request.baseline or ""), (run, version))
    return written


def _index(bucket: Bucket, run: MeasuredRun) -> None:
    """Let a run be found by each version of which it has a rate that counts, and by no other."""
    rated = {rate.version for rate in run.rates if rate.value is not None}
    for version in run.plan.request.versions:
        key = keys.run_of_version(run.plan.suite.name, version, run.plan.run_id)
        if version in rated:
            bucket.write(key, b"")
        else:
            bucket.discard(key)
