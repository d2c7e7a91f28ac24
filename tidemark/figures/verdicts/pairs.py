"""Pairs of trials: in each repetition of a run, one trial of the base and one of the new version.

A pair counts as d = ln(new / base). Both trials of a repetition run close together, so that a slow
change of the machine cancels in d.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from tidemark.model.run_spec import FEWEST

_OUTLIERS_FROM, _PAIRS_AN_OUTLIER = 8, 12
_FAR = 8
"""Robust standard deviations; docs/verdicts.md says why."""
# The standard deviation of a normal distribution, in medians of the distance from its median.
_NORMAL = 1.4826
_CORRELATION_FROM, _MOST_CORRELATION = 4, 0.8


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of d of some pairs, and its scatter."""

    count: int
    """All pairs, with those that are left out."""
    kept: int
    """The pairs in the mean."""
    mean: float
    """The mean of d; zero without a pair."""
    deviation: float
    """The sample standard deviation of d (n - 1); zero for fewer than two pairs."""
    inflation: float = 1.0
    """How much greater the error is because each pair resembles the one before."""

    @property
    def error(self) -> float:
        """The standard error of the mean of d; zero for fewer than two pairs."""
        return self.deviation * self.inflation / math.sqrt(self.kept) if self.kept else 0.0

    @property
    def scatter(self) -> float:
        """The sum of squares of d around its mean that as many independent pairs would have."""
        return max(0, self.kept - 1) * self.kept * self.error * self.error


@dataclass(frozen=True, slots=True)
class Pairs:
    """d of the pairs of two versions for one metric, in the order of time."""

    differences: tuple[float, ...] = ()
    known: tuple[float, ...] = ()
    """d of earlier pairs, which tell how far these scatter: they do not count themselves."""

    @classmethod
    def of(cls, differences: Iterable[float]) -> Pairs:
        """Return pairs with some differences d."""
        return cls(tuple(differences))

    @property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.differences)

    @property
    def outliers(self) -> list[int]:
        """The places of pairs that lie far from all others and are left out, in ascending order.

        They are farther from the median than eight robust standard deviations, at most one of
        each twelve pairs. Fewer than eight pairs do not know their scatter well enough.

        Source: Hampel's identifier, Davies & Gather, JASA 88 (1993).
        """
        every = self.known + self.differences
        if len(every) < _OUTLIERS_FROM or self.count < FEWEST:
            return []
        middle = _median(every)
        distances = [abs(difference - middle) for difference in self.differences]
        bound = _FAR * _NORMAL * _median([abs(difference - middle) for difference in every])
        far = [place for place, distance in enumerate(distances) if distance > bound]
        most = math.ceil(self.count / _PAIRS_AN_OUTLIER)
        return sorted(sorted(far, key=distances.__getitem__)[-most:])

    @property
    def odd(self) -> int | None:
        """The place of the pair that most of the scatter is of; None if there is no such pair.

        Without it the others scatter at most half as much. It counts, unlike an outlier.
        """
        if self.count < FEWEST or self.outliers:
            return None
        middle = _median(self.differences)
        odd = max(range(self.count), key=lambda place: abs(self.differences[place] - middle))
        others = Pairs(self.differences[:odd] + self.differences[odd + 1 :])
        return odd if 2 * others.estimate.deviation < self.estimate.deviation else None

    @property
    def estimate(self) -> Estimate:
        """The mean without outliers, and its scatter."""
        if not self.differences:
            return Estimate(0, 0, 0.0, 0.0)
        kept = list(self.differences)
        for place in reversed(self.outliers):
            del kept[place]
        mean = sum(kept) / len(kept)
        around = [difference - mean for difference in kept]
        squares = sum(map(mul, around, around))
        deviation = math.sqrt(squares / (len(kept) - 1)) if len(kept) > 1 else 0.0
        return Estimate(self.count, len(kept), mean, deviation, _inflation(around, squares))

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(self.differences + other.differences)


def _inflation(around: Sequence[float], squares: float) -> float:
    """Return how much greater the error of a mean is if each value resembles the one before.

    ``around`` are the values around their mean, ``squares`` is the sum of their squares. The
    correlation of neighbours is estimated too low by (1 + 3 phi) / n.

    Sources: Kendall, Biometrika 41 (1954), for its bias; Box, Jenkins & Reinsel, Time Series
    Analysis, 2.1.5, for the variance of the mean of a first-order autoregression.
    """
    if len(around) < _CORRELATION_FROM or not squares:
        return 1.0
    found = sum(map(mul, around, around[1:])) / squares
    found += (1 + 3 * max(0.0, found)) / len(around)
    correlation = min(max(0.0, found), _MOST_CORRELATION)
    return math.sqrt((1 + correlation) / (1 - correlation))


def _median(values: Sequence[float]) -> float:
    ascending, half = sorted(values), len(values) // 2
    return (ascending[half] + ascending[~half]) / 2


Slices = tuple[Sequence[float], Sequence[float]]
"""The slices of the base and of the new version in a round, in the order of its blocks."""


def differences(base: Mapping[int, float], new: Mapping[int, float]) -> dict[int, float]:
    """Return d of each repetition that has a rate of both versions, by repetition, in order.

    ``base`` and ``new`` are the rates of the trials that count, by repetition. A rate of zero or
    less has no logarithm: it raises ValueError.
    """
    both = sorted(base.keys() & new.keys())
    return {repetition: _log_ratio(base[repetition], new[repetition]) for repetition in both}


def round_difference(base: Sequence[float], new: Sequence[float]) -> float:
    """Return d = ln(new / base) of one round, from both versions' slices in the order of blocks.

    ``base[n]`` and ``new[n]`` are the figures of the n-th measured slice of each version, without
    warm-up. A block that one version alone measured does not count. d is the median of the blocks'
    ln ratios, which a pause in a few slices does not move: docs/verdicts.md compares other means.

    Raises
    ------
    ValueError
        If no block has both slices, or if a figure is not positive.

    """
    blocks = [_log_ratio(one, other) for one, other in zip(base, new, strict=False)]
    if not blocks:
        raise ValueError("slices: no block has a slice of both versions; expected one or more")
    return _median(blocks)


def in_round(base: float, new: float, slices: Slices) -> float:
    """Return the rate of a new version that differs from the base's by the d of their round.

    ``slices`` are both versions' slices. Without slices it is ``new`` itself.
    """
    return base * math.exp(round_difference(*slices)) if all(slices) else new


def _log_ratio(base: float, new: float) -> float:
    return math.log(new) - math.log(base)
