"""Writer of reports in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tidemark.report.comparison.forms import write_comparison
from tidemark.report.grown_functions import write_functions_of_run
from tidemark.report.json_form import dump
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.contents import report
from tidemark.report.run_report.measured import MeasuredRun, measured_run
from tidemark.report.run_report.search_path import search_path
from tidemark.report.run_report.undecided import advice
from tidemark.report.run_report.versions import summary
from tidemark.report.text_files import Vega, write_texts
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.history import record_history
from tidemark.store.run_objects import each_profiled
from tidemark.store.stored_run import StoredRun, fold


def publish_report(bucket: Bucket, run_id: str, vega: Vega) -> dict[str, str]:
    """Write the report of a run and its comparisons; return the key of each file of the report."""
    return fold(bucket, run_id, lambda run: write_report(bucket, run, vega))


def write_report(bucket: Bucket, run: StoredRun, vega: Vega) -> dict[str, str]:
    """Write the report of a run as it was read; return the key of each of its files.

    The run's comparisons with its baseline, the index of its versions with rates, and the history
    of its suite are written, too.
    """
    profiled = list(each_profiled(bucket, run.plan))
    measured = replace(
        measured_run(run),
        profiled=profiled,
        grown=tuple(write_functions_of_run(bucket, run.plan, profiled)),
    )
    # The index comes first: the run can be compared even if the rest fails.
    _index(bucket, measured)
    record_history(bucket, run)
    suite, run_id = run.plan.suite.name, run.plan.run_id
    written = write_texts(
        bucket, lambda file: keys.report(suite, run_id, file), _files(measured, vega)
    )
    for version in run.plan.compared:
        write_comparison(bucket, (run, run.plan.request.baseline or ""), (run, version), vega)
    return written


def _files(run: MeasuredRun, vega: Vega) -> Iterator[tuple[str, str]]:
    """Yield each file of a report with its text."""
    contents = report(run)
    yield "report.html", page(contents, vega())
    yield "summary.json", json.dumps(summary(run))
    yield "advice.json", json.dumps({"sentence": advice(run)})
    if run.plan.request.bisect:
        yield "search.json", search_path(run, run.plan.request.bisect).json()
    yield f"report.{keys.BLOCKS}", dump(contents)
    yield "report.md", markdown(contents)


def _index(bucket: Bucket, run: MeasuredRun) -> None:
    """Index a run under each version with a counted rate, and under no other version."""
    rated = {rate.version for rate in run.rates if rate.value is not None}
    for version in run.plan.request.versions:
        key = keys.run_of_version(run.plan.suite.name, version, run.plan.run_id)
        if version in rated:
            bucket.write(key, b"")
        else:
            bucket.discard(key)
