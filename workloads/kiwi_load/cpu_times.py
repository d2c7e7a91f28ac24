"""The CPU time of this process, of all programs of the machine, and that which others stole."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

_STAT = Path("/proc/stat")
# Linux, proc(5): user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user.
_BUSY = (0, 1, 2, 5, 6)
_STEAL = 7
MOST_CORES = 0.8
"""The most cores that a load may use: Locust runs on one, and then its requests are late."""


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
        return cls(time.monotonic(), time.process_time(), machine, int(ticks[_STEAL]) / of_second)

    def since(self, began: CpuTimes) -> Use:
        """Return the use since an earlier time."""
        seconds = self.at - began.at
        return Use(
            (self.own - began.own) / seconds,
            (self.machine - began.machine) / seconds,
            (self.stolen - began.stolen) / seconds,
        )
