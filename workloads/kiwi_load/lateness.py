"""How late a load sends its requests: the part of their times that is its own fault."""

from __future__ import annotations

import statistics
from time import monotonic

from harness.task import CheckFailedError

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


def check(late: float) -> None:
    """Refuse a mean lateness [ms] above ``MOST_MS``.

    Raises
    ------
    CheckFailedError
        If the load was the limit, and not the server.
    """
    if late > MOST_MS:
        raise CheckFailedError(
            f"The load was the limit, not the server: it sent requests {late:.1f} ms late; "
            f"up to {MOST_MS:g} ms were accepted."
        )
