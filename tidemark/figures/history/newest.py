"""The newest points of a history, judged against the level before them.

They are too few for a change point. A single point is a suspicion, which the next one confirms.
docs/history.md has how often both are right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.history.change_points import Scaled
from tidemark.figures.verdicts.student import p_value

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
_FALSE_DISCOVERIES = 0.1


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


def _level(values: Sequence[float], *, is_log: bool) -> _Level:
    middle = statistics.median(values)
    scatter = 1.4826 * statistics.median(abs(value - middle) for value in values)
    least = _LEAST_SCATTER * (1.0 if is_log else abs(middle))
    # The median of few points is off, too: its variance is π / 2 of that of a mean.
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


def discoveries(p_values: Sequence[float], family: int) -> float:
    """Return the largest p-value that counts among those of a family, 0 if none does.

    At most a tenth of what counts is false. Source: Benjamini & Hochberg, Journal of the Royal
    Statistical Society B 57 (1995).
    """
    ascending = sorted(p_values)
    counting = [
        value
        for rank, value in enumerate(ascending, start=1)
        if value <= _FALSE_DISCOVERIES * rank / family
    ]
    return max(counting, default=0.0)
