"""The clocks of a measurement: wall time and CPU time of some work, from an idle process."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness import log

_LOOK_SECONDS = 0.01
# Looking itself takes CPU time, and so does a thread that only wakes up now and then.
_IDLE_SHARE = 0.05
_PATIENCE_SECONDS = 2.0
# A version that is slowed to calibrate a suite loses this share of its rates.
_LOSS = float(os.environ.get("TIDEMARK_LOSS", "0"))
_CPUCLOCK_SCHED = 2  # Linux, include/linux/posix-timers_types.h


class Took(NamedTuple):
    """The time that some work took."""

    seconds: float
    cpu_seconds: float
    """The CPU time of this process and of its children, in all their threads [s]."""

    @classmethod
    def mean(cls, times: Sequence[Took]) -> Took:
        """Return the mean of the times of equal work."""
        seconds, cpu_seconds = (sum(each) / len(times) for each in zip(*times, strict=True))
        return cls(seconds, cpu_seconds)

    def cpu_per(self, records: int) -> str:
        """Return the CPU time of each of some records, for the log."""
        return f"{1e6 * self.cpu_seconds / records:.4f} CPU microseconds per record"


def cpu_seconds() -> float:
    """Return the CPU time of this process, its children and theirs [s].

    A child that has ended counts from when its parent knows of its end.
    """
    return time.process_time() + _ended_children() + sum(map(_of_process, _children("self")))


def _ended_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_process(process: str) -> float:
    """Return the CPU time of another process and of its children [s]."""
    try:
        # clock_getcpuclockid(3): the clock of a process is made of its number.
        own = time.clock_gettime((~int(process) << 3) | _CPUCLOCK_SCHED)
    except OSError:
        return 0.0  # it has ended meanwhile
    return own + sum(map(_of_process, _children(process)))


def _children(process: str) -> Iterator[str]:
    """Yield the numbers of the children of all threads of a process."""
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            yield from file.read_text().split()
        except OSError:
            continue  # the thread has ended meanwhile


def timed(work: Callable[[], object], loss: float = _LOSS) -> Took:
    """Do some work once this process is idle; return the time that it took.

    What an engine still does in the background would otherwise fall into the next clock. The clock
    waits after the work until the rate is lower by the share ``loss``, and counts as much CPU time.
    """
    wait_until_idle()
    cpu, began = cpu_seconds(), time.perf_counter()
    work()
    took, used = time.perf_counter() - began, cpu_seconds() - cpu
    time.sleep(took * loss / (1 - loss))
    return Took(time.perf_counter() - began if loss else took, used / (1 - loss))


def wait_until_idle(
    used: Callable[[], float] = cpu_seconds,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Wait until the CPU time of this process and its children stands still; log if it never does.

    ``used`` returns that time [s].
    """
    began = now()
    while now() - began < _PATIENCE_SECONDS:
        before, looked = used(), now()
        sleep(_LOOK_SECONDS)
        if used() - before <= _IDLE_SHARE * (now() - looked):
            return
    log.info("Clock", f"The process was not idle within {_PATIENCE_SECONDS:g} seconds.")
