"""Further pairs: the change that they would find, the pairs that are missing, and hopeless pairs.

Each figure takes the mean and scatter so far for the true mean and scatter.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial

from tidemark.figures.verdicts.pairs import Estimate, Pairs
from tidemark.figures.verdicts.rule import EQUIVALENCE, Criteria
from tidemark.model.run_spec import FEWEST

POWER = 0.8
"""The share of runs that find a detectable change, or decide after the missing pairs."""
# The standard normal quantile of 0.8; importing ``statistics`` would double a handler's start.
_QUANTILE = 0.8416212335729143
# The mean of the part above zero of a standard normal variable, 1 / sqrt(2 pi).
_MEAN_ABOVE_ZERO = 0.3989422804014327
_KNOWN_FROM = 3
"""Pairs; fewer have no scatter to speak of."""
_HOPELESS_FROM = 8
"""Pairs; before them the scatter is not known well enough to give up."""


def detectable(pairs: Pairs, criteria: Criteria) -> float | None:
    """Return the least change that the pairs find in four cases of five, None if they are too few.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2, sample sizes from the power.
    """
    if pairs.count < FEWEST:
        return None
    estimate = _like(pairs.estimate, pairs.count)
    half = criteria.at(pairs.count).alarming(estimate, criteria.alpha)
    if math.isinf(half):
        return None
    return max(criteria.margins.alarm, math.expm1(half + _QUANTILE * estimate.error))


def missing(pairs: Pairs, criteria: Criteria) -> int | None:
    """Return the pairs still needed for a verdict in four cases of five.

    Return None if even the most pairs of the criteria are too few. Three pairs give a first idea of
    their scatter; fewer say only how many a verdict takes at least.
    """
    least = max(0, FEWEST - pairs.count)
    if pairs.count < _KNOWN_FROM:
        return least
    estimate, counts = pairs.estimate, range(pairs.count + max(1, least), criteria.most + 1)
    enough = bisect_left(
        counts, POWER, key=lambda count: _decided(_like(estimate, count), criteria)
    )
    if enough < len(counts):
        return counts[enough] - pairs.count
    return None if pairs.count >= FEWEST else max(least, criteria.most - pairs.count)


def is_hopeless(pairs: Estimate, criteria: Criteria) -> bool:
    """Tell whether even the most pairs of the criteria would give no verdict.

    The mean may lie one standard error to either side, and the scatter at its lower 80 % bound.
    """
    if pairs.count < _HOPELESS_FROM:
        return False
    farthest = abs(pairs.mean) + pairs.error
    alarm = _of_most(pairs, criteria, farthest)
    half = criteria.at(criteria.most).alarming(alarm, criteria.alpha)
    needed = max(half, math.log1p(criteria.margins.alarm))
    return farthest < needed and not may_be_same(pairs, criteria)


def may_be_same(pairs: Estimate, criteria: Criteria) -> bool:
    """Tell whether the most pairs of the criteria may show that nothing changed."""
    nearest = max(0.0, abs(pairs.mean) - pairs.error)
    same = _of_most(pairs, criteria, nearest)
    half = criteria.at(criteria.most).equivalence(same, EQUIVALENCE)
    return half + nearest <= math.log1p(criteria.margins.same)


def _of_most(pairs: Estimate, criteria: Criteria, mean: float) -> Estimate:
    """Return the most pairs of the criteria with another mean, at the lower bound of scatter."""
    scatter = pairs.deviation * _lower_scatter(pairs.kept - 1)
    return Estimate(criteria.most, criteria.most, mean, scatter, pairs.inflation)


def _decided(pairs: Estimate, criteria: Criteria) -> float:
    """Return how often such pairs have a verdict: an alarm, or the same."""
    if not pairs.error:
        return 1.0
    method = criteria.at(pairs.count)
    alarm = max(method.alarming(pairs, criteria.alpha), math.log1p(criteria.margins.alarm))
    within = math.log1p(criteria.margins.same) - method.equivalence(pairs, EQUIVALENCE)
    same = min(max(0.0, within), alarm)
    below = partial(_below, pairs)
    return 1 - below(alarm) + below(same) - below(-same) + below(-alarm)


def _below(pairs: Estimate, bound: float) -> float:
    """Return how often the mean of such pairs lies below a bound."""
    return (1 + math.erf((bound - pairs.mean) / pairs.error / math.sqrt(2))) / 2


def _like(pairs: Estimate, count: int) -> Estimate:
    """Return as many pairs with the same mean and scatter.

    Their error is found to be about so much greater even if no pair resembles the one before: the
    correlation of neighbours has a standard error of ``1 / sqrt(count)``, and counts above zero.
    """
    correlation = _MEAN_ABOVE_ZERO / math.sqrt(count)
    by_chance = math.sqrt((1 + correlation) / (1 - correlation))
    return Estimate(count, count, pairs.mean, pairs.deviation, max(pairs.inflation, by_chance))


def _lower_scatter(freedom: int) -> float:
    """Return the lower 80 % bound of a standard deviation, as a share of the estimate.

    Source: Wilson & Hilferty, PNAS 17 (1931), the quantile of chi-square.
    """
    spread = 2 / (9 * freedom)
    return math.pow(1 - spread + _QUANTILE * math.sqrt(spread), -1.5)
