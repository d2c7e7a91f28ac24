"""What the report of a run says, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from lambdas.report import comparison, course, trials
from lambdas.report.blocks import Block, Bullets, Report, Section
from lambdas.report.machines import differences
from lambdas.report.measured import MeasuredRun
from lambdas.report.setup import setup
from lambdas.report.spent import spent
from suites.versions import version_order


def report(run: MeasuredRun) -> Report:
    """Return the report of a run as it is stored: the same run gives the same report."""
    return Report(
        title=f"{run.plan.suite.title}: run {run.plan.run_id}",
        summary=tuple(_summary(run)),
        sections=tuple(_sections(run)),
    )


def _summary(run: MeasuredRun) -> Iterator[Block]:
    yield _measured(run)
    yield trials.count(run)
    if run.plan.request.note:
        yield f"Note: {run.plan.request.note}"
    yield comparison.in_short(run)
    yield comparison.explanation(run)


def _measured(run: MeasuredRun) -> str:
    plan, request = run.plan, run.plan.request
    return (
        f"{plan.suite.title} {', '.join(sorted(request.versions, key=version_order))}, "
        f"each measured {request.repetitions:,} ×: "
        f"{' and '.join(test.name for test in plan.suite.tests)} of "
        f"{request.tasks:,} × {request.records:,} records."
    )


def _sections(run: MeasuredRun) -> Iterator[Section]:
    if changed := differences(run.counting()):
        yield Section("The trials did not run alike", (Bullets(tuple(changed)),))
    if troubles := trials.troubles(run):
        yield Section("What failed or is left out", (troubles,))
    yield from comparison.sections(run)
    yield from course.sections(run)
    yield Section("Trials", (trials.table(run),))
    yield Section("Time and cost", spent(run))
    yield Section("Set-up", setup(run))
    yield Section("Logs", (trials.LOGS, trials.logs(run)))
