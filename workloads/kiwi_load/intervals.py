"""The requests of each interval, as lines of the log: by operation, with their times in buckets."""

from __future__ import annotations

from collections import Counter, defaultdict

from harness import log
from harness.histogram import Histogram


class Intervals:
    """The requests since the last lines, and the number of all."""

    def __init__(self) -> None:
        self.requests = 0
        self._times: defaultdict[str, Histogram] = defaultdict(Histogram)
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()

    def add(
        self, name: str, response_time: float, exception: Exception | None, **_: object
    ) -> None:
        """Count a request, as Locust reports it: its operation and its time [ms]."""
        self.requests += 1
        self._times[name].add(response_time)
        self._counts[name] += 1
        self._failures[name] += exception is not None

    def log(self, users: int) -> None:
        """Log the users and the requests, and begin the next interval."""
        log.info("Bounded", f"Users {users}")
        for operation in sorted(self._times):
            log.info("Bounded", self._times[operation].line(operation))
            failed, count = self._failures[operation], self._counts[operation]
            log.info("Bounded", f"Failures {operation} {failed} of {count} requests")
        self._times.clear()
        self._counts.clear()
        self._failures.clear()
