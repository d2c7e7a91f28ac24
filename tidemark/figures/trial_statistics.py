"""The statistics of a metric in a trial, such as its mean and its quantiles.

They come from samples, from histograms or from the figures of log streams. Histograms merge
over agents and streams, as quantiles and means do not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from tidemark.figures.verdicts.intervals import quantile as students_t
from tidemark.model.metric import Basis, Statistic, basis

QUANTILES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def of_samples(statistic: Statistic, values: Sequence[float], seconds: float | None) -> float:
    """Return a statistic of one finite value or more.

    ``seconds`` is the time that the test took [s]; ``per_second`` is NaN if it is none.
    """
    if statistic in QUANTILES:
        return quantile(values, QUANTILES[statistic])
    return _finished(statistic, _SAMPLES[basis(statistic)](values), len(values), seconds)


def of_streams(
    statistic: Statistic, figures: Sequence[tuple[float, int]], seconds: float | None
) -> float:
    """Return a statistic, no quantile, from the figures of log streams.

    A figure is the ``basis`` of the statistic, and the number of values in it, at least one.
    """
    n = sum(n for _, n in figures)
    return _finished(statistic, merged(basis(statistic), figures), n, seconds)


def merged(kind: Basis, figures: Sequence[tuple[float, int]]) -> float:
    """Return the mean, total, maximum or minimum of all values, from the figures of log streams."""
    if kind == "mean":
        return math.fsum(value * n for value, n in figures) / sum(n for _, n in figures)
    return _SAMPLES[kind]([value for value, _ in figures])


def quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile of one value or more, between the two nearest values where it lies there.

    The Logs Insights of one machine has the same in ``pct``.

    Source: Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician
    50 (1996), definition 7.
    """
    ascending = sorted(values)
    place = share * (len(ascending) - 1)
    below, above = ascending[math.floor(place)], ascending[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


def _finished(statistic: Statistic, figure: float, n: int, seconds: float | None) -> float:
    if statistic == "count":
        return float(n)
    if statistic == "per_second":
        return figure / seconds if seconds else math.nan
    return figure


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


_SAMPLES: Mapping[Basis, Callable[[Sequence[float]], float]] = {
    "mean": _mean, "total": math.fsum, "max": max, "min": min,
}  # fmt: skip


Histogram = Mapping[float, int]
"""The number of values of each bucket, by the least value of the bucket."""
_UNSURE = 0.05
# Buckets below a value, and their width: 0.1 to 10, 1 to 1,000, and 10 above.
_WIDTHS = ((10.0, 0.1), (1_000.0, 1.0), (math.inf, 10.0))
_TEXT = re.compile(r"\d{1,9}(\.\d)?:[1-9]\d{0,14}( \d{1,9}(\.\d)?:[1-9]\d{0,14})*")


class Estimate(NamedTuple):
    """A figure of a histogram, and the most by which the same figure of the values may differ."""

    value: float
    error: float


class Pooled(NamedTuple):
    """A quantile of the values of several trials together, and its 95 % interval."""

    value: float
    low: float | None
    high: float | None
    """None for an end beyond all values, and for both ends without a second trial."""
    values: int
    """The number of values of all trials."""


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


def histogram_text(values: Histogram) -> str:
    """Return the text of a histogram, from which ``histogram`` reads it."""
    return " ".join(
        f"{f'{least:.1f}'.removesuffix('.0')}:{values[least]}" for least in sorted(values)
    )


def merged_histogram(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of the values of all histograms."""
    counts: Counter[float] = Counter()
    for each in histograms:
        counts.update(each)
    return counts


def histogram_mean(values: Histogram) -> Estimate:
    """Return the mean of one value or more."""
    count = sum(values.values())
    middle = math.fsum(n * (least + _width(least) / 2) for least, n in values.items()) / count
    error = math.fsum(n * _width(least) / 2 for least, n in values.items()) / count
    return Estimate(middle, error)


def histogram_quantile(values: Histogram, share: float, *, exact: bool = False) -> Estimate:
    """Return a quantile of one value or more, between the two nearest values where it lies there.

    ``quantile`` of the values lies between the quantiles of the least and of the greatest values
    of the buckets. ``exact`` buckets have no width: each is a value itself.
    """
    ascending = sorted(values)
    ends = list(accumulate(values[least] for least in ascending))
    place = share * (ends[-1] - 1)
    below, above = (_at(ascending, ends, rank) for rank in (math.floor(place), math.ceil(place)))
    part = place - math.floor(place)
    least = below + (above - below) * part
    width = 0.0 if exact else _width(below) + (_width(above) - _width(below)) * part
    return Estimate(least + width / 2, width / 2)


def pooled_quantile(trials: Sequence[Histogram], share: float, *, exact: bool) -> Pooled:
    """Return a quantile of the values of all trials; each trial has one value or more.

    Its interval has the quantiles of the shares within which ``share`` lies. The values of a trial
    resemble each other, so that a share has the error of a ratio of sums over trials.
    ``exact`` buckets are values themselves.

    Sources: Woodruff, JASA 47 (1952), for the interval; Cochran, Sampling Techniques (1977), 6.3,
    for the error of the ratio.
    """
    merged = merged_histogram(trials)
    value = histogram_quantile(merged, share, exact=exact).value
    sizes = [sum(each.values()) for each in trials]
    total, count = sum(sizes), len(trials)
    if count < 2:
        return Pooled(value, None, None, total)
    # Many values may lie in the bucket of the quantile: a part of them is below it.
    bucket = max(least for least in merged if least <= value)
    before = sum(n for least, n in merged.items() if least < bucket)
    part = min(1.0, max(0.0, (share * total - before) / merged[bucket]))
    below = [
        sum(n for least, n in each.items() if least < bucket) + part * each.get(bucket, 0)
        for each in trials
    ]
    found = sum(below) / total
    squares = sum((low - found * size) ** 2 for low, size in zip(below, sizes, strict=True))
    error = math.sqrt(squares * count / (count - 1)) / total
    reach = students_t(_UNSURE, count - 1) * error
    low, high = (
        histogram_quantile(merged, end, exact=exact).value if 0 <= end <= 1 else None
        for end in (share - reach, share + reach)
    )
    return Pooled(value, low, high, total)


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
