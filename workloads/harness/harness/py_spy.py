"""py-spy, which samples the Python frames of a program and its children from outside.

A sample is that of a thread that runs or could run at that moment. uv fetches py-spy on first use;
the program is kept in the cache.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from harness import guarded_program
from harness.cache import kept
from harness.configuration import ConfigurationError
from harness.environment import fetch_program

_PINS = Path(__file__).parents[1] / "py-spy.txt"
_STACKS = "stacks.json"
# py-spy needs a moment to find the program, the longer the busier the machine is.
_TRY, _LONGEST_TRY = 1, 30  # [s]
# Separators of stacks and of lines, which a name of a file may have.
_REPLACED = str.maketrans({";": ":", "\n": " ", "\r": " "})


class PySpy:
    """The profiler of Python programs."""

    def found(self, variables: Mapping[str, str], timeout: float) -> Path:
        """Return the program in the cache; fetch it if it is missing."""

        def make(new: Path) -> None:
            fetch_program(new, _PINS, variables, timeout)

        pins = _PINS.read_bytes()
        return kept("py-spy", pins, variables, make) / "bin" / "py-spy"

    def start(
        self, file: Path, folder: Path, words: list[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a program in a process whose exit code is kept: py-spy's own tells of py-spy."""
        _try(file, variables)
        guarded = [sys.executable, "-IS", guarded_program.__file__, str(folder), *words]
        hz = variables["TIDEMARK_PROFILE_HZ"]
        sampled = [*_command(file, folder / _STACKS, hz), "--subprocesses", "--", *guarded]
        # It announces itself on standard error, among the lines of the program. A stop may reach
        # all processes of a task: py-spy would die of it without its stacks.
        return subprocess.Popen(
            sampled,
            env=dict(variables),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}),  # noqa: PLW1509
        )

    def stop(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        """Stop the program, which py-spy would leave behind if it were stopped itself."""
        guard = guarded_program.process(folder)
        if guard is None:
            process.kill()
        else:
            with suppress(ProcessLookupError):
                os.kill(guard, signal.SIGTERM)

    def exit_code(self, code: int, folder: Path) -> int:
        """Return the exit code of the program, or that of py-spy if the program left none."""
        own = guarded_program.exit_code(folder)
        return own if own is not None else code or 1

    def stacks(self, folder: Path) -> Counter[str]:
        """Return the samples by stack; a line of the program has the name of its function."""
        text = (folder / _STACKS).read_text(encoding="utf-8", errors="replace")
        found = json.loads(text)
        # The frame of a process is in no file; its name has the process's number.
        names = [_name(frame) if frame["file"] else "" for frame in found["shared"]["frames"]]
        samples = (sample for thread in found["profiles"] for sample in thread["samples"])
        stacks = Counter(
            ";".join(names[frame] for frame in sample if names[frame]) for sample in samples
        )
        del stacks[""]
        return stacks


def _command(file: Path, output: Path, hz: str) -> list[str]:
    form = ["--format", "speedscope", "--function", "--output", str(output)]
    return [str(file), "record", "--rate", hz, *form]


def _try(file: Path, variables: Mapping[str, str]) -> None:
    """Sample a program that only waits: py-spy ends a program that it may not sample."""
    waits = [sys.executable, "-IS", "-c", f"import time; time.sleep({_TRY})"]
    done = subprocess.run(
        [*_command(file, Path(os.devnull), "99"), "--", *waits],
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LONGEST_TRY,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stdout.split())[-400:]
        raise ConfigurationError(f"py-spy cannot sample here: {reason}")


def _name(frame: Mapping[str, str]) -> str:
    # Each version has an environment of its own, whose folder is no part of a name.
    file = "/".join(PurePath(frame["file"]).parts[-2:])
    return f"{frame['name']} ({file})".translate(_REPLACED)
