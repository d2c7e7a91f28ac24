"""The contents of the report of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.model.axes import varied
from tidemark.model.parameters import described
from tidemark.model.run_spec import beside
from tidemark.model.sentences import listed
from tidemark.report import grown_functions
from tidemark.report.blocks import Block, Bullets, Report, Section
from tidemark.report.run_report import (
    artefacts,
    course,
    decisions,
    search_path,
    task_levels,
    trials,
    undecided,
)
from tidemark.report.run_report import versions as comparison
from tidemark.report.run_report.machines import differences
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.report.run_report.setup import setup
from tidemark.report.run_report.spent import spent

_MOST_VERSIONS = 5  # as many as the summary names


def report(run: MeasuredRun) -> Report:
    """Return the report of a stored run; the same run gives the same report."""
    return Report(
        title=f"{run.plan.suite.title}: run {run.plan.run_id}",
        summary=tuple(_summary(run)),
        sections=tuple(_sections(run)),
    )


def _summary(run: MeasuredRun) -> Iterator[Block]:
    if run.plan.imported:
        yield comparison.in_short(run)
        yield f"{run.plan.suite.title} {listed(run.plan.request.versions)}: {trials.count(run)}"
        return
    search = run.plan.request.bisect
    yield search_path.search_path(run, search).sentence if search else comparison.in_short(run)
    if run.plan.of_unknown_order:
        yield run.plan.of_unknown_order
    if advised := undecided.advice(run):
        yield advised
    yield _measured(run)
    counted = trials.count(run)
    yield f"{counted[0].upper()}{counted[1:]}"
    if run.plan.request.note:
        yield f"Note: {run.plan.request.note}"


def _measured(run: MeasuredRun) -> str:
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


def _versions(versions: Sequence[str]) -> str:
    """Return versions in words, many of them by the first and the last."""
    if len(versions) <= _MOST_VERSIONS:
        return ", ".join(versions)
    return f"{versions[0]} to {versions[-1]} ({len(versions)} versions)"


def _sections(run: MeasuredRun) -> Iterator[Section]:
    if not run.plan.imported:
        yield comparison.results(run)
    if sentences := differences(run.counting()):
        yield Section("The trials did not run alike", (Bullets(tuple(sentences)),))
    yield from task_levels.sections(run)
    if troubles := trials.troubles(run):
        yield Section("Failures and exclusions", (troubles,))
    if run.plan.imported:
        yield Section("Set-up", setup(run))
        return
    if run.plan.profiled:
        troubled = tuple(grown_functions.missing(run.plan, run.profiled))
        told = (*grown_functions.blocks(run.grown), *([Bullets(troubled)] if troubled else []))
        yield Section("Functions", told or ("There are no profiles of two versions to compare.",))
    yield from search_path.sections(run)
    yield from decisions.sections(run)
    yield from comparison.sections(run)
    yield from course.sections(run)
    yield Section("Trials", (trials.table(run),), details=True)
    yield Section("Time and cost", spent(run), details=True)
    yield Section("Set-up", setup(run), details=True)
    yield from artefacts.sections(run)
    yield Section("Logs", (trials.LOGS, trials.logs(run)), details=True)
