"""The intervals and p-values of pairs: paired t for a fixed plan, mixture t for a growing number.

The mixture t has intervals and p-values that hold whenever somebody looks at the pairs. A normal
prior with ``width`` standard deviations of d weighs the mean of d under test. The resulting e-value
bounds the error over all looks, without a last look: a run may stop, resume and continue.

The module also has the quantiles of Student's t, and the adjusted p-values of several series.

Sources: Lai, Annals of Statistics 4 (1976); Wang & Ramdas, arXiv 2310.03722.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from tidemark.figures.verdicts.pairs import Estimate

# A double has 53 binary digits.
_BISECTIONS = 60


def p_value(t: float, freedom: int) -> float:
    """Return the probability that Student's t is farther from zero than ``t``.

    Source: Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan(abs(t) / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term = cosine if odd else 1.0
    terms = 0.0
    for index in range(2 + odd, freedom + 1, 2):
        terms += term
        term *= cosine * cosine * (index - 1) / index
    within = 2 / math.pi * (angle + math.sin(angle) * terms) if odd else math.sin(angle) * terms
    return max(0.0, 1 - within)


@lru_cache(maxsize=10_000)
def quantile(alpha: float, freedom: int) -> float:
    """Return the bound that |t| of Student exceeds with probability ``alpha``."""
    low, high = 0.0, 1.0
    while p_value(high, freedom) > alpha:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, freedom) > alpha else (low, middle)
    return high


def _mixture_half_width(pairs: Estimate, alpha: float, width: float) -> float:
    """Return the half of the interval of the mean of d, infinite if the pairs are too few."""
    count = pairs.kept
    if count < 2:
        return math.inf
    growth = 1 + count * width * width
    ratio = (growth / alpha**2) ** (1 / count)
    if ratio >= growth:
        return math.inf
    factor = (count - 1) * (ratio - 1) / (count * (1 - ratio / growth))
    return pairs.error * math.sqrt(count * factor)


def _mixture_p_value(pairs: Estimate, width: float) -> float:
    """Return the inverse of the e-value against a mean of zero, 1 at most."""
    count, prior = pairs.kept, 1 / (width * width)
    of_mean = count * pairs.mean * pairs.mean
    squares = pairs.scatter + of_mean
    if not squares:
        return 1.0
    whole = (count + prior) * squares
    logarithm = math.log(prior / (count + prior)) / 2
    logarithm += count / 2 * math.log(whole / (whole - count * of_mean))
    return math.exp(-max(0.0, logarithm))


HalfWidth = Callable[[Estimate, float], float]
"""A function that returns the half of the interval of the mean of d, at 1 - alpha."""


class Method(NamedTuple):
    """The p-value of a change and the intervals of one method."""

    name: str
    p_value: Callable[[Estimate], float]
    """The p-value against no change, which decides an alarm."""
    alarming: HalfWidth
    """The interval that excludes zero exactly if the p-value is at most alpha."""
    equivalence: HalfWidth
    """The interval that decides ``same``."""
    shown: HalfWidth
    """The interval that people read."""


def _t_half_width(pairs: Estimate, alpha: float) -> float:
    if pairs.kept < 2:
        return math.inf
    return quantile(alpha, pairs.kept - 1) * pairs.error


def _t_p_value(pairs: Estimate) -> float:
    if pairs.kept < 2 or not pairs.mean:
        return 1.0
    return p_value(pairs.mean / pairs.error, pairs.kept - 1) if pairs.error else 0.0


def _half_level_width(pairs: Estimate, alpha: float) -> float:
    return _t_half_width(pairs, alpha / 2)


def _half_level_p_value(pairs: Estimate) -> float:
    return min(1.0, 2 * _t_p_value(pairs))


PAIRED_T = Method("paired t", _t_p_value, _t_half_width, _t_half_width, _t_half_width)
"""Right for a number of pairs that was planned beforehand."""

MIXTURE_T = Method(
    "mixture t",
    partial(_mixture_p_value, width=1.5),
    partial(_mixture_half_width, width=1.5),
    partial(_mixture_half_width, width=0.7),
    partial(_mixture_half_width, width=1.0),
)
"""Right after every pair. The widths are those that decide soonest in docs/verdicts.md."""

CONFIRMING = MIXTURE_T._replace(
    p_value=partial(_mixture_p_value, width=1.0), alarming=MIXTURE_T.shown
)
"""Mixture t by the interval that people read: no confirmed change has an interval with zero."""

LAST_LOOK = Method(
    MIXTURE_T.name, _half_level_p_value, _half_level_width, _half_level_width, _half_level_width
)
"""Right for the last pair of a run, whose number was planned: paired t at half of each level.

The looks before it have spent far less than the other half.
"""


def equally(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of series that are decided one by one.

    Every series has the same share of the alarms. Source: Bonferroni.
    """
    return [min(1.0, len(p_values) * p_value) for p_value in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of series that are judged together, in their order.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted, least = [1.0] * len(p_values), 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        least = max(least, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, least)
    return adjusted
