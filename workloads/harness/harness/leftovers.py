"""Processes that outlive the process that started them."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # Linux manual, prctl(2)
_ENDED = "Z"


def adopt() -> None:
    """Become the parent of every process that a child of this process leaves behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_left() -> list[str]:
    """Kill the children of this process, and theirs; return the names of those that still ran."""
    names = []
    while children := list(_children()):
        for process, name, state in children:
            if state != _ENDED:
                names.append(name)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return names


def _children() -> Iterator[tuple[int, str, str]]:
    """Yield the number, name and state of each child (Linux manual, proc_pid_stat(5))."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        name, _, fields = text.partition("(")[2].rpartition(")")
        state, parent, *_ = fields.split()
        if int(parent) == os.getpid():
            yield int(stat.parent.name), name, state
