"""Change points: the places in a history where the level of a metric changed for good.

docs/verdicts.md has how often they are right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from tidemark.figures.history.robust import (
    autocorrelation,
    clipped,
    running_median,
    scatter,
    winsorised,
)

FEWEST = 16
"""The fewest points of a history that may have a change: a segment on either side."""
SHORTEST = 8
"""The fewest points of a level."""
_SPIKES, _SPIKE_WIDTH = 9, 3.0
_LEVELS, _MOST_CORRELATION = 15, 0.8
_PENALTY = 8.0
# Points on either side of a change that show how certain and how large the change is.
_NEAR = 50
_TAILS = 0.05
_LEAST_T, _LEAST_STEP, _LEAST_SEGMENT = 8.0, 1.5, 6
# The likelihood ratio of the places of a change, 95 % (Hansen 2000, doi:10.1111/1468-0262.00124).
_MOST_UNLIKELY = 7.35
# Boundaries lie 8 points from the end or more, so the last one may be some points too early.
_MOST_MOVED = _LEAST_SEGMENT // 2


@dataclass(frozen=True)
class ChangePoint:
    """One change of level."""

    index: int
    """The index of the first point on the new level."""
    before: float
    after: float
    """The medians of the points near the change, on either side."""
    t: float
    """The certainty: Welch's t of the points near the change."""
    earliest: int
    latest: int
    """The first and the last index at which the level may have changed instead, with 95 %."""


class Points(NamedTuple):
    """The changes of level of a history, in order."""

    told: list[ChangePoint]
    doubted: list[ChangePoint]
    """Those that the points near them do not confirm: they are too uncertain or too small."""


def change_points(values: Sequence[float]) -> list[ChangePoint]:
    """Return the changes of level of a history, in order; none in a history that is too short."""
    return judged_points(values).told


def judged_points(values: Sequence[float]) -> Points:
    """Return the changes of level of a history, and those that are doubted."""
    if len(values) < FEWEST or min(values) == max(values):
        return Points([], [])
    # The squares of numbers near the largest and the least double are none; a power of two leaves
    # every digit as it is.
    exponent = math.frexp(max(map(abs, values)))[1]
    scaled = _scaled_points([math.ldexp(value, -exponent) for value in values])
    return Points(
        *(
            [
                replace(
                    point,
                    before=math.ldexp(point.before, exponent),
                    after=math.ldexp(point.after, exponent),
                )
                for point in points
            ]
            for points in scaled
        )
    )


def _scaled_points(values: Sequence[float]) -> Points:
    found, doubted = boundaries(*_prepared(values), SHORTEST), list[ChangePoint]()
    while found:
        places = _places(found, len(values))
        points = [_change_point(values, *place) for place in places]
        weak = [point for point in points if not _stands(point, values, found)]
        if not weak:
            told = [
                _placed(point, values, start, end)
                for point, (start, _, end) in zip(points, places, strict=True)
            ]
            return Points(told, sorted(doubted, key=lambda point: point.index))
        doubted.append(min(weak, key=lambda point: point.t))
        found.remove(doubted[-1].index)
    return Points([], sorted(doubted, key=lambda point: point.index))


def _prepared(values: Sequence[float]) -> tuple[list[float], float]:
    """Return a series without spikes, in standard deviations, and the penalty of a boundary.

    Values that resemble the value before them have fewer independent points.
    """
    without = clipped(values, _SPIKES, _SPIKE_WIDTH)
    unit = scatter(without) or 1.0
    series = [value / unit for value in without]
    rest = [
        value - level for value, level in zip(series, running_median(series, _LEVELS), strict=True)
    ]
    correlation = min(max(0.0, autocorrelation(rest)), _MOST_CORRELATION)
    return series, _PENALTY * math.log(len(values)) * (1 + correlation) / (1 - correlation)


def _places(found: Sequence[int], count: int) -> list[tuple[int, int, int]]:
    """Return the start, the boundary and the end of the segments at each boundary."""
    edges = [0, *found, count]
    return list(zip(edges, found, edges[2:], strict=False))


def _change_point(values: Sequence[float], start: int, index: int, end: int) -> ChangePoint:
    before, after = _near(values, start, index, end)
    both = [winsorised(side, _TAILS) for side in (before, after)]
    apart = abs(statistics.mean(both[1]) - statistics.mean(both[0]))
    error = math.sqrt(sum(statistics.variance(side) / len(side) for side in both))
    t = apart / error if error else math.inf if apart else 0.0
    levels = statistics.median(before), statistics.median(after)
    return ChangePoint(index, *levels, t, index, index)


def _placed(point: ChangePoint, values: Sequence[float], start: int, end: int) -> ChangePoint:
    """Return a change with its likeliest place, and those that are nearly as likely."""
    near = _near(values, start, point.index, end)
    variance = statistics.mean(statistics.variance(winsorised(side, _TAILS)) for side in near)
    first, last = max(start + 1, point.index - _MOST_MOVED), min(end, point.index + _MOST_MOVED)
    places = _likely_places(values[first:last], point.before, point.after, variance)
    earliest, index, latest = (first + place for place in places)
    return replace(point, index=index, earliest=earliest, latest=latest)


def _likely_places(
    values: Sequence[float], before: float, after: float, variance: float
) -> tuple[int, int, int]:
    """Return the earliest, the likeliest and the latest place of a change between two levels.

    A place is the number of values before the change.
    """
    costs = [0.0, *accumulate((value - before) ** 2 - (value - after) ** 2 for value in values)]
    best = earliest = latest = costs.index(min(costs))
    most = costs[best] + _MOST_UNLIKELY * variance
    while earliest > 0 and costs[earliest - 1] <= most:
        earliest -= 1
    while latest < len(values) and costs[latest + 1] <= most:
        latest += 1
    return earliest, best, latest


def _stands(point: ChangePoint, values: Sequence[float], found: Sequence[int]) -> bool:
    place = next(place for place in _places(found, len(values)) if place[1] == point.index)
    start, index, end = place
    sides = [winsorised(side, _TAILS) for side in _near(values, *place)]
    local = math.sqrt(statistics.mean(statistics.variance(side) for side in sides))
    return (
        point.t >= _LEAST_T
        and abs(point.after - point.before) >= _LEAST_STEP * local
        and min(index - start, end - index) >= _LEAST_SEGMENT
    )


def _near(
    values: Sequence[float], start: int, index: int, end: int
) -> tuple[Sequence[float], Sequence[float]]:
    return values[max(start, index - _NEAR) : index], values[index : min(end, index + _NEAR)]


def boundaries(values: Sequence[float], penalty: float, shortest: int) -> list[int]:
    """Return the first index of each segment but the first, at the least cost.

    The cost is the squared error around each segment's mean, and ``penalty`` for each boundary.
    Source: Killick, Fearnhead & Eckley, Journal of the American Statistical Association 107 (2012).
    """
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]

    def error(start: int, end: int) -> float:
        total = sums[end] - sums[start]
        return squares[end] - squares[start] - total * total / (end - start)

    least, last = [-penalty], [0]
    candidates: list[int] = []
    for end in range(1, len(values) + 1):
        if end < shortest:
            least.append(float("inf"))
            last.append(0)
            continue
        candidates.append(end - shortest)
        costs = [least[start] + error(start, end) for start in candidates]
        best = min(range(len(costs)), key=costs.__getitem__)
        least.append(costs[best] + penalty)
        last.append(candidates[best])
        # A start that already costs more than the best division can never be the best again.
        candidates = [
            start for start, cost in zip(candidates, costs, strict=True) if cost <= least[-1]
        ]
    return _followed(last)


def _followed(last: Sequence[int]) -> list[int]:
    found: list[int] = []
    start = last[-1]
    while start:
        found.append(start)
        start = last[start]
    return found[::-1]
