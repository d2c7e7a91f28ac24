"""Figures of series that single outliers hardly move."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

# The median of |Δ| of independent normal values, in standard deviations: 0.6745 √2.
_MEDIAN_STEP = 0.954


def median(values: Sequence[float]) -> float:
    """Return the median, also of numbers whose sum is no double."""
    ascending = sorted(values)
    low, high = ascending[(len(ascending) - 1) // 2], ascending[len(ascending) // 2]
    return low / 2 + high / 2 if math.isinf(low + high) else (low + high) / 2


def running_median(values: Sequence[float], window: int) -> list[float]:
    """Return the median of each value and its neighbours, over an odd number of values."""
    half = window // 2
    inner = [
        sorted(values[index - half : index + half + 1])[half]
        for index in range(half, len(values) - half)
    ]
    ends = min(half, len(values))
    first = [median(values[: index + half + 1]) for index in range(ends)]
    last = range(max(ends, len(values) - half), len(values))
    return [*first, *inner, *(median(values[index - half :]) for index in last)]


def variance(values: Sequence[float]) -> float:
    """Return the variance of a sample (n − 1), 0 for one value."""
    mean = statistics.fmean(values)
    return sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def scatter(values: Sequence[float]) -> float:
    """Return the standard deviation from one value to the next, whatever the level does.

    The mean step is the figure of a series that mostly repeats its value. Zero is that of a series
    with a single value.
    """
    steps = [abs(after - before) for before, after in pairwise(values)]
    return statistics.median(steps) / _MEDIAN_STEP or math.sqrt(math.pi) / 2 * statistics.fmean(
        steps
    )


def clipped(values: Sequence[float], window: int, width: float) -> list[float]:
    """Return a series without spikes: at most ``width`` standard deviations from its median."""
    most = width * scatter(values)
    return [
        min(max(value, middle - most), middle + most)
        for value, middle in zip(values, running_median(values, window), strict=True)
    ]


def winsorised(values: Sequence[float], share: float) -> list[float]:
    """Return values whose lowest and highest ``share`` are moved to the next value inwards."""
    ascending = sorted(values)
    moved = int(share * len(ascending))
    low, high = ascending[moved], ascending[-1 - moved]
    return [min(max(value, low), high) for value in values]


def autocorrelation(values: Sequence[float]) -> float:
    """Return the correlation of values with the values before them; zero for equal values."""
    middle = statistics.fmean(values)
    deviations = [value - middle for value in values]
    whole = sum(deviation * deviation for deviation in deviations)
    product = sum(before * after for before, after in pairwise(deviations))
    return product / whole if whole else 0.0
