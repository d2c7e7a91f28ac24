"""The contents of the report of a run, and their writer in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from tidemark.model.numerals import MISSING
from tidemark.model.parameters import described, varied
from tidemark.model.plan import Basis, Estimate, Prices
from tidemark.model.run_spec import beside
from tidemark.model.sentences import listed
from tidemark.money.budget import Spent, counted, passed
from tidemark.money.run_cost import billed_seconds, insights_bytes, run_cost, task_seconds
from tidemark.report import advice, comments, grown_functions
from tidemark.report.advice import advice_on_run
from tidemark.report.blocks import Block, Bullets, Report, Row, Section, Table
from tidemark.report.comparison.publishing import write_comparison
from tidemark.report.files import dump, write_images, write_texts
from tidemark.report.grown_functions import write_functions_of_run
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report import (
    course,
    decisions,
    machines,
    trials,
    versions,
)
from tidemark.report.run_report.decisions import search_path
from tidemark.report.run_report.measured import MeasuredRun, measured_run
from tidemark.report.setup import setup
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.history import record_history
from tidemark.store.run_objects import each_profiled, read_comments
from tidemark.store.stored_run import StoredRun, fold

_MOST_VERSIONS = 5  # as many as the summary names


def report(run: MeasuredRun) -> Report:
    """Return the report of a stored run; the same run gives the same report."""
    return Report(
        title=f"{run.plan.suite.title}: run {run.plan.run_id}",
        summary=tuple(_report_summary(run)),
        sections=tuple(_report_sections(run)),
    )


def _report_summary(run: MeasuredRun) -> Iterator[Block]:
    if run.plan.imported:
        yield from versions.answer(run)
        yield f"{run.plan.suite.title} {listed(run.plan.request.versions)}: {trials.count(run)}"
        return
    search = run.plan.request.bisect
    if search:
        yield from decisions.summary(run, search)
    else:
        yield from versions.answer(run)
    if run.plan.of_unknown_order:
        yield run.plan.of_unknown_order
    if advised := advice.advice_on_run(run):
        yield advised
    yield _what_was_measured(run)
    gave = trials.count(run)
    yield f"{gave[0].upper()}{gave[1:]}"
    if run.plan.request.note:
        yield f"Note: {run.plan.request.note}"


def _what_was_measured(run: MeasuredRun) -> str:
    plan, request = run.plan, run.plan.request
    size = described(request.parameters)
    times = f"{request.repetitions:,} ×"
    if request.until:
        times = request.until_decided
    return (
        f"{plan.suite.title} {_versions(plan.ascending)}, "
        f"each measured {times}{varied(request.axes)}{beside(request)}: "
        f"{' and '.join(test.name for test in plan.suite.tests)}"
        f"{size and f' with {size}'}."
    )


def _versions(names: Sequence[str]) -> str:
    """Return versions in words, many of them by the first and the last."""
    if len(names) <= _MOST_VERSIONS:
        return ", ".join(names)
    return f"{names[0]} to {names[-1]} ({len(names)} versions)"


def _report_sections(run: MeasuredRun) -> Iterator[Section]:
    yield from comments.sections_of_run(run)
    if not run.plan.imported:
        yield versions.results(run)
    if sentences := machines.differences(run.counting()):
        yield Section("The trials did not run alike", (Bullets(tuple(sentences)),))
    yield from versions.steadiness_sections(run)
    yield from machines.level_sections(run)
    yield from machines.work_sections(run)
    if troubles := trials.troubles(run):
        yield Section("Failures and exclusions", (troubles,))
    if run.plan.imported:
        yield Section("Set-up", setup(run))
        return
    if run.plan.profiled:
        troubled = tuple(grown_functions.missing(run.plan, run.profiled))
        told = (*grown_functions.blocks(run.grown), *([Bullets(troubled)] if troubled else []))
        yield Section("Functions", told or ("There are no profiles of two versions to compare.",))
    yield from decisions.sections(run)
    yield from decisions.verdict_sections(run)
    yield from versions.contenders(run)
    yield from versions.sections(run)
    yield from course.sections(run)
    yield Section("Trials", (trials.table(run),), details=True)
    yield Section("Time and cost", _spent(run), details=True)
    yield Section("Set-up", setup(run), details=True)
    yield from trials.artefact_sections(run)
    yield trials.logs(run)


_BASES: Mapping[Basis, str] = {
    "declared times": "the durations of tests in the suite",
    "time limits": "the time limits of the tests, and is an upper bound",
    "most repetitions": "the most repetitions that the run may take, and is an upper bound",
}


def _spent(run: MeasuredRun) -> tuple[Block, ...]:
    """Return the table of time and cost beside the estimate, and sentences that explain them."""
    texts = (_shortage(run), _explanation(run.plan.prices), _expectation(run.plan.estimate))
    return _spent_table(run), *(text for text in texts if text)


def _spent_table(run: MeasuredRun) -> Table:
    trials = run.all_trials
    cost = run_cost(run.plan, trials)
    tasks, queries, total = (cost.tasks, cost.queries, cost.total) if cost else (None, None, None)
    scanned, budget = insights_bytes(trials), run.budget_usd()
    recorded = [
        ("Duration [h:mm:ss]", _duration(run), ""),
        ("Task time", f"{task_seconds(trials):,.1f} s", ""),
        ("Task time that Fargate bills", f"{billed_seconds(trials):,} s", _usd(tasks)),
        ("Log events scanned by queries", MISSING if scanned is None else f"{scanned:,} bytes",
         _usd(queries)),
        ("Total cost", "", _usd(total)),
        ("Budget", "", "none" if budget is None else _usd(budget)),
    ]  # fmt: skip
    numbers = ("Amount", "On AWS [USD]", "Expected", "Expected [USD]")
    both = zip(recorded, _expected(run.plan.estimate), strict=True)
    return Table(
        caption="Time and cost of the run",
        columns=("Item", *numbers),
        rows=tuple(Row((*cells, *expected)) for cells, expected in both),
        numbers=frozenset(numbers),
    )


def _shortage(run: MeasuredRun) -> str | None:
    """Return why trials are missing if the run's budget has no room for the next one."""
    budget = run.budget_usd()
    if budget is None or not run.unrecorded():
        return None
    return passed(counted(Spent(), run.plan, run.all_trials), run.plan, budget)


def _expected(estimate: Estimate | None) -> list[tuple[str, str]]:
    """Return the expected amount and cost for each row of the table."""
    if estimate is None:
        return [(MISSING, ""), ("", ""), (MISSING,) * 2, (MISSING,) * 2, ("", MISSING), ("", "")]
    return [
        (_clock(estimate.seconds), ""),
        ("", ""),
        (f"{estimate.task_seconds:,} s", _usd(estimate.tasks_usd)),
        (f"{estimate.insights_bytes:,} bytes", _usd(estimate.queries_usd)),
        ("", _usd(estimate.measuring_usd)),
        ("", ""),
    ]


def _usd(amount: float | None) -> str:
    if amount is None:
        return MISSING
    return "< 0.0001" if 0 < amount < 0.0001 else f"{amount:,.4f}"


def _explanation(prices: Prices | None) -> str:
    if prices is None:
        return "The run was planned without prices, so its cost is missing."
    return (
        "The cost covers the recorded tasks and log queries on AWS at the list prices of "
        f"{prices.region} of {prices.as_of}: {prices.vcpu_hour} USD for an hour of a vCPU, "
        f"{prices.memory_hour} of 1 GB of memory, {prices.storage_hour} of 1 GB of disk beyond 20, "
        f"{prices.address_hour} of a public address, {prices.scanned_gb} for 1 GB that log queries "
        f"scan ({prices.architecture}, Linux). Fargate bills a task for a minute at least. "
        "A run on one machine costs nothing: its figures are an estimate of the same run on AWS. "
        "Storage and requests to S3 are left out."
    )


def _expectation(estimate: Estimate | None) -> str:
    if estimate is None:
        return "The run was planned without an estimate of its time and cost."
    basis = _BASES[estimate.basis]
    return (
        f"The expected time and cost, on AWS, were estimated before the run from {basis}. The "
        f"estimate also has {_usd(estimate.services_usd)} USD for {estimate.transitions:,} state "
        "transitions, functions, ingested log events and CloudWatch metrics, and "
        f"{_usd(estimate.athena_usd)} USD for each saved query once in Athena "
        f"({estimate.athena_bytes:,} bytes, the least that Athena bills, and requests to S3); "
        "their actual costs are not recorded."
    )


def _duration(run: MeasuredRun) -> str:
    ended = run.ended_at()
    return _clock((ended - run.plan.started_at).total_seconds()) if ended else MISSING


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


def publish_report(bucket: Bucket, run_id: str, *, into_history: bool = True) -> dict[str, str]:
    """Write the report of a run and its comparisons; return the key of each file of the report."""
    return fold(bucket, run_id, lambda run: write_report(bucket, run, into_history=into_history))


def write_report(bucket: Bucket, run: StoredRun, *, into_history: bool = True) -> dict[str, str]:
    """Write the report of a run as it was read; return the key of each of its files.

    The run's comparisons with its baseline, the index of its versions with rates, and the history
    of its suite are written, too, unless the history has the run already.
    """
    profiled = list(each_profiled(bucket, run.plan))
    measured = replace(
        measured_run(run),
        profiled=profiled,
        grown=tuple(write_functions_of_run(bucket, run.plan, profiled)),
        comments=read_comments(bucket, run.plan.run_id),
    )
    # The index comes first: the run can be compared even if the rest fails.
    _index(bucket, measured)
    if into_history:
        record_history(bucket, run)
    suite, run_id = run.plan.suite.name, run.plan.run_id
    write_images(bucket, suite, run_id, measured.comments)
    written = write_texts(bucket, lambda file: keys.report(suite, run_id, file), _files(measured))
    for version in run.plan.compared:
        write_comparison(bucket, (run, run.plan.request.baseline or ""), (run, version))
    return written


def _files(run: MeasuredRun) -> Iterator[tuple[str, str]]:
    """Yield each file of a report with its text."""
    contents = report(run)
    yield "report.html", page(contents)
    advised = advice_on_run(run)
    told = (advised.sentence, advised.text) if advised else ("", "")
    yield "advice.json", json.dumps(dict(zip(("sentence", "command"), told, strict=True)))
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
