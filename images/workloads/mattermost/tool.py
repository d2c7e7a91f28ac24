"""One agent of mattermost-load-test-ng: its program ltapi, its users, and the times of requests.

ltapi counts these in the text format of Prometheus.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import time
from collections.abc import Mapping
from typing import NamedTuple

from harness.task import CheckFailedError
from load_test import SIMULATION, configuration
from web import ask

_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 60
_PAUSE_SECONDS = 0.5
# Source: Prometheus, "Exposition formats", Text-based format.
_LINE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LEAST = re.compile(r'le="([^"]+)"')
_TIME = "loadtest_http_request_time"
_FAILED = {"loadtest_http_errors_total", "loadtest_http_timeouts_total"}


class Tool:
    """The agent ``number``, whose users have names of their own; ltapi listens at ``port``."""

    def __init__(self, number: int, port: int = 4000) -> None:
        self._name = f"lt{number}"
        self._port = port

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start ltapi with an agent without users; return the process."""
        program = subprocess.Popen(["ltapi"])
        body = {
            "LoadTestConfig": configuration(variables),
            "SimulControllerConfig": SIMULATION,
        }
        self._wait_for_api()
        self._call(f"/loadagent/create?id={self._name}", body)
        self._call(f"/loadagent/{self._name}/run", {})
        return program

    @property
    def users(self) -> int:
        """The users who are connected."""
        return int(json.loads(self._get(f"/loadagent/{self._name}/status"))["status"]["NumUsers"])

    def have(self, users: int) -> None:
        """Add users, or remove some, until there are as many."""
        difference = users - self.users
        if difference:
            verb = "addusers" if difference > 0 else "removeusers"
            self._call(f"/loadagent/{self._name}/{verb}?amount={abs(difference)}", {})

    def measured(self) -> Measurements:
        """Return what all requests so far have taken."""
        return measurements(self._get("/metrics").decode())

    def _wait_for_api(self) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._get("/metrics")
                return
            except CheckFailedError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def _get(self, path: str) -> bytes:
        return ask(_HOST, self._port, path)

    def _call(self, path: str, body: object) -> None:
        answer = json.loads(ask(_HOST, self._port, path, body))
        if error := answer.get("error"):
            raise CheckFailedError(f"ltapi refused {path}: {error}.")


class Measurements(NamedTuple):
    """The requests of an agent over some time."""

    requests: float
    seconds: float
    """The sum of their times [s]."""
    failed: float
    below: Mapping[float, float]
    """The number of requests by the longest time of their bucket [s]."""

    @property
    def mean_ms(self) -> float:
        """The mean of their times [ms], 0 without requests."""
        return 1000 * self.seconds / self.requests if self.requests else 0.0

    @property
    def p99_ms(self) -> float:
        """The time that 99 % of them take at most [ms], as Prometheus' histogram_quantile has it.

        It lies within its bucket in proportion to the rank; in the last bucket it is its start. It
        is 0 without requests.
        """
        if not self.requests:
            return 0.0
        wanted, start, before = 0.99 * self.requests, 0.0, 0.0
        for end, count in sorted(self.below.items()):
            if math.isinf(end):
                break
            if count >= wanted and count > before:
                share = (wanted - before) / (count - before)
                return 1000 * (start + (end - start) * share)
            start, before = end, count
        return 1000 * start

    @property
    def failures(self) -> float:
        """The share of them that failed."""
        return self.failed / self.requests if self.requests else 0.0

    def since(self, earlier: Measurements) -> Measurements:
        """Return the requests since an earlier time."""
        below = {end: n - earlier.below.get(end, 0.0) for end, n in self.below.items()}
        return Measurements(
            self.requests - earlier.requests,
            self.seconds - earlier.seconds,
            self.failed - earlier.failed,
            below,
        )


def measurements(text: str) -> Measurements:
    """Return the measurements in a page of metrics, which has none before the first request."""
    sums = {"count": 0.0, "sum": 0.0, "failed": 0.0}
    below: dict[float, float] = {}
    for match in map(_LINE.fullmatch, text.splitlines()):
        if match is None:
            continue
        value, least = float(match["value"]), _LEAST.search(match["labels"] or "")
        if match["name"] == f"{_TIME}_bucket" and least:
            below[float(least[1])] = value
        elif match["name"] in _FAILED:
            sums["failed"] += value
        elif (part := match["name"].removeprefix(f"{_TIME}_")) in sums:
            sums[part] += value
    return Measurements(sums["count"], sums["sum"], sums["failed"], below)
