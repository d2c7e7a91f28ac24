"""The programs of this cloud itself: its process and its functions, without the tasks.

A cloud shares the machine with the services that its tasks measure. While a service runs, the cloud
keeps to the half of the cores that is the load's, and its usage is logged apart.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil


def own_programs(tasks: Collection[int]) -> Iterator[psutil.Process]:
    """Yield this process and what it started; ``tasks`` are the process groups of tasks."""
    this = psutil.Process()
    yield this
    for child in this.children():
        if _group(child.pid) not in tasks:
            yield child
            with suppress(psutil.Error):
                yield from child.children(recursive=True)


def own_usage(tasks: Collection[int]) -> tuple[float, int]:
    """Return the CPU time of the cloud so far [s], and its memory now [B]."""
    this, *others = own_programs(tasks)
    cpu, memory = sum(this.cpu_times()[:2]), this.memory_info().rss
    for program in others:
        with suppress(psutil.Error):
            # This process waits for the tasks, too; the others wait for functions alone.
            cpu += sum(program.cpu_times()[:4])
            memory += program.memory_info().rss
    return cpu, memory


class OwnCores:
    """The cores of this cloud: all of them, or the first half while a service runs."""

    def __init__(self) -> None:
        self.all = sorted(os.sched_getaffinity(0))
        self._services = 0
        self._lock = threading.Lock()

    def give_way(self, tasks: Collection[int]) -> None:
        """Keep off the cores of a service that begins."""
        with self._lock:
            self._services += 1
            if half := self.all[: len(self.all) // 2]:
                _keep_to(half, tasks)

    def take_back(self, tasks: Collection[int]) -> bool:
        """Use all cores again once the last service has ended; tell whether it has."""
        with self._lock:
            self._services -= 1
            if not self._services:
                _keep_to(self.all, tasks)
            return not self._services


def _keep_to(cores: Sequence[int], tasks: Collection[int]) -> None:
    # A new thread or function has the cores of the one that started it.
    for program in own_programs(tasks):
        with suppress(FileNotFoundError):
            for thread in Path(f"/proc/{program.pid}/task").iterdir():
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), cores)


def _group(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None
