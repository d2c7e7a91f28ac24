"""The progress of a test over time, aligned at the start of each trial."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.model.numerals import percent
from tidemark.model.results import Sample, TestResult
from tidemark.report.blocks import Chart, Table
from tidemark.report.line_chart import Group, Line, Points, by_trial, lines

_SHARES = (0.25, 0.5, 0.75, 1.0)


def progress(test: str, groups: Sequence[Group]) -> Chart | str:
    """Return the chart of a test's progress, or a sentence if there is none.

    The steps are the samples: each is a piece of work, finished when it was logged.
    """
    results = [
        (group.name, trial.trial, result)
        for group in groups
        for trial, result in group.results
        if _samples(result) and result.begun_at
    ]
    if not results:
        return f"There is no progress of {test} to draw."
    by_records = all(
        sample.records is not None for _, _, result in results for sample in _samples(result)
    )
    work = "records" if by_records else "jobs"
    series = [
        Line(name, trial, course(result, by_records=by_records)) for name, trial, result in results
    ]
    return lines(
        f"Progress of {test}: {work} that the tasks of a trial had finished, by the time since the "
        "first task started. The time axis is as long as the longest trial.",
        groups,
        series,
        f"{work} finished",
        _table(test, work, series),
        steps=True,
    )


def course(result: TestResult, *, by_records: bool) -> Points:
    """Return the seconds since the start of a test's first task, with the work done by then.

    Work is counted in records, or in jobs.
    """
    done = 0.0
    points = [(0.0, 0.0)]
    logged = sorted(_samples(result), key=lambda sample: sample.logged_at)
    seconds = result.seconds(sample.logged_at for sample in logged)
    for sample, second in zip(logged, seconds, strict=True):
        done += (sample.records or 0) if by_records else 1
        points.append((max(0.0, second or 0.0), done))
    return points


def _samples(result: TestResult) -> list[Sample]:
    """Return the samples of a test's first metric, one for each piece of work."""
    first = next((sample.metric for sample in result.samples), None)
    return [sample for sample in result.samples if sample.metric == first]


def _table(test: str, work: str, series: Sequence[Line]) -> Table:
    times = tuple(f"{percent(share, places=0)} done [s]" for share in _SHARES)
    total = f"{work.capitalize()} finished"
    return by_trial(
        f"Time at which a trial of {test} had finished a share of its work",
        (*times, total),
        series,
        lambda points: (
            *(f"{_when(points, share):,.1f}" for share in _SHARES),
            f"{points[-1][1]:,.0f}",
        ),
    )


def _when(points: Points, share: float) -> float:
    """Return the first second at which a share of all work was done."""
    wanted = share * points[-1][1]
    return next(second for second, done in points if done >= wanted)
