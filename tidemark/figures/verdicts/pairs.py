"""Pairs of trials: in each repetition of a run, one trial of the base and one of the new version.

A pair counts as d = ln(new / base). Both trials of a repetition run close together, so that a slow
change of the machine cancels in d.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pairs:
    """The running sums of d over the pairs of two versions, for one metric."""

    count: int = 0
    total: float = 0.0
    """Σd."""
    squares: float = 0.0
    """Σd²."""

    @classmethod
    def of(cls, differences: list[float]) -> Pairs:
        """Return the sums of some differences d."""
        squares = sum(difference * difference for difference in differences)
        return cls(len(differences), sum(differences), squares)

    @property
    def mean(self) -> float:
        """The mean of d; zero without a pair."""
        return self.total / self.count if self.count else 0.0

    @property
    def scatter(self) -> float:
        """The sum of the squares of d around its mean."""
        # Rounding errors of equal differences must not give a number below zero.
        return max(0.0, self.squares - self.total * self.mean)

    @property
    def deviation(self) -> float:
        """The sample standard deviation of d (n - 1); zero for fewer than two pairs."""
        return math.sqrt(self.scatter / (self.count - 1)) if self.count > 1 else 0.0

    @property
    def error(self) -> float:
        """The standard error of the mean of d; zero for fewer than two pairs."""
        return self.deviation / math.sqrt(self.count) if self.count else 0.0

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(
            self.count + other.count, self.total + other.total, self.squares + other.squares
        )


Slices = tuple[Sequence[float], Sequence[float]]
"""The slices of the base and of the new version in a round, in the order of its blocks."""


def differences(base: Mapping[int, float], new: Mapping[int, float]) -> dict[int, float]:
    """Return d of each repetition that has a rate of both versions, by repetition, in order.

    ``base`` and ``new`` are the rates of the trials that count, by repetition. A rate of zero or
    less has no logarithm: it raises ValueError.
    """
    both = sorted(base.keys() & new.keys())
    return {repetition: _log_ratio(base[repetition], new[repetition]) for repetition in both}


def round_difference(base: Sequence[float], new: Sequence[float]) -> float:
    """Return d = ln(new / base) of one round, from both versions' slices in the order of blocks.

    ``base[n]`` and ``new[n]`` are the figures of the n-th measured slice of each version, without
    warm-up. A block that one version alone measured does not count. d is the median of the blocks'
    ln ratios, which a pause in a few slices does not move: docs/verdicts.md compares other means.

    Raises
    ------
    ValueError
        If no block has both slices, or if a figure is not positive.

    """
    blocks = sorted(_log_ratio(one, other) for one, other in zip(base, new, strict=False))
    if not blocks:
        raise ValueError("slices: no block has a slice of both versions; expected one or more")
    half = len(blocks) // 2
    return (blocks[half] + blocks[~half]) / 2


def in_round(base: float, new: float, slices: Slices) -> float:
    """Return the rate of a new version that differs from the base's by the d of their round.

    ``slices`` are those of both versions. Without slices it is ``new`` itself.
    """
    return base * math.exp(round_difference(*slices)) if all(slices) else new


def _log_ratio(base: float, new: float) -> float:
    return math.log(new) - math.log(base)
