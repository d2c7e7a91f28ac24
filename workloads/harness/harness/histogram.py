"""The times of an operation, counted in buckets, as one line of the log.

Quantiles of several agents do not add up to a quantile of all; their buckets do.
"""

from __future__ import annotations

import math
from collections import Counter


class Histogram:
    """The times of one operation [ms]."""

    def __init__(self) -> None:
        self._buckets: Counter[str] = Counter()
        self._sum = 0.0

    def add(self, time: float) -> None:
        """Count a time [ms]."""
        self._buckets[_least(time)] += 1
        self._sum += time

    def line(self, operation: str) -> str:
        """Return the line of one time or more: their count, their average and their buckets."""
        count = self._buckets.total()
        buckets = " ".join(f"{least}:{n}" for least, n in self._buckets.items())
        average = self._sum / count
        return f"Histogram {operation} count {count} average {average:.6f} ms buckets {buckets}"


def _least(time: float) -> str:
    """Return the least time of a bucket: they are 0.1 ms wide to 10 ms, 1 ms to 1 s, then 10 ms."""
    if time < 10:
        return f"{math.floor(time * 10) / 10:.1f}"
    return str(math.floor(time) if time < 1_000 else math.floor(time / 10) * 10)
