"""Two levels of values that one mean does not describe: two kinds of machines, or outliers.

Two normal distributions of one width are compared with a single one by Bayes' information
criterion. Sources: Schwarz, Annals of Statistics 6 (1978); Dempster, Laird & Rubin, Journal of the
Royal Statistical Society B 39 (1977), for the fit; Kass & Raftery, Journal of the American
Statistical Association 90 (1995), who call a difference of 10 very strong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from tidemark.figures.version_rates import mean

FEWEST = 6
"""The fewest values that may have two levels."""
_STRONG = 10.0
# The fewest standard deviations of a level between both. The halves of one normal distribution are
# 2.6 of their own apart.
_APART, _HALVES_APART = 5.0, 3.0
_STEPS = 20
# A level without any scatter still has a width, as a share of its values.
_NARROWEST = 1e-6


class Levels(NamedTuple):
    """The values of both levels, each in its order."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def is_high(self, value: float) -> bool:
        """Tell whether a value is of the high level."""
        return value >= min(self.high)


class _Fit(NamedTuple):
    """Two normal distributions of one width."""

    share: float
    """The share of the low one."""
    low: float
    high: float
    width: float

    def densities(self, value: float) -> tuple[float, float]:
        """Return the logarithms of the weighted densities of both at a value."""
        return (
            math.log(self.share) + _log_density(value, self.low, self.width),
            math.log(1 - self.share) + _log_density(value, self.high, self.width),
        )

    def logarithm(self, value: float) -> float:
        """Return the logarithm of the density of both together at a value."""
        greater, less = sorted(self.densities(value), reverse=True)
        return greater + math.log1p(math.exp(less - greater))


def two_levels(values: Sequence[float], margin: float) -> Levels | None:
    """Return the two levels of values; None if one level describes them as well.

    ``margin`` is the least distance that matters, as a share of the higher level.
    """
    if len(values) < FEWEST or min(values) == max(values):
        return None
    ascending = sorted(values)
    fit = _split(ascending)
    if fit.high - fit.low < _HALVES_APART * fit.width:
        return None
    for _ in range(_STEPS):
        fit = _fitted(ascending, fit)
    split = sum(low >= high for low, high in map(fit.densities, ascending))
    if not 0 < split < len(values):
        return None
    levels = Levels(tuple(ascending[:split]), tuple(ascending[split:]))
    distance = mean(levels.high) - mean(levels.low)
    is_apart = distance >= max(_APART * fit.width, margin * abs(mean(levels.high)))
    return levels if is_apart and _gain(ascending, fit) >= _STRONG else None


def _gain(values: Sequence[float], fit: _Fit) -> float:
    """Return by how much the criterion prefers two levels, which have two parameters more."""
    middle, width = mean(values), _width(values)
    one = sum(_log_density(value, middle, width) for value in values)
    both = sum(fit.logarithm(value) for value in values)
    return 2 * (both - one) - 2 * math.log(len(values))


def _fitted(values: Sequence[float], fit: _Fit) -> _Fit:
    """Return a better fit: each value is of the low level with the share that the fit gives it."""
    shares = [math.exp(fit.densities(value)[0] - fit.logarithm(value)) for value in values]
    return _weighted(values, shares)


def _split(ascending: Sequence[float]) -> _Fit:
    """Return the fit of the split whose parts' means are farthest from the mean of all."""
    count, middle = len(ascending), mean(ascending)
    sums = list(accumulate(value - middle for value in ascending))
    split = max(range(1, count), key=lambda at: sums[at - 1] ** 2 * (1 / at + 1 / (count - at)))
    return _weighted(ascending, [1.0] * split + [0.0] * (count - split))


def _weighted(values: Sequence[float], shares: Sequence[float]) -> _Fit:
    """Return the fit of values; each belongs to the low level with some share."""
    count, whole = len(values), sum(shares)
    whole = min(max(whole, _NARROWEST), count - _NARROWEST)
    both = list(zip(values, shares, strict=True))
    low = sum(share * value for value, share in both) / whole
    high = sum((1 - share) * value for value, share in both) / (count - whole)
    error = sum(
        share * (value - low) ** 2 + (1 - share) * (value - high) ** 2 for value, share in both
    )
    width = max(math.sqrt(error / count), _NARROWEST * max(map(abs, values)))
    return _Fit(whole / count, low, high, width)


def _width(values: Sequence[float]) -> float:
    middle = mean(values)
    scatter = math.sqrt(sum((value - middle) ** 2 for value in values) / len(values))
    return max(scatter, _NARROWEST * max(map(abs, values)))


def _log_density(value: float, middle: float, width: float) -> float:
    return -math.log(width) - 0.5 * (math.log(2 * math.pi) + ((value - middle) / width) ** 2)
