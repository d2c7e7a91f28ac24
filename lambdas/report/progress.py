"""The work that a test had done, second by second, each trial from its beginning."""

from __future__ import annotations

from collections.abc import Sequence

from lambdas.report.blocks import Chart, Table
from lambdas.report.lines import Group, Line, Points, by_trial, lines
from lambdas.results import Sample, TestResult
from suites.numerals import percent

_SHARES = (0.25, 0.5, 0.75, 1.0)


def progress(test: str, groups: Sequence[Group]) -> Chart | str:
    """Return the progress of a test; a sentence if nothing was logged of it.

    Its steps are the samples: each is a piece of work that a task had finished when it logged it.
    """
    results = [
        (group.name, trial.trial, result)
        for group in groups
        for trial, result in group.results
        if _samples(result) and result.begun_at
    ]
    if not results:
        return f"Nothing was logged of the progress of {test}."
    by_records = all(
        sample.records is not None for _, _, result in results for sample in _samples(result)
    )
    work = "records" if by_records else "jobs"
    drawn = [
        Line(name, trial, course(result, by_records=by_records)) for name, trial, result in results
    ]
    return lines(
        f"Progress of {test}: {work} that the tasks of a trial had finished, since the first of "
        "them started. The time axis is as long as the longest trial.",
        groups,
        drawn,
        f"{work} finished",
        _table(test, work, drawn),
        steps=True,
    )


def course(result: TestResult, *, by_records: bool) -> Points:
    """Return the seconds since a test's first task started, and the work done by then.

    Work is counted in records, or in pieces of it.
    """
    done = 0.0
    points = [(0.0, 0.0)]
    logged = sorted(_samples(result), key=lambda sample: sample.logged_at)
    for sample, second in zip(logged, result.seconds(logged), strict=True):
        done += (sample.records or 0) if by_records else 1
        points.append((max(0.0, second or 0.0), done))
    return points


def _samples(result: TestResult) -> list[Sample]:
    """Return the samples of a test's first metric: of others each piece of work has more."""
    first = next((sample.metric for sample in result.samples), None)
    return [sample for sample in result.samples if sample.metric == first]


def _table(test: str, work: str, drawn: Sequence[Line]) -> Table:
    times = tuple(f"{percent(share, places=0)} done [s]" for share in _SHARES)
    total = f"{work.capitalize()} finished"
    return by_trial(
        f"When a trial of {test} had finished a share of what it finished in all",
        (*times, total),
        drawn,
        lambda points: (
            *(f"{_when(points, share):,.1f}" for share in _SHARES),
            f"{points[-1][1]:,.0f}",
        ),
    )


def _when(points: Points, share: float) -> float:
    """Return the first second at which a share of all work was done."""
    wanted = share * points[-1][1]
    return next(second for second, done in points if done >= wanted)
