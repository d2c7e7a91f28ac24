"""The newest points of a history, judged against the level before them.

They are too few for a change point. A single point is a suspicion, which the next one confirms.
docs/history.md has how often both are right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.history.change_points import LEAST_T, SHORTEST, Scaled
from tidemark.figures.verdicts.intervals import p_value

FEWEST = 5
"""The fewest points of the level before."""
_LEVEL = 20
"""The most points of the level before that predict the next one."""
_MOST_NEW = 7
"""The most points that are judged so; eight make a level that lasts."""
_LEAST_SCATTER = 0.03
"""The least scatter of a prediction, as a share of the level."""
# A history has more outliers than a normal distribution.
_FREEDOM = 5
_SUSPECTED, _AGREES = 0.02, 0.05
"""The p-values of the first point, and of each point that confirms it."""
# The least distance of a point that lies apart, in standard deviations.
_UNCLEAR = 2.0
_FALSE_DISCOVERIES = 0.05
# Figures move together if they are enough in number and in share, and scatter by little of their
# gain.
_FEWEST_ALIKE, _MANY, _ALIKE = 8, 0.1, 0.25
# A figure that moved by twice the shared gain, or not at all, moved alone.
_WITHIN = 0.75


class Newest(NamedTuple):
    """The newest points of a history that lie apart from the level before them."""

    first: int
    """The index of the first of them."""
    before: float
    after: float
    """The medians of the level before and of these points."""
    p_value: float
    """The probability of such a point, if the level is as before."""
    is_confirmed: bool
    """Whether a second point agrees."""


class Unclear(NamedTuple):
    """The newest point of a history, which lies apart from its level, but not clearly."""

    before: float
    after: float
    """The level and the point."""
    runs: int
    """About how many runs show whether the level is another one."""


class _Level(NamedTuple):
    """A level of points, and the scatter of its prediction."""

    middle: float
    scatter: float

    def p_value(self, value: float) -> float:
        """Return the probability of a point that far away."""
        return p_value((value - self.middle) / self.scatter, _FREEDOM) if self.scatter else 0.0


def newest(scaled: Scaled, start: int, nearest: Sequence[tuple[float, float]]) -> Newest | None:
    """Return the newest points of a history that are apart from the level before, None for none.

    ``start`` is the first index of the present level, and ``nearest`` has the quartiles of each
    point's own trials on the scale: a point is as far away as the nearer of them.
    """
    values = scaled.values
    for count in range(min(_MOST_NEW, len(values) - start - FEWEST), 0, -1):
        index = len(values) - count
        level = _level(values[max(start, index - _LEVEL) : index], is_log=scaled.is_log)
        if (probability := _apart(level, nearest[index:], count)) is not None:
            after = statistics.median(values[index:])
            both = scaled.restored(level.middle), scaled.restored(after)
            return Newest(index, *both, probability, count > 1)
    return None


def unclear(scaled: Scaled, start: int) -> Unclear | None:
    """Return the newest point if more runs can tell whether its level is another, else None.

    This number of runs as far away has the evidence of a change point.
    """
    before = scaled.values[max(start, len(scaled.values) - 1 - _LEVEL) : -1]
    if len(before) < FEWEST:
        return None
    level = _level(before, is_log=scaled.is_log)
    apart = abs(scaled.values[-1] - level.middle) / level.scatter if level.scatter else 0.0
    evidence = (apart / LEAST_T) ** 2 - 1 / len(before)
    if apart < _UNCLEAR or evidence <= 0:
        return None
    values = scaled.restored(level.middle), scaled.restored(scaled.values[-1])
    return Unclear(*values, max(SHORTEST, math.ceil(1 / evidence)))


def _level(values: Sequence[float], *, is_log: bool) -> _Level:
    middle = statistics.median(values)
    scatter = 1.4826 * statistics.median(abs(value - middle) for value in values)
    least = _LEAST_SCATTER * (1.0 if is_log else abs(middle))
    # The median of few points is off, too: its variance is π / 2 times a mean's variance.
    return _Level(middle, max(scatter, least) * math.sqrt(1 + math.pi / 2 / len(values)))


def _apart(level: _Level, nearest: Sequence[tuple[float, float]], count: int) -> float | None:
    """Return the probability of the first point if each lies apart on one side, else None."""
    sides = {side for low, high in nearest for side in [_side(level, low, high)]}
    if len(sides) > 1 or 0 in sides:
        return None
    probabilities = [
        min(level.p_value(value) for value in ((low,) if sides == {1} else (high,)))
        for low, high in nearest
    ]
    most = _AGREES if count > 1 else _SUSPECTED
    return probabilities[0] if max(probabilities) <= most else None


def _side(level: _Level, low: float, high: float) -> int:
    return 1 if low > level.middle else -1 if high < level.middle else 0


class Suspicion(NamedTuple):
    """One figure of a run that lies apart from the level before."""

    p_value: float
    gain: float | None
    """By how much it is better, as a logarithm; None if a level is zero or less."""


class Credible(NamedTuple):
    """The suspicions of a run that neither chance nor a slower machine explains."""

    largest: float
    """The largest p-value that counts."""
    shared: float | None = None
    """The gain that many figures of the run share, None if they moved apart."""
    within: float = 0.0
    """The greatest distance from the shared gain."""
    alike: int = 0
    """The number of suspicions that share the gain."""

    def shares(self, each: Suspicion) -> bool:
        """Tell whether a suspicion is one of the gain that many figures share."""
        return self.shared is not None and (
            each.gain is not None and abs(each.gain - self.shared) <= self.within
        )

    def holds(self, each: Suspicion) -> bool:
        """Tell whether a suspicion counts."""
        return each.p_value <= self.largest and not self.shares(each)


def credible(suspicions: Sequence[Suspicion], family: int) -> Credible:
    """Return which suspicions of a run of a number of figures count.

    A machine that is slower for a day moves many figures by about one share, and a version seldom
    does: these wait for the next run.
    """
    found = Credible(discoveries([each.p_value for each in suspicions], family))
    gains = [
        each.gain for each in suspicions if each.gain is not None and each.p_value <= found.largest
    ]
    if len(gains) < max(_FEWEST_ALIKE, _MANY * family):
        return found
    middle = statistics.median(gains)
    scatter = 1.4826 * statistics.median(abs(gain - middle) for gain in gains)
    if scatter > _ALIKE * abs(middle):
        return found
    return _counted(found._replace(shared=middle, within=_WITHIN * abs(middle)), suspicions)


def _counted(found: Credible, suspicions: Sequence[Suspicion]) -> Credible:
    alike = sum(each.p_value <= found.largest and found.shares(each) for each in suspicions)
    return found._replace(alike=alike)


def discoveries(p_values: Sequence[float], family: int) -> float:
    """Return the largest p-value of a family that counts, 0 if none does.

    At most a twentieth of what counts is false. Source: Benjamini & Hochberg, Journal of the Royal
    Statistical Society B 57 (1995).
    """
    ascending = sorted(p_values)
    counting = [
        value
        for rank, value in enumerate(ascending, start=1)
        if value <= _FALSE_DISCOVERIES * rank / family
    ]
    return max(counting, default=0.0)
