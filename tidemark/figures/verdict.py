"""Verdicts on the change of a metric between two versions, from the trials of both."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from tidemark.figures.summary import change, mean, spread
from tidemark.model.numerals import percent
from tidemark.model.suite import MOST_REPETITIONS

# The margin of equivalence: no release is held up for a smaller change. version_pairs.sql has the
# same rule in SQL, and a test compares both.
SAME = 0.05
# The same in words.
WITHIN = f"±{percent(SAME, places=0)}"
# The share of 95 % intervals that do not contain the true change.
_BY_CHANCE = 0.05
# The power: how often the advised number of trials gives a verdict, and the same in words.
_POWER = 0.8
TELLS = "would give a verdict in four cases of five if rates change and scatter as before"
# Student's t, two-sided 95 %, by degrees of freedom; between two of them the larger quantile
# applies.
# Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
_STUDENT = {
    1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
    10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110,
    18: 2.101, 19: 2.093, 20: 2.086, 21: 2.080, 22: 2.074, 23: 2.069, 24: 2.064, 25: 2.060,
    26: 2.056, 27: 2.052, 28: 2.048, 29: 2.045, 30: 2.042, 40: 2.021, 60: 2.000, 120: 1.980,
}  # fmt: skip

VerdictWord = Literal["faster", "slower", "same", "cannot tell"]


@dataclass(frozen=True)
class Verdict:
    """The verdict on the change of a metric from the base to the new version."""

    word: VerdictWord
    change: float | None
    """The change of the means, 0.1 being 10 %; None for a base of zero and rates below zero."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the change, from ``low``; None without an interval."""
    reason: str = ""
    """The reason for ``cannot tell``, '' for other verdicts."""
    trials: int | None = None
    """The trials per version that would give a verdict in four cases of five; None if there is a
    verdict already, or if a run may not have so many."""


def judge_change(base: Sequence[float], new: Sequence[float], direction: str) -> Verdict:
    """Return the verdict on the rates of the trials of two versions, at least one of each.

    The interval is that of the logarithm of the ratio of both means, by the delta method, with
    Student's t and the degrees of freedom of Welch and Satterthwaite. Rates below zero have no
    interval, and no interval reaches −100 %. A change is ``same`` if its interval lies within
    ``SAME`` of zero: a smaller change is no finding, however certain it is. Another change is
    ``faster`` or ``slower`` if its interval excludes zero.

    Source of the margin: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987),
    two one-sided tests, here of 2.5 % each.
    """
    before, after = mean(base), mean(new)
    delta = change(before, after)
    if delta is None:
        return Verdict("cannot tell", None, reason="the rate of the base is zero")
    if min(*base, *new) < 0:
        return Verdict("cannot tell", None, reason="a rate is below zero")
    base_spread, new_spread = spread(base), spread(new)
    if base_spread is None or new_spread is None:
        return Verdict("cannot tell", delta, reason="one trial shows no spread", trials=3)
    # The variance that each side adds to new / base.
    of_base = _square(after / before * base_spread / before) / len(base)
    of_new = _square(new_spread / before) / len(new)
    error = math.sqrt(of_base + of_new)
    ratio = 1 + delta
    # An overflow gives infinity or NaN below, and so no verdict.
    scale = ratio or 1.0
    half = student(_freedom((of_base, len(base)), (of_new, len(new)))) * error / scale
    low, high = ratio * math.exp(-half) - 1, ratio * math.exp(half) - 1
    if low >= -SAME and high <= SAME:
        return Verdict("same", delta, low, high)
    if low > 0 or high < 0:
        better = (delta > 0) == (direction == "higher")
        return Verdict("faster" if better else "slower", delta, low, high)
    deviation = math.sqrt(of_base * len(base) + of_new * len(new)) / scale
    needed = _trials(max(len(base), len(new)), math.log(scale), deviation)
    return Verdict("cannot tell", delta, low, high, "the trials scatter too much", needed)


def by_chance(verdicts: Iterable[Verdict | None]) -> str:
    """Return a sentence on how many verdicts chance alone may make, '' without any interval.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.4.7: each of several comparisons
    holds at its own level, but not all of them together.
    """
    count = sum(verdict is not None and verdict.low is not None for verdict in verdicts)
    if not count:
        return ""
    return (
        "Each verdict holds at 95 % by itself: if nothing had changed, up to "
        f"{round(_BY_CHANCE * count, 2):,g} of {count:,} {'verdict' if count == 1 else 'verdicts'} "
        "would be faster or slower by chance alone."
    )


def student(freedom: float) -> float:
    """Return the two-sided 95 % quantile of Student's t, for one degree of freedom or more."""
    degrees = list(_STUDENT)
    return _STUDENT[degrees[max(0, bisect_right(degrees, freedom) - 1)]]


def _freedom(*sides: tuple[float, int]) -> float:
    """Return the degrees of freedom of a sum of variances; a side is a variance and its trials.

    Source: Welch, Biometrika 34 (1947), and Satterthwaite, Biometrics Bulletin 2 (1946).
    """
    total = sum(variance for variance, _ in sides)
    parts = sum(_square(variance) / (trials - 1) for variance, trials in sides)
    # Rounding errors in the last bits must not change a whole number.
    return round(_square(total) / parts, 6) if parts else 1.0


def _square(number: float) -> float:
    """Return a square, infinite on overflow; ``**`` would raise."""
    return number * number


def _trials(measured: int, log_ratio: float, deviation: float) -> int | None:
    """Return the smallest number of trials per version that reaches 80 % power, above ``measured``.

    ``log_ratio`` is the logarithm of the ratio of both means, ``deviation`` its standard deviation
    for one trial of each version; both are taken as the true values. Return None if a run may not
    have so many trials.

    Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2, sample sizes from the power.
    """
    more = range(measured + 1, MOST_REPETITIONS + 1)
    errors = ((n, deviation / math.sqrt(n)) for n in more)
    return next(
        (n for n, error in errors if _undecided(log_ratio, error, 2 * n - 2) <= 1 - _POWER),
        None,
    )


def _undecided(log_ratio: float, error: float, freedom: int) -> float:
    """Return how often an interval neither lies within ``SAME`` nor excludes zero.

    Intervals scatter about ``log_ratio`` with this standard error. The middle of such an interval
    is at most half its width from zero, and yet too far from zero for ``SAME``.
    """
    half = student(freedom) * error
    near = max(0.0, SAME - half)
    if near >= half:
        return 0.0
    middle = NormalDist(log_ratio, error)
    return middle.cdf(half) - middle.cdf(near) + middle.cdf(-near) - middle.cdf(-half)
