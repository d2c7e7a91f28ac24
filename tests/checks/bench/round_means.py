"""``python -m tests.checks.bench.round_means``: choose the mean of a round's blocks by simulation.

A round has a d = ln(new / base) for each block of two slices. The program compares four means of
them under eight noises of slices and writes the table of docs/verdicts.md.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from statistics import fmean, median, pstdev

from tests.checks.bench.noises import both_tails, slow_tail, steady
from tests.checks.docs import write_part
from tidemark.figures.verdicts.pairs import round_difference

ROUNDS, BLOCKS, SCATTER = 4_000, (8, 12, 20), 0.05
_OFTEN, _SLOWED = 0.1, math.log(2)

Slices = Callable[[random.Random, int], Sequence[float]]
"""A function that returns d of each block of a round; the mean of its noise is 0."""


def _each(slice_of: Callable[[random.Random], float]) -> Slices:
    """Return the blocks of slices that do not depend on one another."""
    return lambda chance, blocks: [
        SCATTER * (slice_of(chance) - slice_of(chance)) for _ in range(blocks)
    ]


def _slowed(chance: random.Random) -> float:
    """Draw a slice; one in ten takes twice as long."""
    return steady(chance) - (chance.random() < _OFTEN) * _SLOWED / SCATTER


def _bimodal(chance: random.Random) -> float:
    """Draw a slice at one of two levels that lie four deviations apart."""
    return steady(chance) + 4 * (chance.random() < 0.5)


def _in_turns(series: Callable[[random.Random], Iterator[float]]) -> Slices:
    """Return the blocks of slices that follow one another, in random order within each block."""

    def blocks(chance: random.Random, count: int) -> Sequence[float]:
        slices = series(chance)
        signs = (chance.choice((-1, 1)) for _ in range(count))
        return [sign * (next(slices) - next(slices)) for sign in signs]

    return blocks


def _autoregressive(chance: random.Random) -> Iterator[float]:
    """Yield slices that resemble the slice before by a correlation of 0.6."""
    state = chance.gauss(0, SCATTER)
    while True:
        yield state
        state = 0.6 * state + chance.gauss(0, 0.8 * SCATTER)


def _drifting(chance: random.Random) -> Iterator[float]:
    """Yield slices of a machine that becomes slower by 2 % with each slice."""
    level = 0.0
    while True:
        yield level + chance.gauss(0, SCATTER)
        level -= 0.02


def _new_slowed(chance: random.Random, blocks: int) -> Sequence[float]:
    """Return blocks in which one slice in ten of the new version alone takes twice as long."""
    return [SCATTER * (_slowed(chance) - steady(chance)) for _ in range(blocks)]


NOISES: dict[str, Slices] = {
    "normal": _each(steady),
    "slow lognormal tail": _each(slow_tail),
    "t, 3 degrees of freedom": _each(both_tails),
    "one slice in ten slowed by 2": _each(_slowed),
    "AR(1) 0.6": _in_turns(_autoregressive),
    "two levels": _each(_bimodal),
    "2 % slower with each slice": _in_turns(_drifting),
    "one slice in ten slowed by 2, new version alone": _new_slowed,
}


def trimmed(differences: Sequence[float]) -> float:
    """Return the mean without the least and the greatest 20 %."""
    cut = len(differences) // 5
    return fmean(sorted(differences)[cut : len(differences) - cut])


def hodges_lehmann(differences: Sequence[float]) -> float:
    """Return the median of the means of all two of some differences, each with itself, too.

    Source: Hodges & Lehmann, Annals of Mathematical Statistics 34 (1963).
    """
    return median(sum(two) / 2 for two in combinations_with_replacement(differences, 2))


def shipped(differences: Sequence[float]) -> float:
    """Return the d that a run takes from blocks with these differences."""
    return round_difference([1.0] * len(differences), [math.exp(d) for d in differences])


MEANS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": shipped,
    "20 % trimmed": trimmed,
    "Hodges–Lehmann": hodges_lehmann,
}


def rows(rounds: int) -> Iterator[str]:
    """Yield a row of a Markdown table for each noise, number of blocks and mean."""
    for name, noise in NOISES.items():
        for blocks in BLOCKS:
            chance = random.Random(20261127)
            drawn = [noise(chance, blocks) for _ in range(rounds)]
            cells = [_figures([mean(each) for each in drawn]) for mean in MEANS.values()]
            yield f"| {name} | {blocks} | {' | '.join(cells)} |\n"


def _figures(means: Sequence[float]) -> str:
    """Return bias, standard deviation and worst error of some means, in percent."""
    worst = max(map(abs, means))
    return f"{100 * fmean(means):+.1f} / {100 * pstdev(means):.1f} / {100 * worst:.0f}"


def main() -> None:
    """Simulate and write the table of the page."""
    heading = (
        f"\n| noise of slices | blocks | {' | '.join(MEANS)} |\n|---|--:|{'--:|' * len(MEANS)}\n"
    )
    table = heading + "".join(rows(ROUNDS))
    print(table)
    write_part("verdicts.md", "rounds", table + "\n")


if __name__ == "__main__":
    main()
