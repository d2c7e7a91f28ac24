"""The change between two versions whose trials are not pairs, by Welch's t.

Sources: Welch, Biometrika 34 (1947), and Satterthwaite, Biometrics Bulletin 2 (1946).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.verdicts.intervals import p_value, quantile
from tidemark.figures.verdicts.rule import SHOWN, Judgement
from tidemark.figures.version_rates import mean, spread

APART = "different runs measured the versions"
CONFIDENCE = 0.95
FEWEST = 2
"""The fewest trials of each version that tell a change from their scatter."""
# A quotient of sums is less than its whole number by a rounding error.
_ROUNDING = 1e-6


def judge_apart(base: Sequence[float], new: Sequence[float], reason: str = APART) -> Judgement:
    """Return ``cannot tell`` with the change and its interval, from the rates of both sides.

    Runs differ by more than their trials, by how much is not known: the interval is too narrow.
    """
    effect = low = high = None
    if base and new and min(*base, *new) > 0:
        before, after = ([math.log(rate) for rate in side] for side in (base, new))
        middle = mean(after) - mean(before)
        effect = math.expm1(middle)
        if min(len(base), len(new)) >= FEWEST:
            half = _half_width(before, after)
            low, high = math.expm1(middle - half), math.expm1(middle + half)
    return Judgement(
        word="cannot tell",
        reason=reason,
        method="Welch",
        effect=effect,
        low=low,
        high=high,
        pairs=0,
    )


def _half_width(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the half of the interval of a difference of means of two values or more each."""
    errors = [(spread(side) or 0.0) ** 2 / len(side) for side in (before, after)]
    if not sum(errors):
        return 0.0
    freedom = _freedom(errors, (len(before), len(after)))
    return quantile(SHOWN, freedom) * math.sqrt(sum(errors))


def _freedom(errors: Sequence[float], trials: Sequence[int]) -> int:
    """Return the degrees of freedom of two squared errors of means, rounded down."""
    parts = sum(each * each / (n - 1) for each, n in zip(errors, trials, strict=True))
    return max(1, math.floor(sum(errors) ** 2 / parts + _ROUNDING))


class TrialValues(NamedTuple):
    """The shares or times of one version, one for each trial."""

    values: Sequence[float]
    least_error: float
    """The standard error of their mean that chance alone gives."""

    @property
    def mean(self) -> float:
        """The mean over the trials."""
        return math.fsum(self.values) / len(self.values)

    @property
    def squared_error(self) -> float:
        """The squared standard error of the mean, from the trials' scatter and from chance."""
        number, mean = len(self.values), self.mean
        squares = math.fsum((value - mean) ** 2 for value in self.values)
        return max(squares / (number - 1) / number, self.least_error**2)


class TrialChange(NamedTuple):
    """The means of two versions, and the interval of their difference, None without one."""

    base: float
    new: float
    half_width: float | None
    p_value: float
    """The p-value against no change, 1 where the trials do not tell."""

    @property
    def difference(self) -> float:
        """The difference new - base."""
        return self.new - self.base

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the difference's interval, None without one."""
        if self.half_width is None:
            return None
        return self.difference - self.half_width, self.difference + self.half_width


def change(base: TrialValues, new: TrialValues) -> TrialChange:
    """Return the change between two versions; each trial is one unit.

    The samples of a trial are not independent of each other, so their number tells only the least
    error.
    """
    trials = len(base.values), len(new.values)
    if min(trials) < FEWEST:
        return TrialChange(base.mean, new.mean, None, 1.0)
    errors = base.squared_error, new.squared_error
    error, difference = math.sqrt(sum(errors)), new.mean - base.mean
    if not error:
        return TrialChange(base.mean, new.mean, 0.0, 0.0 if difference else 1.0)
    freedom = _freedom(errors, trials)
    half_width = quantile(1 - CONFIDENCE, freedom) * error
    return TrialChange(base.mean, new.mean, half_width, p_value(difference / error, freedom))
