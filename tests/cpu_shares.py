"""CPU time of the functions, against the share of a core that Lambda gives them.

Lambda gives a function CPU in proportion to its memory, and a whole vCPU with 1,769 MB (AWS Lambda
developer guide, "Configure Lambda function memory"). On one machine a function has a whole core, so
its CPU time is divided by its share. To hold it to that share would need root (cgroups), or
would stop and continue it in slices that a busy machine distorts; the CPU time is the same on both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil

from onebox.cloud.environments import Sandbox
from onebox.cloud.replacements import Replacements
from onebox.cloud.runtime import Reply

MOST_PERCENT = 50.0
"""The most of a function's time limit that its CPU time may take: the rest is for the services."""
_VCPU_MEMORY = 1769


class Work(NamedTuple):
    """CPU time of one invocation, and the settings of its function."""

    function: str
    cpu_seconds: float
    memory_mb: int
    timeout_seconds: int

    @property
    def share(self) -> float:
        """Share of a core; more than one does not help a function with one thread."""
        return min(1.0, self.memory_mb / _VCPU_MEMORY)

    @property
    def percent(self) -> float:
        """Time of the work at the share, of the time limit [%]."""
        return 100 * self.cpu_seconds / self.share / self.timeout_seconds

    def __str__(self) -> str:
        return (
            f"{self.function}: {self.cpu_seconds:.1f} s of CPU at {self.share:.2f} cores in "
            f"{self.timeout_seconds} s"
        )


@contextmanager
def measured_work() -> Iterator[list[Work]]:
    """Yield the list to which each successful invocation in this process's cloud appends its work.

    A failed one may have ended its process, and with it the count of its time.
    """
    works: list[Work] = []
    replacements = Replacements()

    def run(sandbox: Sandbox, payload: bytes) -> Reply:
        process = psutil.Process(sandbox._process.group)
        function, before = sandbox.function, _cpu_seconds(process)
        reply: Reply = ran(sandbox, payload)
        if not reply.failed:
            seconds = _cpu_seconds(process) - before
            works.append(Work(function.name, seconds, function.memory_mb, function.timeout_seconds))
        return reply

    ran = replacements.set(Sandbox, "_run", run)
    try:
        yield works
    finally:
        replacements.restore()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
