"""Noises of trials, from which the benchmark of verdicts makes pairs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from statistics import NormalDist

Pairs = Iterator[float]
"""The d = ln(new / base) of one repetition after another, without end."""
Noise = Callable[[random.Random, float], Pairs]
"""A function of a source of chance and the standard deviation of d; nothing changed in its d."""
Trial = Callable[[random.Random], float]
"""A function that draws ln(rate) of a trial, with the mean 0 and the standard deviation 1."""

# A run of 30 repetitions drifts by 20 %, and goes on so.
_DRIFT, _REPETITIONS = 0.2, 30
_CORRELATION = 0.6
_ALIKE, _NOISIER = math.sqrt(0.5), 0.9
"""The share of one version's noise in the standard deviation of d."""


def normal(chance: random.Random, scatter: float) -> Pairs:
    """Yield independent normal pairs."""
    while True:
        yield chance.gauss(0, scatter)


def unlike(base: Trial, new: Trial, of_new: float, chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs of versions with their own noise; ``of_new`` is the new one's share of it."""
    of_base = math.sqrt(1 - of_new * of_new)
    while True:
        yield scatter * (of_new * new(chance) - of_base * base(chance))


def steady(chance: random.Random) -> float:
    """Draw from the normal distribution."""
    return chance.gauss(0, 1)


def slow_tail(chance: random.Random) -> float:
    """Draw a trial; a few trials are far slower than most."""
    return (math.exp(0.5) - chance.lognormvariate(0, 1)) / math.sqrt(math.e * (math.e - 1))


def both_tails(chance: random.Random) -> float:
    """Draw from Student's t of three degrees of freedom."""
    freedom = 3
    chi_square = chance.gammavariate(freedom / 2, 2)
    return chance.gauss(0, 1) / math.sqrt(chi_square / (freedom - 2))


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


def correlated(by: float, chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs that resemble the pair before, with a correlation of ``by``."""
    pair = chance.gauss(0, scatter)
    while True:
        yield pair
        pair = by * pair + chance.gauss(0, scatter * math.sqrt(1 - by * by))


def with_bad_pair(chance: random.Random, scatter: float) -> Pairs:
    """Yield normal pairs, one of the first ten five deviations too slow."""
    bad = chance.randrange(10)
    for repetition in count():
        yield chance.gauss(0, scatter) - 5 * scatter * (repetition == bad)


def off_by_two(chance: random.Random, scatter: float) -> Pairs:
    """Yield normal pairs, one of the first twelve twice as fast or half as fast."""
    bad, off = chance.randrange(12), chance.choice((-1, 1)) * math.log(2)
    for repetition in count():
        yield chance.gauss(0, scatter) + off * (repetition == bad)


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
    "lognormal": partial(unlike, slow_tail, slow_tail, _ALIKE),
    "AR(1)": autoregressive,
    "bimodal": bimodal,
    "20 % drift": drifting,
}
"""Noises that both versions share."""

CORRELATED, CLOSELY, WITH_BAD_PAIR = "pairs AR(1) 0.3", "pairs AR(1) 0.5", "one bad pair"
UNLIKE: dict[str, Noise] = {
    "new lognormal": partial(unlike, steady, slow_tail, _ALIKE),
    "base lognormal": partial(unlike, slow_tail, steady, _ALIKE),
    "new lognormal, quiet base": partial(unlike, steady, slow_tail, _NOISIER),
    "base lognormal, quiet new": partial(
        unlike, slow_tail, steady, math.sqrt(1 - _NOISIER * _NOISIER)
    ),
    "new t3": partial(unlike, steady, both_tails, _ALIKE),
    CORRELATED: partial(correlated, 0.3),
    CLOSELY: partial(correlated, 0.5),
    WITH_BAD_PAIR: with_bad_pair,
    "one pair off by a factor of 2": off_by_two,
}
"""Noises that are not alike: of one version alone, of one pair, or from pair to pair.

The other version is normal, with the same standard deviation or, if it is quiet, half of it.
"""


def of_p99(requests: int, chance: random.Random, scatter: float) -> Pairs:
    """Yield pairs of the p99 of as many lognormal latencies, on a machine that scatters beside.

    ``scatter`` is the standard deviation of d that the machine adds. The p99 lies between two order
    statistics: the lower one is drawn from its beta distribution, and the other from its own.
    """
    place = 0.99 * (requests - 1)
    rank, part = math.floor(place) + 1, place % 1
    latency = NormalDist()

    def p99() -> float:
        below = chance.betavariate(rank, requests + 1 - rank)
        above = 1 - (1 - below) * chance.random() ** (1 / (requests - rank))
        low, high = (math.exp(latency.inv_cdf(each)) for each in (below, above))
        return math.log(low + (high - low) * part)

    while True:
        yield p99() - p99() + chance.gauss(0, scatter)
