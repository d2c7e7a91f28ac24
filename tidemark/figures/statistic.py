"""The statistics of a metric, from its samples or from the figures of its log streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tidemark.model.metric import Basis, Statistic, basis

QUANTILES: Mapping[Statistic, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


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
    """Return the mean, total, maximum or minimum of all values, from those of log streams."""
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
