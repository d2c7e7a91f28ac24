"""Drifts: the level of a metric moves a little at each release, and no version is to blame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from tidemark.figures.history.change_points import ChangePoint, change_points, scaled_values
from tidemark.figures.history.robust import clipped

_SHORTEST = 12
"""The fewest releases of a drift; a level that moves in fewer has steps."""
_PLACES = 24
"""The places of either end of a drift that are tried."""
_SINGLE = 4.0
"""The evidence, in units of the criterion, by which a drift has to surpass a single step."""
_FAR = 700.0
"""The largest logarithm whose number is a double."""
_PARAMETERS = 4
"""Both levels and both ends."""


class Drift(NamedTuple):
    """A level that moves from one point to the next."""

    first: int
    """The index of the first point that moved."""
    last: int
    """The index of the last one."""
    before: float
    after: float
    """The levels at either end."""
    is_share: bool
    """Whether each point moves by a share of the level, and not by an amount."""

    @property
    def each(self) -> float:
        """The change from one point to the next: a share of the level, or an amount."""
        count = self.last - self.first + 1
        if self.is_share:
            return math.expm1(math.log(self.after / self.before) / count)
        return (self.after - self.before) / count


class _Sums:
    """Sums over the values from the beginning, by which each fit takes the same short time."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = [0.0, *accumulate(values)]
        self.squares = [0.0, *accumulate(value * value for value in values)]
        self.places = [0.0, *accumulate(n * value for n, value in enumerate(values))]

    def flat(self, start: int, end: int) -> float:
        """Return the squared error of a level."""
        total = self.values[end] - self.values[start]
        return self.squares[end] - self.squares[start] - total * total / (end - start)

    def ramp(self, start: int, first: int, last: int, end: int) -> tuple[float, float, float]:
        """Return the squared error, and the levels before ``first`` and from ``last`` on.

        The value of a point between is ``before`` + share · (``after`` − ``before``).
        """
        count, width = end - start, last - first + 1
        # The shares are (n − first + 1) / width from first to last, and then 1.
        shares = (width + 1) / 2 + (end - last - 1)
        squares = (width + 1) * (2 * width + 1) / (6 * width) + (end - last - 1)
        total = self.values[end] - self.values[start]
        along = (
            self.places[last + 1]
            - self.places[first]
            - (first - 1) * (self.values[last + 1] - self.values[first])
        ) / width + (self.values[end] - self.values[last + 1])
        spread = squares - shares * shares / count
        covariance = along - shares * total / count
        rise = covariance / spread
        before = (total - rise * shares) / count
        error = self.flat(start, end) - rise * covariance
        return error, before, before + rise


def without_drifts(
    values: Sequence[float], points: Sequence[ChangePoint]
) -> tuple[list[ChangePoint], list[Drift]]:
    """Return the changes of level that are steps, and the drifts that explain the others better.

    A drift takes the place of changes in one direction that follow each other if its fit is better
    by Bayes' information criterion.
    """
    if not points:
        return [], []
    scaled = scaled_values(values)
    first_value = scaled.values[0]
    centred = [value - first_value for value in scaled.values]
    sums = _Sums(clipped(centred, 5, 4.0))
    edges = [0, *(point.index for point in points), len(values)]
    steps, drifts = list[ChangePoint](), list[Drift]()
    for _, of_chain in groupby(range(len(points)), lambda n: points[n].after > points[n].before):
        chain = list(of_chain)
        while chain:
            found = next(_drifts(sums, centred, edges, chain), None)
            if found is None:
                break
            explained, (first, last, before, after) = found
            drifts.append(
                Drift(
                    first,
                    last,
                    scaled.restored(before + first_value),
                    scaled.restored(after + first_value),
                    scaled.is_log,
                )
            )
            chain = [n for n in chain if n not in explained]
        steps += [points[n] for n in chain]
    return sorted(steps, key=lambda point: point.index), sorted(drifts)


_Ramp = tuple[int, int, float, float]


def _drifts(
    sums: _Sums, values: Sequence[float], edges: Sequence[int], chain: Sequence[int]
) -> Iterator[tuple[Sequence[int], _Ramp]]:
    """Yield parts of a chain of changes that a drift explains, the longest first."""
    for count in range(len(chain), 0, -1):
        for place in range(len(chain) - count + 1):
            part = chain[place : place + count]
            if part[-1] - part[0] < count and (ramp := _ramp(sums, edges, part)):
                start, end = edges[part[0]], edges[part[-1] + 2]
                if not _leaves_steps(values, start, end, ramp):
                    yield part, ramp


def _leaves_steps(values: Sequence[float], start: int, end: int, ramp: _Ramp) -> bool:
    """Tell whether a drift without its slope still has changes of level."""
    first, last, before, after = ramp
    width = last - first + 1
    rest = [
        values[n] - before - (after - before) * min(max(n - first + 1, 0) / width, 1)
        for n in range(start, end)
    ]
    return bool(change_points([math.exp(min(max(value, -_FAR), _FAR)) for value in rest]))


def _ramp(sums: _Sums, edges: Sequence[int], part: Sequence[int]) -> _Ramp | None:
    start, end = edges[part[0]], edges[part[-1] + 2]
    inner = edges[part[0] : part[-1] + 3]
    steps = sum(sums.flat(*each) for each in pairwise(inner))
    stride = max(1, (end - start) // _PLACES)
    tried = [
        (*sums.ramp(start, first, last, end), first, last)
        for first in range(start + 1, end - _SHORTEST + 1, stride)
        for last in {*range(first + _SHORTEST - 1, end, stride), end - 1}
    ]
    if not tried:
        return None
    count = end - start
    least = 1e-12 * sums.squares[-1]

    def cost(ramp: tuple[float, float, float, int, int]) -> float:
        # A drift that goes on has one parameter less, and so has one since the first point.
        fewer = (ramp[4] == end - 1) + (ramp[3] == 1)
        return count * math.log(max(ramp[0], least)) - math.log(count) * fewer

    best = min(tried, key=cost)
    gain = count * math.log(max(steps, least)) - cost(best)
    extra = (_PARAMETERS - (2 * len(part) + 1)) * math.log(count)
    doubt = _SINGLE if len(part) == 1 else 0.0
    _, before, after, first, last = best
    return (first, last, before, after) if gain > extra + doubt else None
