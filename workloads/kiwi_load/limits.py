"""Whether a load was the limit, and not the server: the cores that it used, and its lateness.

The lateness of a request is the part of its time that is the fault of the load.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

from harness.task import CheckFailedError

_STAT = Path("/proc/stat")
# Linux, proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user.
_BUSY = (0, 1, 2, 5, 6)
_STEAL = 7
MOST_CORES = 0.8
"""The most cores that a load may use: Locust runs on one, and then its requests are late."""
MOST_MS = 20.0
"""The most by which requests may be late on average: a fifth of the limit of their mean time."""


class Use(NamedTuple):
    """The use of the processors over some time."""

    cores: float
    """The cores that this process used."""
    machine: float
    """The cores that all programs of this machine used."""
    stolen: float
    """The cores of this machine that other machines on the same host used."""


class CpuTimes(NamedTuple):
    """The processors' times so far [s]."""

    at: float
    own: float
    machine: float
    stolen: float

    @classmethod
    def now(cls) -> CpuTimes:
        """Return the times now."""
        ticks = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        of_second = os.sysconf("SC_CLK_TCK")
        machine = sum(int(ticks[place]) for place in _BUSY) / of_second
        return cls(monotonic(), process_time(), machine, int(ticks[_STEAL]) / of_second)

    def since(self, began: CpuTimes) -> Use:
        """Return the use since an earlier time."""
        seconds = self.at - began.at
        return Use(
            (self.own - began.own) / seconds,
            (self.machine - began.machine) / seconds,
            (self.stolen - began.stolen) / seconds,
        )


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


def check_cores(cores: float) -> None:
    """Refuse a use of more than ``MOST_CORES``; raise CheckFailedError."""
    if cores > MOST_CORES:
        raise _limit(f"used {cores:.2f} cores; up to {MOST_CORES}")


def check_lateness(late: float) -> None:
    """Refuse a mean lateness [ms] above ``MOST_MS``; raise CheckFailedError."""
    if late > MOST_MS:
        raise _limit(f"sent requests {late:.1f} ms late; up to {MOST_MS:g} ms")


def _limit(found: str) -> CheckFailedError:
    return CheckFailedError(f"The load was the limit, not the server: it {found} were accepted.")
