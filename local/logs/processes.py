"""Work that is shared among processes, since it holds the lock of Python's threads.

A process is forked: the modules for pools of processes take longer to import than such work takes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from typing import TypeVar

_Task = TypeVar("_Task")


class ProcessFailedError(Exception):
    """The end of another process before it had done its tasks."""


def in_processes(work: Callable[[_Task], None], tasks: Sequence[_Task], processes: int) -> None:
    """Work on each task, in this process and in others, each with an equal number of tasks.

    The caller has no other thread, and ``work`` leaves its result in files.

    Raises
    ------
    ProcessFailedError
        If the work failed in another process, which says nothing more. An error in this process is
        raised as it is.
    """
    children: set[int] = set()
    try:
        for number in range(1, min(processes, len(tasks))):
            children.add(_forked(work, tasks[number::processes]))
        for task in tasks[::processes]:
            work(task)
        while children:
            child, status = os.waitpid(min(children), 0)
            children.remove(child)
            if status:
                raise ProcessFailedError
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _forked(work: Callable[[_Task], None], tasks: Sequence[_Task]) -> int:
    """Return the id of a new process that works on tasks."""
    if child := os.fork():
        return child
    # Whatever happens, this copy of the caller goes no further.
    code = 1
    try:
        for task in tasks:
            work(task)
        code = 0
    finally:
        os._exit(code)
