"""The log: one line per event, in the form that the log queries parse."""

from __future__ import annotations

from pathlib import Path

_SYSTEM = Path.cwd().name  # a task runs in the folder of its workload


def info(name: str, message: str) -> None:
    """Print an event of the component ``name`` at once, so that a killed task loses no line."""
    _line(name, "INFO", message)


def error(name: str, message: str) -> None:
    """Print the reason why the task ends without a result."""
    _line(name, "ERROR", message)


def _line(name: str, level: str, message: str) -> None:
    # log4j's "[%t] %c %p %x - %m" with an empty context, hence the two spaces.
    print(f"[main] {_SYSTEM}.{name} {level}  - {message}", flush=True)
