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
# A drift of less hides no change that matters, and feigns none.
_SLIGHT = 0.01

Points = list[tuple[int, float]]


def drift(sides: Sides) -> Iterator[str]:
    """Yield a sentence for each metric that drifts over the trials of a run.

    That is one whose trials, each as a share of its version's mean, correlate with their order
    (Pearson, two-sided 95 %) and move by 1 % or more. Both versions of one run are looked at
    together: they took turns.
    """
    for pair in sides.pairs():
        each = [
            ([_shares(reading)], f"the trials of {side.name}")
            for reading, side in sides.readings(pair)
            if reading
        ]
        if sides.in_one_run and len(each) == 2:
            each = [(each[0][0] + each[1][0], "the trials of both")]
        for versions, whose in each:
            if said := _drifts(versions):
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


def _drifts(versions: Sequence[Points]) -> str:
    """Return between what the points rise or fall, '' if chance may have put them so, or by little.

    The ends are those of the straight line through the points (least squares).
    """
    points = sorted(point for version in versions for point in version)
    shares = [share for _, share in points]
    if len(points) < _FEWEST or min(shares) == max(shares):
        return ""
    order = [trial for trial, _ in points]
    r = statistics.correlation(order, shares)
    # Each version's mean was taken from the points before the slope was.
    freedom = len(points) - 1 - sum(map(bool, versions))
    if abs(r) < 1 and abs(r) * math.sqrt(freedom / (1 - r * r)) <= student(freedom):
        return ""
    slope, intercept = statistics.linear_regression(order, shares)
    start, end = (intercept + slope * trial for trial in (order[0], order[-1]))
    if abs(end - start) < _SLIGHT:
        return ""
    moves = "rises" if end > start else "falls"
    return f"{moves} from {percent(start)} to {percent(end)} of its mean (r = {decimal(r, 2)})"
