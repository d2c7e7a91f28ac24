"""The requests of each interval, as lines of the log: by operation, with their times in buckets."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from harness import log
from harness.load import Histogram
from json_rpc import Answered, Statements, database_line


class Summary(NamedTuple):
    """All requests of an interval; the times are 0 ms without requests."""

    requests: int
    average: float
    p99: float
    """The quantile between the two nearest values [ms]."""
    failed: int


class Intervals:
    """The requests since the last lines, and the number of all."""

    def __init__(self) -> None:
        self.requests = 0
        self._all: list[float] = []
        self._times: defaultdict[str, Histogram] = defaultdict(Histogram)
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._statements: defaultdict[str, list[Statements]] = defaultdict(list)

    def add(
        self,
        name: str,
        response_time: float,
        exception: Exception | None,
        answered: Iterable[Answered] = (),
        **_: object,
    ) -> None:
        """Count a request, as Locust reports it: its operation, its time [ms] and its answer."""
        self.requests += 1
        self._all.append(response_time)
        self._times[name].add(response_time)
        self._counts[name] += 1
        self._failures[name] += exception is not None
        self._statements[name] += [call.statements for call in answered]

    def summary(self) -> Summary:
        """Return the requests since the last lines, of all operations together."""
        times = self._all or [0.0]
        p99 = times[0]
        if len(times) > 1:
            p99 = statistics.quantiles(times, n=100, method="inclusive")[-1]
        failed = sum(self._failures.values())
        return Summary(len(self._all), statistics.fmean(times), p99, failed)

    def connected(self, users: int) -> int:
        """Return the users who are connected: none if every request since the last lines failed."""
        failed = sum(self._failures.values())
        return 0 if failed and failed == len(self._all) else users

    def log(self, users: int) -> None:
        """Log the users and the requests, and begin the next interval."""
        log.info("Bounded", f"Users {users}")
        for operation in sorted(self._times):
            log.info("Bounded", self._times[operation].line(operation))
            failed, count = self._failures[operation], self._counts[operation]
            log.info("Bounded", f"Failures {operation} {failed} of {count} requests")
            if requests := self._statements[operation]:
                log.info("Bounded", database_line(operation, requests))
        self._all.clear()
        self._times.clear()
        self._counts.clear()
        self._failures.clear()
        self._statements.clear()
