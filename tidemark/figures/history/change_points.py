"""Change points: the places in a history where the level of a metric changed.

A level may be as short as three points. docs/history.md has how often the changes are right.
"""

from __future__ import annotations

import math
import statistics
import struct
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

SHORTEST, LASTING = 3, 8
"""The fewest points of a new level, and of one that lasts."""
FEWEST = 2 * SHORTEST
"""The fewest points of a history that may have a change: a level on either side."""
_SPIKES, _SPIKE_WIDTH = 5, 4.0
_LEVELS, _MOST_CORRELATION, _RESIDUALS = 15, 0.8, 2 * 1.4826
# The running median takes some of the correlation away with the levels.
_DETRENDED = 1.15
_PENALTY = 12.0
# The points on either side of a change that show how certain and how large it is.
_NEAR, _TAILS = 20, 0.1
LEAST_T = 5.62
"""Welch's t of a change."""
_LEAST_STEP, _LEAST_DOMINANCE = 1.25, 0.7
_LEAST_CHANGE = math.log(1.01)
_MOST_MOVED, _MOVED_NEAR = 3, 50
# The points of a window, and of its penalty: a history has several windows.
_WINDOW, _LONG = 128, 300
_LARGEST = math.log(sys.float_info.max)
# The likelihood ratio of the places of a change, 95 % (Hansen 2000, doi:10.1111/1468-0262.00124).
_MOST_UNLIKELY = 7.35


@dataclass(frozen=True)
class ChangePoint:
    """One change of level."""

    index: int
    """The index of the first point on the new level."""
    before: float
    after: float
    """The medians of the points near the change, on either side."""
    lasts: bool
    """Whether eight points confirm the level on either side."""
    earliest: int
    latest: int
    """The first and the last index at which the level may have changed instead, with 95 %."""


class Scaled(NamedTuple):
    """A history on a scale in which steps are differences: logarithms, if all are positive."""

    values: Sequence[float]
    exponent: int | None
    """The power of two that the values are divided by, None for logarithms."""

    @property
    def is_log(self) -> bool:
        """Whether the values are logarithms, so that differences are shares."""
        return self.exponent is None

    def place(self, value: float) -> float:
        """Return a value of the history on the scale."""
        return math.log(value) if self.exponent is None else math.ldexp(value, -self.exponent)

    def restored(self, place: float) -> float:
        """Return a place on the scale as a value of the history."""
        if self.exponent is None:
            return math.exp(min(place, _LARGEST))
        return math.ldexp(place, self.exponent)

    def until(self, end: int) -> Scaled:
        """Return the history up to an index."""
        return self._replace(values=self.values[:end])


Windows = MutableMapping[str, list[ChangePoint]]
"""The changes of windows of histories, by a digest of their points."""


def change_points(values: Sequence[float], known: Windows | None = None) -> list[ChangePoint]:
    """Return the changes of level of a history, in order; none in a history that is too short.

    A long history is searched in windows that overlap by half, and a window that is complete never
    changes: those that are ``known`` are not searched again, and the others are added there.
    """
    if len(values) <= _WINDOW:
        return _changes_within(values, len(values))
    found = list[ChangePoint]()
    stride = _WINDOW // 2
    for start in range(0, len(values) - stride, stride):
        window = values[start : start + _WINDOW]
        first = start + stride // 2 if start else 0
        last = start + 3 * stride // 2 if start + _WINDOW < len(values) else len(values)
        for point in _changes_of_window(window, known):
            index = start + point.index
            if first <= index < last and all(index - _MOST_MOVED > each.index for each in found):
                earliest, latest = start + point.earliest, start + point.latest
                found.append(replace(point, index=index, earliest=earliest, latest=latest))
    return found


def _changes_of_window(values: Sequence[float], known: Windows | None) -> list[ChangePoint]:
    if known is None or len(values) < _WINDOW:
        return _changes_within(values, _LONG)
    digest = blake2b(struct.pack(f"{_WINDOW}d", *values), digest_size=12).hexdigest()
    if digest not in known:
        known[digest] = _changes_within(values, _LONG)
    return known[digest]


def _changes_within(values: Sequence[float], count: int) -> list[ChangePoint]:
    """Return the changes of a history that is searched at once, with the penalty of ``count``."""
    if len(values) < FEWEST or min(values) == max(values):
        return []
    scaled = scaled_values(values)
    divided = _divided(scaled.values, SHORTEST, count)
    if not divided:
        return []
    new, lasting = (
        _moved(scaled, _pruned(scaled.values, found, shortest))
        for found, shortest in (
            (divided, SHORTEST),
            (_divided(scaled.values, LASTING, count), LASTING),
        )
    )
    return list(_points(values, scaled, new, lasting))


def scaled_values(values: Sequence[float]) -> Scaled:
    """Return a history of one value or more on a scale in which steps are differences."""
    if min(values) > 0:
        return Scaled([math.log(value) for value in values], None)
    # The squares of numbers near the largest double are none; a power of two leaves each digit.
    exponent = math.frexp(max(map(abs, values)))[1]
    return Scaled([math.ldexp(value, -exponent) for value in values], exponent)


def _divided(values: Sequence[float], shortest: int, count: int) -> list[int]:
    """Return the first index of each segment but the first.

    Each segment is divided anew with its own scatter, so that nothing else masks its changes.
    """
    if len(values) < FEWEST or min(values) == max(values):
        return []
    edges = [0, *boundaries(*_prepared(values, count), shortest), len(values)]
    if len(edges) == 2:
        return []
    within = (
        [start + index for index in _divided(values[start:end], shortest, end - start)]
        for start, end in pairwise(edges)
    )
    return sorted([*edges[1:-1], *chain.from_iterable(within)])


def _prepared(values: Sequence[float], count: int) -> tuple[list[float], float]:
    """Return a series without spikes, in standard deviations, and the penalty of a boundary.

    The penalty is right for a history of ``count`` points. Values that resemble the value before
    them have fewer independent points.
    """
    without = clipped(values, _SPIKES, _SPIKE_WIDTH)
    unit = _scatter(without) or 1.0
    middle = statistics.median(without)
    series = [(value - middle) / unit for value in without]
    rest = around_levels(series)
    middle = statistics.median(rest)
    rest = [value - middle for value in rest]
    # A change leaves large residuals beside it, which resemble each other.
    most = _RESIDUALS * statistics.median(map(abs, rest))
    rest = [min(max(value, -most), most) for value in rest]
    correlation = min(max(0.0, _DETRENDED * _autocorrelation(rest)), _MOST_CORRELATION)
    return series, _PENALTY * math.log(count) * (1 + correlation) / (1 - correlation)


def boundaries(values: Sequence[float], penalty: float, shortest: int) -> list[int]:
    """Return the first index of each segment but the first.

    Each boundary lessens the squared error around the segments' means by ``penalty`` at least. The
    search asks for half of it: a short hump has two boundaries, which share what they save.
    Source: Killick, Fearnhead & Eckley, Journal of the American Statistical Association 107 (2012).
    """
    sums = [0.0, *accumulate(values)]
    # The error of a segment is its sum of squares less total² / length, and the squares of all
    # segments add up to the same for all divisions: the costs leave them out.
    half = penalty / 2
    least, last = [-half] + [math.inf] * (shortest - 1), [0] * shortest
    candidates: list[int] = []
    for end in range(shortest, len(values) + 1):
        candidates.append(end - shortest)
        total = sums[end]
        costs = [least[start] - (total - sums[start]) ** 2 / (end - start) for start in candidates]
        most = min(costs) + half
        least.append(most)
        last.append(candidates[costs.index(min(costs))])
        # A start that costs more than the best division and a boundary is never the best again.
        candidates = [start for start, cost in zip(candidates, costs, strict=True) if cost <= most]
    return _paid(sums, _followed(last), penalty)


def _followed(last: Sequence[int]) -> list[int]:
    found: list[int] = []
    start = last[-1]
    while start:
        found.append(start)
        start = last[start]
    return found[::-1]


def _paid(sums: Sequence[float], found: list[int], penalty: float) -> list[int]:
    """Return the boundaries that save a penalty each, the least of the others deleted first."""
    while found:
        places = _places(found, len(sums) - 1)
        saved = [_saved(sums, *place) for place in places]
        if min(saved) >= penalty:
            break
        del found[saved.index(min(saved))]
    return found


def _saved(sums: Sequence[float], start: int, index: int, end: int) -> float:
    """Return by how much a boundary lessens the squared error of a segment."""
    left = (sums[index] - sums[start]) / (index - start)
    right = (sums[end] - sums[index]) / (end - index)
    return (right - left) ** 2 * (index - start) * (end - index) / (end - start)


def _pruned(values: Sequence[float], found: Sequence[int], shortest: int) -> list[int]:
    """Return the boundaries that the points near them confirm, the weakest deleted one by one."""
    edges = [0, *found, len(values)]
    weights = [_weight(values, edges, place, shortest) for place in range(1, len(edges) - 1)]
    while weights and min(weights) < 1:
        weakest = weights.index(min(weights))
        del edges[weakest + 1], weights[weakest]
        for place in range(max(0, weakest - 1), min(len(weights), weakest + 1)):
            weights[place] = _weight(values, edges, place + 1, shortest)
    return edges[1:-1]


def _weight(values: Sequence[float], edges: Sequence[int], place: int, shortest: int) -> float:
    """Return how clear a boundary is; a boundary below 1 is none."""
    start, index, end = edges[place - 1 : place + 2]
    before, after = _near(values, start, index, end, _NEAR)
    least = min(index - start, end - index) / shortest
    both = [_winsorised(side, _TAILS) for side in (before, after)]
    variances = list(map(_variance, both))
    apart = abs(statistics.fmean(both[1]) - statistics.fmean(both[0]))
    error = math.sqrt(sum(v / len(side) for v, side in zip(variances, both, strict=True)))
    t = _ratio(apart, error)
    step = _ratio(
        abs(statistics.median(after) - statistics.median(before)),
        math.sqrt(sum(variances) / 2),
    )
    return min(t / LEAST_T, step / _LEAST_STEP, _dominance(before, after) / _LEAST_DOMINANCE, least)


def _ratio(apart: float, error: float) -> float:
    return apart / error if error else math.inf if apart else 0.0


def _dominance(before: Sequence[float], after: Sequence[float]) -> float:
    """Return |2 P(after > before) − 1| over all pairs, ties counting half."""
    ascending = sorted(before)
    above = sum(bisect_left(ascending, value) + bisect_right(ascending, value) for value in after)
    return abs(above / (len(before) * len(after)) - 1)


def _near(
    values: Sequence[float], start: int, index: int, end: int, most: int
) -> tuple[Sequence[float], Sequence[float]]:
    return values[max(start, index - most) : index], values[index : min(end, index + most)]


def _moved(scaled: Scaled, found: Sequence[int]) -> list[int]:
    """Return boundaries at their likeliest places, without boundaries of too small a step."""
    values, moved = scaled.values, list[int]()
    for start, index, end in _places(found, len(values)):
        before, after = map(statistics.median, _near(values, start, index, end, _MOVED_NEAR))
        first = max([start + 1, index - _MOST_MOVED, *(edge + 1 for edge in moved[-1:])])
        last = min(end - 1, index + _MOST_MOVED)
        costs = _costs(values[first:last], before, after)
        far = [(cost, abs(first + place - index)) for place, cost in enumerate(costs)]
        moved.append(first + far.index(min(far)))
    while scaled.is_log and moved:
        steps = [_step(values, *place) for place in _places(moved, len(values))]
        if min(steps) >= _LEAST_CHANGE:
            break
        del moved[steps.index(min(steps))]
    return moved


def _costs(values: Sequence[float], before: float, after: float) -> list[float]:
    """Return the error of each number of values before a change between two levels."""
    return [0.0, *accumulate(abs(value - before) - abs(value - after) for value in values)]


def _step(values: Sequence[float], start: int, index: int, end: int) -> float:
    before, after = _near(values, start, index, end, _NEAR)
    return abs(statistics.median(after) - statistics.median(before))


def _places(found: Sequence[int], count: int) -> list[tuple[int, int, int]]:
    """Return the start, the boundary and the end of the segments at each boundary."""
    edges = [0, *found, count]
    return list(zip(edges, found, edges[2:], strict=False))


def _points(
    values: Sequence[float], scaled: Scaled, new: Sequence[int], lasting: Sequence[int]
) -> Iterator[ChangePoint]:
    """Yield the changes of both tiers, each once."""
    missed = [each for each in lasting if all(abs(each - one) > _MOST_MOVED for one in new)]
    for start, index, end in _places(sorted([*new, *missed]), len(values)):
        before, after = _near(values, start, index, end, _NEAR)
        earliest, latest = _likely_places(scaled.values, start, index, end)
        yield ChangePoint(
            index,
            median(before),
            median(after),
            any(abs(index - each) <= _MOST_MOVED for each in lasting),
            earliest,
            latest,
        )


def _likely_places(values: Sequence[float], start: int, index: int, end: int) -> tuple[int, int]:
    """Return the earliest and the latest place at which the level may have changed instead."""
    near = _near(values, start, index, end, _NEAR)
    before, after = map(statistics.median, near)
    sides = [_winsorised(side, _TAILS) for side in near]
    scatter_of_both = statistics.fmean(statistics.pvariance(side) for side in sides)
    first, last = max(start + 1, index - _MOST_MOVED), min(end - 1, index + _MOST_MOVED)
    costs = [
        0.0,
        *accumulate((value - before) ** 2 - (value - after) ** 2 for value in values[first:last]),
    ]
    here = index - first
    most = costs[here] + _MOST_UNLIKELY * scatter_of_both
    earliest = latest = here
    while earliest > 0 and costs[earliest - 1] <= most:
        earliest -= 1
    while latest < last - first and costs[latest + 1] <= most:
        latest += 1
    return first + earliest, first + latest


# The median of |Δ| of independent normal values, in standard deviations: 0.6745 √2.
_MEDIAN_STEP = 0.954


def median(values: Sequence[float]) -> float:
    """Return the median, also of numbers whose sum is not a double."""
    ascending = sorted(values)
    low, high = ascending[(len(ascending) - 1) // 2], ascending[len(ascending) // 2]
    return low / 2 + high / 2 if math.isinf(low + high) else (low + high) / 2


def _running_median(values: Sequence[float], window: int) -> list[float]:
    """Return the median of each value and its neighbours, over an odd number of values."""
    half = window // 2
    inner = [
        sorted(values[index - half : index + half + 1])[half]
        for index in range(half, len(values) - half)
    ]
    ends = min(half, len(values))
    first = [median(values[: index + half + 1]) for index in range(ends)]
    last = range(max(ends, len(values) - half), len(values))
    return [*first, *inner, *(median(values[index - half :]) for index in last)]


def around_levels(values: Sequence[float]) -> list[float]:
    """Return the distances of values from their running median, whatever the level does."""
    levels = _running_median(values, _LEVELS)
    return [value - level for value, level in zip(values, levels, strict=True)]


def _variance(values: Sequence[float]) -> float:
    """Return the variance of a sample (n − 1), 0 for one value."""
    mean = statistics.fmean(values)
    return sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def _scatter(values: Sequence[float]) -> float:
    """Return the standard deviation from one value to the next, whatever the level does.

    The mean step is the figure of a series that mostly repeats its value. The figure of a series
    with a single value is zero.
    """
    steps = [abs(after - before) for before, after in pairwise(values)]
    return statistics.median(steps) / _MEDIAN_STEP or math.sqrt(math.pi) / 2 * statistics.fmean(
        steps
    )


def clipped(values: Sequence[float], window: int, width: float) -> list[float]:
    """Return a series without spikes: at most ``width`` standard deviations from its median."""
    most = width * _scatter(values)
    return [
        min(max(value, middle - most), middle + most)
        for value, middle in zip(values, _running_median(values, window), strict=True)
    ]


def _winsorised(values: Sequence[float], share: float) -> list[float]:
    """Return values whose lowest and highest ``share`` are moved to the next value inwards."""
    ascending = sorted(values)
    moved = int(share * len(ascending))
    low, high = ascending[moved], ascending[-1 - moved]
    return [min(max(value, low), high) for value in values]


def _autocorrelation(values: Sequence[float]) -> float:
    """Return the correlation of values with the values before them; zero for equal values."""
    middle = statistics.fmean(values)
    deviations = [value - middle for value in values]
    whole = sum(deviation * deviation for deviation in deviations)
    product = sum(before * after for before, after in pairwise(deviations))
    return product / whole if whole else 0.0
