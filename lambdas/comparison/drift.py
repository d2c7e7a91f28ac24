"""Rates that go one way from trial to trial: something else changed while they were measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from lambdas.comparison.sides import Reading, Sides
from lambdas.report.figures import percent
from lambdas.verdict import student
from suites.numerals import decimal

# With fewer a straight line is no surprise.
_FEWEST = 5

Points = list[tuple[int, float]]


def drift(sides: Sides) -> Iterator[str]:
    """Yield a sentence for each metric that drifts over the trials of a run.

    That is one whose trials, each as a share of its version's mean, correlate with their order
    (Pearson, two-sided 95 %). Both versions of one run are looked at together: they took turns.
    """
    for pair in sides.pairs():
        each = [
            (_shares(reading), f"the trials of {side.name}")
            for reading, side in sides.readings(pair)
            if reading
        ]
        if sides.in_one_run and len(each) == 2:
            each = [(sorted(each[0][0] + each[1][0]), "the trials of both")]
        for points, whose in each:
            if said := _drifts(points):
                yield f"{pair.name} {said} over {whose}, in the order in which they ran."


def _shares(reading: Reading) -> Points:
    mean = reading.rate.value
    if not mean:
        return []
    return [
        (one.trial.trial, one.counted / mean)
        for one in reading.measurements
        if one.counted is not None
    ]


def _drifts(points: Sequence[tuple[int, float]]) -> str:
    """Return how much the points rise or fall, '' if chance may have put them so."""
    shares = [share for _, share in points]
    if len(points) < _FEWEST or min(shares) == max(shares):
        return ""
    order = [trial for trial, _ in points]
    r = statistics.correlation(order, shares)
    freedom = len(points) - 2
    if abs(r) < 1 and abs(r) * math.sqrt(freedom / (1 - r * r)) <= student(freedom):
        return ""
    slope, _ = statistics.linear_regression(order, shares)
    moved = slope * (order[-1] - order[0])
    return f"{'rises' if moved > 0 else 'falls'} by {percent(abs(moved))} (r = {decimal(r, 2)})"
