"""The profilers that a suite may name in ``TIDEMARK_PROFILER``.

Each runs a program and leaves its stacks in a folder.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from harness.async_profiler import AsyncProfiler
from harness.configuration import ConfigurationError
from harness.py_spy import PySpy


class Profiler(Protocol):
    """A profiler of a program and its children."""

    def found(self, variables: Mapping[str, str], timeout: float) -> Path:
        """Return the profiler's file in the cache; fetch it if it is missing.

        Raises
        ------
        ConfigurationError
            If it cannot be fetched, or is not the pinned one.
        subprocess.TimeoutExpired
            If that takes more than ``timeout`` seconds.
        """

    def start(
        self, file: Path, folder: Path, words: list[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a program that is sampled ``TIDEMARK_PROFILE_HZ`` times a second.

        Raises
        ------
        ConfigurationError
            If the profiler cannot sample here; the program has not begun.
        """

    def stop(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        """Stop the program."""

    def exit_code(self, code: int, folder: Path) -> int:
        """Return the exit code of the program, whose process ended with ``code``."""

    def stacks(self, folder: Path) -> Counter[str]:
        """Return the samples of all processes by stack; raise ValueError if they are no profile."""


PROFILERS: Mapping[str, Profiler] = {"async-profiler": AsyncProfiler(), "py-spy": PySpy()}


def profiler(variables: Mapping[str, str]) -> Profiler:
    """Return the profiler that the variables name."""
    name = variables["TIDEMARK_PROFILER"]
    if name not in PROFILERS:
        known = " and ".join(PROFILERS)
        raise ConfigurationError(f"TIDEMARK_PROFILER is {name!r}: {known} are accepted.")
    return PROFILERS[name]
