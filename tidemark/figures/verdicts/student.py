"""Student's t for whole degrees of freedom, in pure Python."""

from __future__ import annotations

import math
from functools import lru_cache

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
    """Return the t that Student's t is farther from zero than with probability ``alpha``."""
    low, high = 0.0, 1.0
    while p_value(high, freedom) > alpha:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, freedom) > alpha else (low, middle)
    return high
