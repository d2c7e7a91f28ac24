"""Drifts of rates from trial to trial, which show that something else changed meanwhile."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from tidemark.figures.verdicts.methods import quantile
from tidemark.model.numerals import decimal, percent
from tidemark.report.comparison.sides import Reading, Sides

# Fewer points often lie on a straight line by chance.
_FEWEST = 5
# A smaller drift neither hides nor feigns a change that matters.
_SLIGHT = 0.01

Points = list[tuple[int, float]]


def drift(sides: Sides) -> Iterator[str]:
    """Yield a sentence for each metric that drifts over the trials of a run.

    A metric drifts if its trials, each as a share of its version's mean, correlate with their
    order (Pearson, two-sided 95 %) and move by 1 % or more. Both versions of one run are tested
    together, because they took turns.
    """
    for pair in sides.pairs():
        each = [
            ([_shares(reading)], f"the trials of {side.name}")
            for reading, side in sides.readings(pair)
            if reading
        ]
        if sides.in_one_run and len(each) == 2:
            each = [(each[0][0] + each[1][0], "the trials of both")]
        for versions, label in each:
            if trend := _trend(versions):
                yield f"{pair.name} {trend} over {label}, in the order in which they ran."


def _shares(reading: Reading) -> Points:
    mean = reading.rate.value
    if not mean:
        return []
    return [
        (measurement.trial.trial, measurement.counted / mean)
        for measurement in reading.measurements
        if measurement.counted is not None
    ]


def _trend(versions: Sequence[Points]) -> str:
    """Return the rise or fall of the points in words, '' if it is small or may be chance.

    The ends are the ends of the straight line through the points (least squares).
    """
    points = sorted(point for version in versions for point in version)
    shares = [share for _, share in points]
    if len(points) < _FEWEST or min(shares) == max(shares):
        return ""
    order = [trial for trial, _ in points]
    r = statistics.correlation(order, shares)
    # Each version's mean takes a degree of freedom, and the slope takes another.
    freedom = len(points) - 1 - sum(map(bool, versions))
    if abs(r) < 1 and abs(r) * math.sqrt(freedom / (1 - r * r)) <= quantile(0.05, freedom):
        return ""
    slope, intercept = statistics.linear_regression(order, shares)
    start, end = (intercept + slope * trial for trial in (order[0], order[-1]))
    if abs(end - start) < _SLIGHT:
        return ""
    moves = "rises" if end > start else "falls"
    return f"{moves} from {percent(start)} to {percent(end)} of its mean (r = {decimal(r, 2)})"
