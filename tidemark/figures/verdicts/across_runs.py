"""The change between versions that different runs measured, which never has a verdict by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tidemark.figures.verdicts.methods import quantile
from tidemark.figures.verdicts.rule import SHOWN, Judgement
from tidemark.figures.version_rates import mean, spread

APART = "different runs measured the versions"


def judge_apart(base: Sequence[float], new: Sequence[float], reason: str = APART) -> Judgement:
    """Return ``cannot tell`` with the change and its interval, from the rates of both sides.

    Runs differ by more than their trials, by how much is not known: the interval is too narrow.
    Source: Welch, Biometrika 34 (1947), and Satterthwaite, Biometrics Bulletin 2 (1946).
    """
    effect = low = high = None
    if base and new and min(*base, *new) > 0:
        sides = [[math.log(rate) for rate in side] for side in (base, new)]
        middle = mean(sides[1]) - mean(sides[0])
        half = _half_width(sides)
        effect = math.expm1(middle)
        low, high = (
            (None, None) if half is None else (math.expm1(middle - half), math.expm1(middle + half))
        )
    return Judgement(
        word="cannot tell",
        reason=reason,
        method="Welch",
        effect=effect,
        low=low,
        high=high,
        pairs=0,
    )


def _half_width(sides: Sequence[Sequence[float]]) -> float | None:
    """Return the half of the interval of a difference of means; None if a side has no spread."""
    spreads = [spread(side) for side in sides]
    known = [each for each in spreads if each is not None]
    if len(known) < 2:
        return None
    parts = [each * each / len(side) for each, side in zip(known, sides, strict=True)]
    if not sum(parts):
        return 0.0
    squares = sum(part * part / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    freedom = max(1, math.floor(sum(parts) ** 2 / squares + 1e-6))
    return quantile(SHOWN, freedom) * math.sqrt(sum(parts))
