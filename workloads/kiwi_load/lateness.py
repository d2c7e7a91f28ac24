"""How late a load sends its requests: the part of their times that is its own fault."""

from __future__ import annotations

import statistics
from time import monotonic

MOST_MS = 20.0
"""The most by which requests may be late on average: a fifth of the limit of their mean time."""


class Lateness:
    """The lateness of the requests since the last mean."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def add(self, ready: float) -> None:
        """Count a request that is sent now, and could have been sent at ``ready`` [s]."""
        self._times.append(1000 * (monotonic() - ready))

    def mean(self) -> float:
        """Return the mean lateness [ms], 0 without requests; begin anew."""
        times, self._times = self._times or [0.0], []
        return statistics.fmean(times)
