"""Writers of reports and comparisons in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from tidemark.report.comparison.choice import choose_sides
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.pull_request import comment
from tidemark.report.comparison.sides import Sides, sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.contents import report
from tidemark.report.run_report.measured import MeasuredRun, measured_run
from tidemark.report.run_report.versions import summary
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.history import record_history
from tidemark.store.stored_run import StoredRun, fold, read_run

Vega = Callable[[], str]
"""A function that returns the script for the charts of a page."""


def publish_report(bucket: Bucket, run_id: str, vega: Vega) -> dict[str, str]:
    """Write the report of a run and its comparisons; return the key of each file of the report."""
    return fold(bucket, run_id, lambda run: write_report(bucket, run, vega))


def publish_comparison(
    bucket: Bucket, suite: str, base: str, new: str, vega: Vega
) -> dict[str, str]:
    """Write the comparison of two named sides; return the key of each form.

    Raises
    ------
    Refused
        If a side is not stored, or both sides are the same.

    """
    (base_plan, base_version), (plan, version) = choose_sides(bucket, suite, base, new)
    run = read_run(bucket, plan)
    base_run = run if base_plan.run_id == plan.run_id else read_run(bucket, base_plan)
    return _write_comparison(bucket, (base_run, base_version), (run, version), vega)


def write_report(bucket: Bucket, run: StoredRun, vega: Vega) -> dict[str, str]:
    """Write the report of a run as it was read; return the key of each of its files.

    The run's comparisons with its baseline, the index of its versions with rates, and the history
    of its suite are written, too.
    """
    measured = measured_run(run)
    # The index comes first: the run can be compared even if the rest fails.
    _index(bucket, measured)
    record_history(bucket, run)
    suite, run_id = run.plan.suite.name, run.plan.run_id
    written = _write(bucket, lambda file: keys.report(suite, run_id, file), _files(measured, vega))
    for version in run.plan.compared:
        _write_comparison(bucket, (run, run.plan.request.baseline or ""), (run, version), vega)
    return written


def _files(run: MeasuredRun, vega: Vega) -> Iterator[tuple[str, str]]:
    """Yield each file of a report with its text."""
    contents = report(run)
    yield "report.html", page(contents, vega())
    yield "summary.json", json.dumps(summary(run))
    yield "report.md", markdown(contents)


def _write_comparison(
    bucket: Bucket, base: tuple[StoredRun, str], new: tuple[StoredRun, str], vega: Vega
) -> dict[str, str]:
    """Write the comparison of two versions of runs as they were read; return each form's key."""
    suite = new[0].plan.suite.name
    base_key, new_key = ((run.plan.run_id, version) for run, version in (base, new))
    return _write(
        bucket,
        lambda form: keys.comparison(suite, base_key, new_key, form),
        _forms(sides(base, new), vega),
    )


def _forms(both: Sides, vega: Vega) -> Iterator[tuple[str, str]]:
    """Yield each form of a comparison with its text."""
    contents = comparison(both)
    yield "html", page(contents, vega())
    yield "json", document(both).model_dump_json(indent=2) + "\n"
    yield "md", comment(contents)


def _write(
    bucket: Bucket, key: Callable[[str], str], texts: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Write texts one after the other, Markdown last; return the key of each.

    A page may be large, so no two texts are in memory at once. An outcome names a report by its
    Markdown, which is there only if the rest is.
    """
    written = {}
    for name, text in texts:
        written[name] = key(name)
        bucket.write(written[name], text.encode())
    return written


def _index(bucket: Bucket, run: MeasuredRun) -> None:
    """Index a run under each version with a counted rate, and under no other version."""
    rated = {rate.version for rate in run.rates if rate.value is not None}
    for version in run.plan.request.versions:
        key = keys.run_of_version(run.plan.suite.name, version, run.plan.run_id)
        if version in rated:
            bucket.write(key, b"")
        else:
            bucket.discard(key)
