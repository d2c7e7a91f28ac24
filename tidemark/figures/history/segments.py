"""The division of a series into segments of one level each, by PELT."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def boundaries(values: Sequence[float], penalty: float, shortest: int) -> list[int]:
    """Return the first index of each segment but the first, at the least cost.

    The cost is the squared error around each segment's mean, and ``penalty`` for each boundary.
    Source: Killick, Fearnhead & Eckley, Journal of the American Statistical Association 107 (2012).
    """
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]

    def error(start: int, end: int) -> float:
        total = sums[end] - sums[start]
        return squares[end] - squares[start] - total * total / (end - start)

    least, last = [-penalty], [0]
    candidates: list[int] = []
    for end in range(1, len(values) + 1):
        if end < shortest:
            least.append(float("inf"))
            last.append(0)
            continue
        candidates.append(end - shortest)
        costs = [least[start] + error(start, end) for start in candidates]
        best = min(range(len(costs)), key=costs.__getitem__)
        least.append(costs[best] + penalty)
        last.append(candidates[best])
        # A start that already costs more than the best division can never be the best again.
        candidates = [
            start for start, cost in zip(candidates, costs, strict=True) if cost <= least[-1]
        ]
    return _followed(last)


def _followed(last: Sequence[int]) -> list[int]:
    found: list[int] = []
    start = last[-1]
    while start:
        found.append(start)
        start = last[start]
    return found[::-1]
