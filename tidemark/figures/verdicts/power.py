"""Further pairs: the change that they would find, the pairs that are missing, and hopeless pairs.

Each figure takes the mean and scatter so far as the true ones.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial

from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import EQUIVALENCE, Criteria
from tidemark.model.run_spec import FEWEST

POWER = 0.8
"""The share of runs that find a detectable change, or decide after the missing pairs."""
# The standard normal quantile of 0.8; importing ``statistics`` would double a handler's start.
_QUANTILE = 0.8416212335729143
_HOPELESS_FROM = 8
"""Pairs; before them the scatter is not known well enough to give up."""


def detectable(pairs: Pairs, criteria: Criteria) -> float | None:
    """Return the change that as many pairs find in four cases of five; None if there is none.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2, sample sizes from the power.
    """
    half = criteria.method.alarming(pairs, criteria.alpha)
    if pairs.count < FEWEST or math.isinf(half):
        return None
    return max(criteria.margins.alarm, math.expm1(half + _QUANTILE * pairs.error))


def missing(pairs: Pairs, criteria: Criteria, most: int) -> int | None:
    """Return the pairs still needed for a verdict in four cases of five, None if above ``most``."""
    if pairs.count < FEWEST:
        return FEWEST - pairs.count
    counts = range(pairs.count + 1, most + 1)
    enough = bisect_left(
        counts, POWER, key=lambda count: _decided(_pairs_like(pairs, count), criteria)
    )
    return enough + 1 if enough < len(counts) else None


def is_hopeless(pairs: Pairs, criteria: Criteria, most: int) -> bool:
    """Tell whether even ``most`` pairs would give no verdict.

    The mean may lie one standard error to either side, and the scatter at its lower 80 % bound.
    """
    if pairs.count < _HOPELESS_FROM:
        return False
    scatter = pairs.deviation * _lower_scatter(pairs.count - 1)
    nearest = max(0.0, abs(pairs.mean) - pairs.error)
    farthest = abs(pairs.mean) + pairs.error
    same = _pairs(most, nearest, scatter)
    if criteria.method.equivalence(same, EQUIVALENCE) + nearest <= math.log1p(
        criteria.margins.same
    ):
        return False
    alarm = _pairs(most, farthest, scatter)
    needed = max(
        criteria.method.alarming(alarm, criteria.alpha), math.log1p(criteria.margins.alarm)
    )
    return farthest < needed


def _decided(pairs: Pairs, criteria: Criteria) -> float:
    """Return how often such pairs have a verdict: an alarm, or the same."""
    if not pairs.error:
        return 1.0
    alarm = max(criteria.method.alarming(pairs, criteria.alpha), math.log1p(criteria.margins.alarm))
    same = max(
        0.0, math.log1p(criteria.margins.same) - criteria.method.equivalence(pairs, EQUIVALENCE)
    )
    same = min(same, alarm)
    below = partial(_below, pairs)
    return 1 - below(alarm) + below(same) - below(-same) + below(-alarm)


def _below(pairs: Pairs, bound: float) -> float:
    """Return how often the mean of such pairs lies below a bound."""
    return (1 + math.erf((bound - pairs.mean) / pairs.error / math.sqrt(2))) / 2


def _pairs_like(pairs: Pairs, count: int) -> Pairs:
    return _pairs(count, pairs.mean, pairs.deviation)


def _pairs(count: int, mean: float, deviation: float) -> Pairs:
    squares = (count - 1) * deviation * deviation + count * mean * mean
    return Pairs(count, count * mean, squares)


def _lower_scatter(freedom: int) -> float:
    """Return the lower 80 % bound of a standard deviation, as a share of the estimate.

    Source: Wilson & Hilferty, PNAS 17 (1931), the quantile of chi-square.
    """
    spread = 2 / (9 * freedom)
    return math.pow(1 - spread + _QUANTILE * math.sqrt(spread), -1.5)
