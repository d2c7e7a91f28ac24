"""The change of a share or of a time between the trials of two versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.verdicts import methods

CONFIDENCE = 0.95
FEWEST = 2
"""The fewest trials of each version that tell a change from their scatter."""


class TrialValues(NamedTuple):
    """The values of one version, one for each trial."""

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
    error. Source of the test: Welch, "The generalization of Student's problem", Biometrika 34
    (1947), with the degrees of freedom rounded down.
    """
    if min(len(base.values), len(new.values)) < FEWEST:
        return TrialChange(base.mean, new.mean, None, 1.0)
    errors = base.squared_error, new.squared_error
    error = math.sqrt(sum(errors))
    difference = new.mean - base.mean
    if not error:
        return TrialChange(base.mean, new.mean, 0.0, 0.0 if difference else 1.0)
    freedom = _freedom(errors, (len(base.values), len(new.values)))
    half_width = methods.quantile(1 - CONFIDENCE, freedom) * error
    return TrialChange(
        base.mean, new.mean, half_width, methods.p_value(difference / error, freedom)
    )


def _freedom(errors: Sequence[float], trials: Sequence[int]) -> int:
    parts = sum(each**2 / (n - 1) for each, n in zip(errors, trials, strict=True))
    return int(sum(errors) ** 2 / parts)
