"""Noises of trials, from which the benchmark of verdicts makes pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import count

Pairs = Iterator[float]
"""The d = ln(new / base) of one repetition after another, without end."""
Noise = Callable[[random.Random, float], Pairs]
"""A function of a source of chance and the standard deviation of d; nothing changed in its d."""

# A run of 30 repetitions drifts by 20 %, and goes on so.
_DRIFT, _REPETITIONS = 0.2, 30
_CORRELATION = 0.6


def normal(chance: random.Random, scatter: float) -> Pairs:
    """Yield independent normal pairs."""
    while True:
        yield chance.gauss(0, scatter)


def lognormal(chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs of trials of which a few are far slower than most."""
    shape = 1.0
    deviation = math.sqrt((math.exp(shape) - 1) * math.exp(shape))

    def trial() -> float:
        return -chance.lognormvariate(0, math.sqrt(shape)) / deviation * scatter / math.sqrt(2)

    while True:
        yield trial() - trial()


def autoregressive(chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs of trials that resemble the trial before: AR(1), φ 0.6, in order of time."""
    step = scatter * math.sqrt((1 - _CORRELATION**2) / (2 * (1 - _CORRELATION)))
    state = chance.gauss(0, step / math.sqrt(1 - _CORRELATION**2))
    while True:
        trials = []
        for _ in range(2):
            state = _CORRELATION * state + chance.gauss(0, step)
            trials.append(state)
        yield _shuffled(chance, trials)


def bimodal(chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs of trials on two levels: six of ten are fast."""
    apart = scatter * 0.9 / math.sqrt(2 * 0.6 * 0.4)
    within = scatter * math.sqrt((1 - 0.9**2) / 2)

    def trial() -> float:
        return (apart if chance.random() < 0.6 else 0.0) + chance.gauss(0, within)

    while True:
        yield trial() - trial()


def drifting(chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs on a machine that becomes slower, trial by trial."""
    step = math.log1p(-_DRIFT) / (2 * _REPETITIONS)
    for repetition in count():
        trials = [
            step * (2 * repetition + place) + chance.gauss(0, scatter / math.sqrt(2))
            for place in range(2)
        ]
        yield _shuffled(chance, trials)


def _shuffled(chance: random.Random, trials: list[float]) -> float:
    """Return the d of a repetition whose versions ran in random order."""
    first, second = trials
    return second - first if chance.random() < 0.5 else first - second


NOISES: dict[str, Noise] = {
    "normal": normal,
    "lognormal": lognormal,
    "AR(1)": autoregressive,
    "bimodal": bimodal,
    "20 % drift": drifting,
}
