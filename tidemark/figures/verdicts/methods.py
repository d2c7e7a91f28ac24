"""The methods that judge pairs: paired t for a fixed plan, mixture t for pairs that may go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tidemark.figures.verdicts import mixture, student
from tidemark.figures.verdicts.pairs import Pairs

HalfWidth = Callable[[Pairs, float], float]
"""A function that returns the half of the interval of the mean of d, at 1 - alpha."""


class Method(NamedTuple):
    """The p-value of a change and the intervals of one method."""

    name: str
    p_value: Callable[[Pairs], float]
    """The p-value against no change, which decides an alarm."""
    alarming: HalfWidth
    """The interval that excludes zero exactly if the p-value is at most alpha."""
    equivalence: HalfWidth
    """The interval that decides ``same``."""
    shown: HalfWidth
    """The interval that people read."""


def _half_width(pairs: Pairs, alpha: float) -> float:
    if pairs.count < 2:
        return math.inf
    return student.quantile(alpha, pairs.count - 1) * pairs.error


def _p_value(pairs: Pairs) -> float:
    if pairs.count < 2 or not pairs.total:
        return 1.0
    return student.p_value(pairs.mean / pairs.error, pairs.count - 1) if pairs.error else 0.0


PAIRED_T = Method("paired t", _p_value, _half_width, _half_width, _half_width)
"""Right for a number of pairs that was planned beforehand."""

MIXTURE_T = Method(
    "mixture t",
    partial(mixture.p_value, width=1.5),
    partial(mixture.half_width, width=1.5),
    partial(mixture.half_width, width=0.7),
    partial(mixture.half_width, width=1.0),
)
"""Right after every pair. The widths are those that decide soonest in docs/verdicts.md."""

CONFIRMING = MIXTURE_T._replace(
    p_value=partial(mixture.p_value, width=1.0), alarming=MIXTURE_T.shown
)
"""Mixture t by the interval that people read: no confirmed change has an interval with zero."""
