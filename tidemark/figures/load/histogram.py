"""Histograms of times: they merge over agents and streams, as quantiles and means do not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

Histogram = Mapping[float, int]
"""The number of values of each bucket, by the least value of the bucket."""
# Buckets below a value, and their width: 0.1 to 10, 1 to 1,000, and 10 above.
_WIDTHS = ((10.0, 0.1), (1_000.0, 1.0), (math.inf, 10.0))
_TEXT = re.compile(r"\d{1,9}(\.\d)?:[1-9]\d{0,14}( \d{1,9}(\.\d)?:[1-9]\d{0,14})*")


class Estimate(NamedTuple):
    """A figure of a histogram, and the most by which that of the values themselves differs."""

    value: float
    error: float


def histogram(text: str) -> Histogram:
    """Return the histogram of a text such as ``0.3:2 17:5 1010:1``; raise ValueError for others.

    Each pair is the least value of a bucket and the number of values in it.
    """
    if not _TEXT.fullmatch(text):
        raise ValueError("expected pairs of a bucket and its count, such as 0.3:2 17:5 1010:1")
    counts: Counter[float] = Counter()
    for pair in text.split(" "):
        least, count = pair.split(":")
        counts[_bucket(float(least), least)] += int(count)
    return counts


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of the values of all histograms."""
    counts: Counter[float] = Counter()
    for each in histograms:
        counts.update(each)
    return counts


def mean(values: Histogram) -> Estimate:
    """Return the mean of one value or more."""
    count = sum(values.values())
    middle = math.fsum(n * (least + _width(least) / 2) for least, n in values.items()) / count
    error = math.fsum(n * _width(least) / 2 for least, n in values.items()) / count
    return Estimate(middle, error)


def quantile(values: Histogram, share: float) -> Estimate:
    """Return a quantile of one value or more, between the two nearest values where it lies there.

    It is that of ``statistic.quantile``, which lies between the quantiles of the least and of the
    greatest values of the buckets.
    """
    ascending = sorted(values)
    ends = list(accumulate(values[least] for least in ascending))
    place = share * (ends[-1] - 1)
    below, above = (_at(ascending, ends, rank) for rank in (math.floor(place), math.ceil(place)))
    part = place - math.floor(place)
    least = below + (above - below) * part
    width = _width(below) + (_width(above) - _width(below)) * part
    return Estimate(least + width / 2, width / 2)


def _at(ascending: list[float], ends: list[int], rank: int) -> float:
    """Return the bucket of the value of a rank, counted from 0."""
    return next(least for least, end in zip(ascending, ends, strict=True) if rank < end)


def _bucket(least: float, text: str) -> float:
    """Return the least value of a bucket; raise ValueError for a value that begins none."""
    width = _width(least)
    if abs(least / width - round(least / width)) > 1e-6:
        raise ValueError(f"{text} begins no bucket; they are 0.1 wide to 10, 1 to 1,000, 10 above")
    return least


def _width(least: float) -> float:
    return next(width for end, width in _WIDTHS if least < end)
