"""Changes of spread: a version may be as fast as before, and less steady.

The test of Fligner and Killeen compares two sides by the ranks of the deviations from their
medians, so that an outlier counts no more than any other far value. Sources: Fligner & Killeen,
Journal of the American Statistical Association 71 (1976); Conover, Johnson & Johnson, Technometrics
23 (1981), for medians in place of means.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from tidemark.figures.history.change_points import boundaries

TEST = "Fligner-Killeen test"
FEWEST = 8
"""The fewest values of a side."""
_CANDIDATE = 8.0
"""The least statistic of a place that is judged; a lower statistic has no p-value that counts."""
_MOST_CORRELATION = 0.8
_NORMAL = statistics.NormalDist()
# The standard deviation of normal values, in medians of their distance from the median.
_OF_MEDIAN = 1.4826

Word = Literal["less steady", "steadier"]


class SpreadChange(NamedTuple):
    """A change of the spread: both are standard deviations, as shares of the level."""

    before: float
    after: float
    p_value: float

    @property
    def word(self) -> Word:
        """The change in words."""
        return "less steady" if self.after > self.before else "steadier"


def spread_change(
    base: Sequence[float], new: Sequence[float], margin: float, alpha: float
) -> SpreadChange | None:
    """Return the change of the spread between two versions, None if it is small or may be chance.

    ``margin`` is the least difference of the spreads that matters, as a share of the level, and
    ``alpha`` the share of equal spreads that may be called a change.
    """
    if min(len(base), len(new)) < FEWEST or min(*base, *new) <= 0:
        return None
    deviations = [each for side in (base, new) for each in _deviations(list(map(math.log, side)))]
    found = _change(deviations, len(base))
    is_certain = found and found.p_value <= alpha and abs(found.after - found.before) >= margin
    return found if is_certain else None


def changed_places(deviations: Sequence[float], alpha: float) -> list[tuple[int, SpreadChange]]:
    """Return the first index of each new spread of deviations, in order, and the change there.

    The p-value counts all places where the spread may have changed, or all stretches that may have
    another spread. The least certain place is dropped first.
    """
    if (count := len(deviations)) < 2 * FEWEST:
        return []
    places = boundaries(_Scores.of(deviations).unit, _CANDIDATE, FEWEST)
    while places:
        edges, tried = [0, *places, count], math.comb(count, min(len(places), 2))
        found = [
            _change(deviations[start:end], index - start, tried)
            for start, index, end in zip(edges, places, edges[2:], strict=False)
        ]
        p_values = [change.p_value if change else 1.0 for change in found]
        worst = max(p_values)
        if worst <= alpha:
            return [(index, change) for index, change in zip(places, found, strict=True) if change]
        del places[p_values.index(worst)]
    return []


def _change(deviations: Sequence[float], index: int, tried: int = 1) -> SpreadChange | None:
    """Return the change of spread at the best of ``tried`` places; None if outliers made it.

    The ranks and the medians of the deviations then go in opposite directions.
    """
    before, after = _width(deviations[:index]), _width(deviations[index:])
    scores = _Scores.of(deviations)
    is_one_way = (after > before) == scores.is_wider(index)
    return SpreadChange(before, after, tried * scores.p_value(index)) if is_one_way else None


def _width(deviations: Sequence[float]) -> float:
    """Return the standard deviation of normal values with such distances from their median."""
    middle = statistics.median(deviations)
    return _OF_MEDIAN * middle if middle else math.sqrt(math.pi / 2) * statistics.fmean(deviations)


def _deviations(values: Sequence[float]) -> list[float]:
    middle = statistics.median(values)
    return [abs(value - middle) for value in values]


class _Scores(NamedTuple):
    """The normal scores of deviations, less their mean."""

    scores: Sequence[float]
    sums: Sequence[float]
    """The sum of the scores before each index."""
    variance: float

    @classmethod
    def of(cls, deviations: Sequence[float]) -> _Scores:
        """Return the scores of the ranks of deviations; equal deviations share a rank."""
        ascending, count = sorted(deviations), len(deviations)
        raw = [
            _score(bisect_left(ascending, each) + bisect_right(ascending, each) + 1, count)
            for each in deviations
        ]
        middle = statistics.fmean(raw)
        scores = [score - middle for score in raw]
        squares = sum(score * score for score in scores)
        return cls(scores, [0.0, *accumulate(scores)], squares / (count - 1))

    @property
    def unit(self) -> list[float]:
        """The scores in their standard deviations, zeros if all are equal."""
        width = math.sqrt(self.variance) or 1.0
        return [score / width for score in self.scores]

    def is_wider(self, index: int) -> bool:
        """Tell whether the deviations from an index on have the higher ranks."""
        return self.sums[index] < 0

    def statistic(self, index: int) -> float:
        """Return the statistic of another spread from an index on, chi-squared of one degree."""
        count = len(self.scores)
        if not self.variance:
            return 0.0
        return self.sums[index] ** 2 * count / (index * (count - index)) / self.variance

    def p_value(self, index: int) -> float:
        """Return the probability of the statistic if the spread is one.

        Deviations that resemble the one before are fewer independent ones.
        """
        return math.erfc(math.sqrt(self.statistic(index) / 2 / self._inflation(index)))

    def _inflation(self, index: int) -> float:
        count, whole = len(self.scores), self.sums[index]
        means = whole / index, -whole / (count - index)
        rest = [score - means[place >= index] for place, score in enumerate(self.scores)]
        squares = sum(each * each for each in rest)
        products = sum(before * after for before, after in pairwise(rest))
        correlation = min(max(0.0, products / squares if squares else 0.0), _MOST_CORRELATION)
        return (1 + correlation) / (1 - correlation)


@lru_cache(maxsize=2_000)
def _score(twice_rank: int, count: int) -> float:
    return _NORMAL.inv_cdf(0.5 + twice_rank / (4 * (count + 1)))
