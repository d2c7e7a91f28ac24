"""The log: one line per event, in the form that the log queries parse."""

from __future__ import annotations

import os
from pathlib import Path

_SYSTEM = Path.cwd().name  # a task runs in the folder of its workload
# Versions that take turns in one task have their names in the place of the thread.
_THREAD = os.environ.get("TIDEMARK_THREAD", "main")


def info(name: str, message: str) -> None:
    """Print an event of the component ``name`` at once, so that a killed task loses no line."""
    _line(_THREAD, name, "INFO", message)


def error(name: str, message: str, thread: str = _THREAD) -> None:
    """Print the reason why the task, or the version in ``thread``, ends without a result."""
    _line(thread, name, "ERROR", message)


def _line(thread: str, name: str, level: str, message: str) -> None:
    # log4j's "[%t] %c %p %x - %m" with an empty context, hence the two spaces.
    print(f"[{thread}] {_SYSTEM}.{name} {level}  - {message}", flush=True)
