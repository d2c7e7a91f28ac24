"""Whether one version is faster than another, as far as the trials of both can tell."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from lambdas.summary import change, mean, spread
from suites.model import MOST_REPETITIONS
from suites.numerals import percent

# A change this small is none that anybody would hold a release up for: the margin of equivalence.
SAME = 0.05
# The same in words.
WITHIN = f"±{percent(SAME, places=0)}"
# The share of intervals of 95 % that leave out what is true.
_BY_CHANCE = 0.05
# How often the trials that are advised shall tell, and the same in words.
_POWER = 0.8
TELLS = "would tell in four cases of five, if rates change and scatter as they did"
# Student's t, two-sided 95 %, by degrees of freedom; between two of them the larger quantile holds.
# Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
_STUDENT = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
    10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110,
    18: 2.101, 19: 2.093, 20: 2.086, 21: 2.080, 22: 2.074, 23: 2.069, 24: 2.064, 25: 2.060,
    26: 2.056, 27: 2.052, 28: 2.048, 29: 2.045, 30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980,
}  # fmt: skip

Said = Literal["faster", "slower", "same", "cannot tell"]


@dataclass(frozen=True)
class Verdict:
    """How a metric changed from the base to the new version."""

    said: Said
    change: float | None
    """Of the means, 0.1 being 10 % more; None if the mean of the base is zero, or a rate below."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the change; None if there is none."""
    reason: str = ""
    """Why it cannot be told, '' if it can."""
    trials: int | None = None
    """Of each version, about how many would tell in four cases of five; None if it can be told
    already, or would take more than a run may have."""


def verdict(base: Sequence[float], new: Sequence[float], direction: str) -> Verdict:
    """Return what the rates of the trials of two versions tell, at least one of each.

    The interval is that of the logarithm of the ratio of both means, by the delta method, with
    Student's t and the degrees of freedom of Welch and Satterthwaite; rates below zero have none,
    and no interval of others reaches a loss of everything. A change whose interval lies within
    ``SAME`` of zero is ``same``, for what is below that margin is no finding however sure it is;
    another is ``faster`` or ``slower`` if its interval leaves out zero.

    Source of the margin: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987),
    two one-sided tests, here of 2.5 % each.
    """
    before, after = mean(base), mean(new)
    changed = change(before, after)
    if changed is None:
        return Verdict("cannot tell", None, reason="the rate of the base is zero")
    if min(*base, *new) < 0:
        return Verdict("cannot tell", None, reason="a rate is below zero")
    base_spread, new_spread = spread(base), spread(new)
    if base_spread is None or new_spread is None:
        return Verdict("cannot tell", changed, reason="one trial shows no spread", trials=3)
    # The variance of each side's part in new / base.
    of_base = _square(after / before * base_spread / before) / len(base)
    of_new = _square(new_spread / before) / len(new)
    error = math.sqrt(of_base + of_new)
    ratio = 1 + changed
    # What no figure holds is no number, and tells nothing.
    scale = ratio or 1.0
    half = student(_freedom((of_base, len(base)), (of_new, len(new)))) * error / scale
    low, high = ratio * math.exp(-half) - 1, ratio * math.exp(half) - 1
    if low >= -SAME and high <= SAME:
        return Verdict("same", changed, low, high)
    if low > 0 or high < 0:
        better = (changed > 0) == (direction == "higher")
        return Verdict("faster" if better else "slower", changed, low, high)
    deviation = math.sqrt(of_base * len(base) + of_new * len(new)) / scale
    needed = _trials(max(len(base), len(new)), math.log(scale), deviation)
    return Verdict("cannot tell", changed, low, high, "the trials scatter too much", needed)


def by_chance(verdicts: Iterable[Verdict | None]) -> str:
    """Return how many of several verdicts chance alone may make, '' if none has an interval.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.4.7: each of several comparisons
    holds at its own level, and all of them at none.
    """
    judged = sum(one is not None and one.low is not None for one in verdicts)
    if not judged:
        return ""
    return (
        f"Each verdict holds at 95 % by itself: with {judged:,} judged, up to "
        f"{round(_BY_CHANCE * judged, 2):,g} would be called faster or slower by chance alone if "
        "nothing had changed."
    )


def student(freedom: float) -> float:
    """Return the quantile of Student's t for a two-sided 95 %; at least one degree of freedom."""
    known = list(_STUDENT)
    return _STUDENT[known[max(0, bisect_right(known, freedom) - 1)]]


def _freedom(*sides: tuple[float, int]) -> float:
    """Return the degrees of freedom of a sum of variances of means, each of so many trials.

    Source: Welch, Biometrika 34 (1947), and Satterthwaite, Biometrics Bulletin 2 (1946).
    """
    total = sum(variance for variance, _ in sides)
    parts = sum(_square(variance) / (trials - 1) for variance, trials in sides)
    # What is a whole number but for its last bits is that number.
    return round(_square(total) / parts, 6) if parts else 1.0


def _square(number: float) -> float:
    """Return a square, infinite where no figure holds it; ``**`` would raise."""
    return number * number


def _trials(measured: int, moved: float, deviation: float) -> int | None:
    """Return of how many trials each, more than were measured, so many as shall would tell.

    ``moved`` is the logarithm of the ratio of both means, and ``deviation`` its standard deviation
    for one trial each: both are taken for those of the versions. None for more than a run may have.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2, sample sizes from the power.
    """
    more = range(measured + 1, MOST_REPETITIONS + 1)
    return next(
        (n for n in more if _untold(moved, deviation / math.sqrt(n), 2 * n - 2) <= 1 - _POWER),
        None,
    )


def _untold(moved: float, error: float, freedom: int) -> float:
    """Return how often an interval neither lies within ``SAME`` nor leaves out zero.

    That is one whose middle, with this standard error about ``moved``, is at most half its width
    from zero, and yet too far for ``SAME``.
    """
    half = student(freedom) * error
    near = max(0.0, SAME - half)
    if near >= half:
        return 0.0
    middle = NormalDist(moved, error)
    return middle.cdf(half) - middle.cdf(near) + middle.cdf(-near) - middle.cdf(-half)
