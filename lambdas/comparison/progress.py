"""The work that a test had done, second by second, both sides from its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lambdas.comparison.sides import Side, Sides
from lambdas.report.blocks import Chart, Row, Table
from lambdas.report.lines import Line, lines
from lambdas.results import Sample, TestResult

_SHARES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class _Course:
    """How one trial went on in one test."""

    side: str
    trial: int
    points: Sequence[tuple[float, float]]
    """Seconds since its first task started, and the work done by then."""


def progress(sides: Sides, test: str) -> Chart | str:
    """Return the progress of a test on both sides; a sentence if nothing was logged of it.

    Its steps are the samples: each is a piece of work that a task had finished when it logged it.
    """
    found = {side.name: _results(side, test) for side in sides.both}
    samples = [s for results in found.values() for _, result in results for s in _of(result)]
    if not samples:
        return f"Nothing was logged of the progress of {test}."
    by_records = all(sample.records is not None for sample in samples)
    courses = [
        _Course(name, trial, course(result, by_records=by_records))
        for name, results in found.items()
        for trial, result in results
        if _of(result)
    ]
    work = "records" if by_records else "jobs"
    missing = [name for name, results in found.items() if not results]
    caption = (
        f"Progress of {test}: {work} that all tasks of a trial had finished, from the start of its "
        "first task to its last finished piece of work; the time axis is as long as the longest "
        "trial."
    )
    if missing:
        caption += f" Not measured: {', '.join(missing)}."
    return lines(
        caption,
        [side.name for side in sides.both],
        [Line(f"trial {one.trial} of {one.side}", one.side, one.points) for one in courses],
        f"{work} finished",
        _table(test, work, courses),
    )


def course(result: TestResult, *, by_records: bool) -> list[tuple[float, float]]:
    """Return the seconds since a test's first task started, and the work done by then.

    Work is counted in records, or in pieces of it.
    """
    begun = _begun(result)
    done = 0.0
    points = [(0.0, 0.0)]
    for sample in sorted(_of(result), key=lambda sample: sample.logged_at):
        done += (sample.records or 0) if by_records else 1
        points.append((max(0.0, (_logged(sample) - begun).total_seconds()), done))
    return points


def _results(side: Side, test: str) -> list[tuple[int, TestResult]]:
    return [
        (trial.trial, result)
        for trial in side.run.trials
        if not side.run.is_excluded(trial)
        for result in trial.tests
        if result.test == test
    ]


def _of(result: TestResult) -> list[Sample]:
    """Return the samples of a test's first metric: of others each piece of work has more."""
    first = next((sample.metric for sample in result.samples), None)
    return [sample for sample in result.samples if sample.metric == first]


def _begun(result: TestResult) -> datetime:
    starts = [task.started_at for task in result.tasks if task.started_at]
    return min(starts) if starts else min(map(_logged, _of(result)))


def _logged(sample: Sample) -> datetime:
    return datetime.fromisoformat(sample.logged_at).replace(tzinfo=UTC)


def _table(test: str, work: str, courses: Sequence[_Course]) -> Table:
    times = tuple(f"{share:.0%} done [s]" for share in _SHARES)
    total = f"{work.capitalize()} finished"
    return Table(
        caption=f"When a trial of {test} had finished a share of what it finished in all",
        columns=("Version", "Trial", *times, total),
        rows=tuple(
            Row(
                (
                    one.side,
                    str(one.trial),
                    *(f"{_when(one.points, share):,.1f}" for share in _SHARES),
                    f"{one.points[-1][1]:,.0f}",
                )
            )
            for one in courses
        ),
        numbers=frozenset({*times, total}),
    )


def _when(points: Sequence[tuple[float, float]], share: float) -> float:
    """Return the first second at which a share of all work was done."""
    wanted = share * points[-1][1]
    return next(second for second, done in points if done >= wanted)
