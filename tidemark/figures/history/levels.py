"""The levels and drifts of a metric over runs, and the causes of their changes.

A canary is a version that every run measures: what shifts the canary, too, is not a change of the
system under test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Literal, NamedTuple

from tidemark.figures.history.change_points import (
    LASTING,
    ChangePoint,
    Scaled,
    Windows,
    around_levels,
    change_points,
    clipped,
    scaled_values,
)
from tidemark.figures.history.newest import Newest, Unclear, newest, unclear
from tidemark.figures.spread import SpreadChange, changed_places
from tidemark.figures.verdicts.rule import ALARM

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

    A drift replaces consecutive changes in one direction if it fits better by Bayes' information
    criterion.
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


# Two levels are one if they are nearer to each other than this share of the step between.
_ONE_LEVEL = 0.5
# The runs on either side of a change within which a change of the canary is the same one.
_TOGETHER = 3
# The runs on either side of a change that show its environment, and the share of them that both
# sides may have in common: machines of several kinds take turns where a provider has several.
_NEAR, _MOST_COMMON = 8, 0.25

Cause = Literal["version", "environment", "alternation"]
State = Literal["suspected", "confirmed", "new", "lasting", "drift"]
"""One run alone is suspected and a second one confirms it; three may be a new level, and eight one
that lasts. No version is to blame for a drift."""


class RunFigure(NamedTuple):
    """One metric of one run."""

    median: float
    """The median of the trials."""
    canary: float | None = None
    """The median of the canary's trials in the same run; None without a canary."""
    environment: str | None = None
    """A digest of machine type, processor, image and Tidemark's version; None if unknown."""
    quartiles: tuple[float, float] | None = None
    """The quartiles of the trials; None if there are too few."""


class LevelChange(NamedTuple):
    """A change of level with its cause."""

    point: ChangePoint
    cause: Cause
    """``alternation`` is a change in a series that flips between two levels."""
    state: State
    of_canary: bool = False
    """Whether the canary's own level changed."""
    last: int | None = None
    """The index of the last run on the new level or of a drift, None if it goes on."""
    is_mended: bool = False
    """Whether the run after ``last`` is back on the level before."""
    returns: bool = False
    """Whether it ends a level that did not last, and brings back the one before."""
    each: float | None = None
    """The change of a drift from one run to the next: a share, or an amount."""
    p_value: float = 0.0
    """The probability of a suspected point if its level is as before."""


class Scatter(NamedTuple):
    """A change of spread with its cause."""

    first: int
    """The first run that scatters otherwise."""
    change: SpreadChange
    cause: Cause


class Levels(NamedTuple):
    """The changes of a metric over runs, in order."""

    told: list[LevelChange]
    gone: Newest | None = None
    """The change that the run before the newest one was suspected of, if the newest denies it."""
    unclear: Unclear | None = None
    """The newest run, if more runs can tell whether its level is another."""
    spreads: Sequence[Scatter] = ()
    """The changes of spread around the levels."""


def judged_levels(runs: Sequence[RunFigure], known: Windows | None = None) -> Levels:
    """Return the changes of a metric over runs; ``known`` are windows that are searched.

    If every run has the canary, the figures are shares of the canary's. A change of the canary
    itself, or one that comes with another environment, has the cause ``environment``.
    """
    if not runs:
        return Levels([])
    canaries = [run.canary for run in runs if run.canary]
    if len(canaries) < len(runs):
        return _levels(runs, [run.median for run in runs], [], known)
    moved = change_points(canaries, known)
    levels = _levels(
        runs,
        [run.median / canary for run, canary in zip(runs, canaries, strict=True)],
        moved,
        known,
    )
    told = [
        *levels.told,
        *(LevelChange(point, "environment", _state(point), of_canary=True) for point in moved),
    ]
    return levels._replace(told=sorted(told, key=lambda change: change.point.index))


def _state(point: ChangePoint) -> State:
    return "lasting" if point.lasts else "new"


def _levels(
    runs: Sequence[RunFigure],
    values: Sequence[float],
    moved: Sequence[ChangePoint],
    known: Windows | None,
) -> Levels:
    scaled = scaled_values(values)
    steps, drifts = without_drifts(values, change_points(values, known))
    start = _present_level(steps, drifts, len(values))
    quartiles = _quartiles(runs, values, scaled)
    last = newest(scaled, start, quartiles)
    before = newest(scaled.until(-1), start, quartiles[:-1]) if not last and values[1:] else None
    news = [_point(last)] if last else []
    causes = _causes(runs, [*steps, *news], moved)
    states: list[State] = [_state(point) for point in steps]
    states += ["confirmed" if last.is_confirmed else "suspected"] if last else []
    told = [
        LevelChange(point, cause, state)
        for point, cause, state in zip([*steps, *news], causes, states, strict=True)
    ]
    if last:
        told[-1] = told[-1]._replace(p_value=last.p_value)
    told += [_drift(drift, len(values)) for drift in drifts]
    told.sort(key=lambda change: change.point.index)
    ended = [_ended(told, place, scaled) for place in range(len(told))]
    short = {each.last for each in ended if each.is_mended and each.state == "new"}
    returned = [each._replace(returns=each.point.index - 1 in short) for each in ended]
    waits = unclear(scaled, start) if not last and start < len(values) - 1 else None
    return Levels(returned, before, waits, list(_spreads(runs, scaled, steps)))


def _spreads(
    runs: Sequence[RunFigure], scaled: Scaled, steps: Sequence[ChangePoint]
) -> Iterator[Scatter]:
    """Yield the changes of spread around the levels, whatever these do; none without logarithms."""
    if not scaled.is_log:
        return
    edges = [0, *(point.index for point in steps), len(scaled.values)]
    apart = [
        abs(distance)
        for start, end in pairwise(edges)
        for distance in around_levels(scaled.values[start:end])
    ]
    for index, change in changed_places(apart, ALARM):
        yield Scatter(
            index, change, "environment" if _environment_changes(runs, index) else "version"
        )


def _present_level(steps: Sequence[ChangePoint], drifts: Sequence[Drift], count: int) -> int:
    """Return the first index of the level that predicts the newest points."""
    starts = [point.index for point in steps]
    starts += [min(drift.last, count - LASTING) for drift in drifts]
    return max(starts, default=0)


def _quartiles(
    runs: Sequence[RunFigure], values: Sequence[float], scaled: Scaled
) -> list[tuple[float, float]]:
    """Return the quartiles of the trials of each run on the scale of the history."""
    return [
        _both(run, value, place, scaled)
        for run, value, place in zip(runs, values, scaled.values, strict=True)
    ]


def _both(run: RunFigure, value: float, place: float, scaled: Scaled) -> tuple[float, float]:
    if run.quartiles is None or run.median == 0:
        return place, place
    if not scaled.is_log:
        shares = [quartile * (value / run.median) for quartile in run.quartiles]
        unit = place / value if value else 0.0
        return shares[0] * unit, shares[1] * unit
    low, high = (
        place + math.log(quartile / run.median) if quartile > 0 else -math.inf
        for quartile in run.quartiles
    )
    return low, high


def _point(last: Newest) -> ChangePoint:
    return ChangePoint(
        last.first, last.before, last.after, lasts=False, earliest=last.first, latest=last.first
    )


def _drift(drift: Drift, count: int) -> LevelChange:
    point = ChangePoint(
        drift.first,
        drift.before,
        drift.after,
        lasts=True,
        earliest=drift.first,
        latest=drift.first,
    )
    last = drift.last if drift.last < count - 1 else None
    return LevelChange(point, "version", "drift", last=last, each=drift.each)


def _ended(told: Sequence[LevelChange], place: int, scaled: Scaled) -> LevelChange:
    """Return a change with the last run on its level, if a later change brings the old one back."""
    change = told[place]
    if change.each is not None:
        return change
    before, after = (scaled.place(each) for each in (change.point.before, change.point.after))
    for later in told[place + 1 :]:
        if later.each is None and later.state != "suspected":
            back = (scaled.place(later.point.after) - after) / (before - after)
            if back > 1 - _ONE_LEVEL:
                return change._replace(last=later.point.index - 1, is_mended=True)
    return change


def _causes(
    runs: Sequence[RunFigure], points: Sequence[ChangePoint], moved: Sequence[ChangePoint]
) -> Iterator[Cause]:
    flips = _alternates(points)
    for point in points:
        together = any(abs(point.index - other.index) <= _TOGETHER for other in moved)
        if together or _environment_changes(runs, point.index):
            yield "environment"
        else:
            yield "alternation" if flips else "version"


def _environment_changes(runs: Sequence[RunFigure], index: int) -> bool:
    """Tell whether the runs after a change have other environments than those before it."""
    near = runs[max(0, index - _NEAR) : index], runs[index : index + _NEAR]
    before, after = (Counter(run.environment for run in side if run.environment) for side in near)
    fewest = min(before.total(), after.total())
    return fewest > 0 and (before & after).total() <= _MOST_COMMON * fewest


def _alternates(points: Sequence[ChangePoint]) -> bool:
    """Tell whether a series returns to its first level twice or more."""
    levels = [point.before for point in points] + [point.after for point in points[-1:]]
    steps = [abs(after - before) for before, after in pairwise(levels)]
    returns = [
        abs(third - first) < _ONE_LEVEL * step
        for first, third, step in zip(levels, levels[2:], steps, strict=False)
    ]
    return len(returns) >= 2 and all(returns)
