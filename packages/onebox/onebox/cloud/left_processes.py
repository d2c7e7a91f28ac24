"""The processes that a task leaves behind outside its process group.

In AWS they end with the task's container. Here they would go on through the next measurement.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_SHOWN = reprlib.Repr()
_SHOWN.maxstring = 60
_MOST_NAMED = 20
_MOST_ROUNDS = 20  # a process may start another one while it is found


def kill_left(scratch: Path, group: int) -> list[str]:
    """Kill the processes whose TMPDIR is the task's scratch folder; return their commands.

    Those of the task's own process group are killed already, and may not have ended yet.
    """
    killed: list[str] = []
    for _ in range(_MOST_ROUNDS):
        left = list(_left(scratch, group))
        if not left:
            break
        for process, command in left:
            killed.append(command)
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs([process for process, _ in left], timeout=1)
    return killed


def sentence(killed: list[str]) -> str:
    """Return a sentence for the task's log."""
    named = ", ".join(map(_SHOWN.repr, killed[:_MOST_NAMED]))
    more = f" and {len(killed) - _MOST_NAMED} more" if len(killed) > _MOST_NAMED else ""
    processes = "1 process" if len(killed) == 1 else f"{len(killed)} processes"
    return f"The cloud killed {processes} that the task left: {named}{more}"


def _left(scratch: Path, group: int) -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        try:
            is_task = process.environ().get("TMPDIR") == str(scratch)
            if is_task and os.getpgid(process.pid) != group:
                yield process, " ".join(process.cmdline())
        # The process has ended, or belongs to another user.
        except (psutil.Error, ProcessLookupError):
            continue
