"""Simulated profiles of versions without a change; the benchmark counts the told functions."""

from __future__ import annotations

import random

from tests.checks.bench.noises import Trial, slow_tail, steady
from tidemark.figures.profiles.growth import ALPHA
from tidemark.figures.verdicts.intervals import holm
from tidemark.figures.verdicts.welch import TrialValues, change

_FUNCTIONS, _SCATTER = 40, 0.1

FunctionNoise = tuple[Trial, Trial, float]
"""The noises of base and new, and the standard deviation of the base as a share of the other."""
NOISES: dict[str, tuple[FunctionNoise, float]] = {
    "normal": ((steady, steady, 1.0), 100 * ALPHA),
    "new lognormal": ((steady, slow_tail, 1.0), 10),
    "new lognormal, quiet base": ((steady, slow_tail, 0.3), 0),
}
"""The noises, and the limits of the shares of comparisons [%], 0 for no limit."""


def any_told(noise: FunctionNoise, profiles: int, chance: random.Random) -> bool:
    """Tell whether any of forty functions with noise of their own is said to have changed."""
    base, new, quiet = noise
    p_values = [
        change(
            _side(chance, base, quiet * _SCATTER, profiles), _side(chance, new, _SCATTER, profiles)
        ).p_value
        for _ in range(_FUNCTIONS)
    ]
    return min(holm(p_values)) <= ALPHA


def _side(chance: random.Random, noise: Trial, scatter: float, profiles: int) -> TrialValues:
    return TrialValues([1 - scatter * noise(chance) for _ in range(profiles)], 0.0)
