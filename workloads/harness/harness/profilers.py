"""The profilers that a suite may name in ``TIDEMARK_PROFILER``: async-profiler and py-spy.

Each runs a program and leaves its stacks in a folder.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from harness import guarded_program
from harness.installation import fetch_program, from_maven, kept
from harness.task import ConfigurationError


class Profiler(ABC):
    """A profiler of a program and its children."""

    @abstractmethod
    def found(self, variables: Mapping[str, str], timeout: float) -> Path:
        """Return the profiler's file in the cache; fetch it if it is missing.

        Raises
        ------
        ConfigurationError
            If it cannot be fetched, or is not the pinned one.
        subprocess.TimeoutExpired
            If that takes more than ``timeout`` seconds.
        """

    @abstractmethod
    def start(
        self, file: Path, folder: Path, words: list[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a program that is sampled ``TIDEMARK_PROFILE_HZ`` times a second.

        Raises
        ------
        ConfigurationError
            If the profiler cannot sample here; the program has not begun.
        """

    def stop(self, process: subprocess.Popen[bytes], _folder: Path) -> None:
        """Stop the program."""
        process.terminate()

    def exit_code(self, code: int, _folder: Path) -> int:
        """Return the exit code of the program, whose process ended with ``code``."""
        return code if code >= 0 else 128 - code

    @abstractmethod
    def stacks(self, folder: Path) -> Counter[str]:
        """Return the samples of all processes by stack; raise ValueError for other content."""


_VERSION = "4.4"
# The jar may be replaced on its way: only this one is unpacked.
_SHA256 = "47f321b8cdbadda2c281a612f6ac245254c81a02ce578abf782a53170ea40b37"
_LIBRARY = "libasyncProfiler.so"
_NO_SAMPLES = "[INFO] No samples were collected"
_FOLDERS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


class AsyncProfiler(Profiler):
    """async-profiler, which samples native code and Java by the timers of CPU time.

    It needs neither perf events nor privileges. Maven fetches it from Maven Central on first use;
    the library is kept in the cache.
    """

    def found(self, variables: Mapping[str, str], timeout: float) -> Path:
        """Return the library in the cache; fetch it if it is missing."""

        def make(new: Path) -> None:
            new.mkdir()
            artifact = f"tools.profiler:async-profiler:{_VERSION}"
            _unpack(from_maven(artifact, _SHA256, new, variables, timeout), new)

        return kept(f"async-profiler-{_VERSION}", _SHA256.encode(), variables, make) / _LIBRARY

    def start(
        self, file: Path, folder: Path, words: list[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a program that leaves its stacks in ``folder`` when it ends."""
        more = variables_of(file, folder, int(variables["TIDEMARK_PROFILE_HZ"]))
        return subprocess.Popen(words, env={**variables, **more})

    def stacks(self, folder: Path) -> Counter[str]:
        """Return the samples of all processes by stack; raise ValueError for another form.

        A process that took next to no time has none.
        """
        stacks = Counter[str]()
        for file in folder.iterdir():
            text = file.read_text(encoding="utf-8", errors="replace")
            for line in text.removeprefix(_NO_SAMPLES).split("\n"):
                if not line.strip():
                    continue
                stack, _, samples = line.rpartition(" ")
                stacks[stack] += int(samples)
        return stacks


def variables_of(library: Path, folder: Path, hz: int) -> dict[str, str]:
    """Return the variables of a program that leaves its stacks in ``folder`` when it ends.

    Each process has a file of its own, named by its number. The stacks are walked by the tables
    for exceptions, since the systems under test are built without frame pointers.
    """
    file = folder / "%p.folded"
    # A program may talk to its child by standard output, where the profiler would announce itself.
    sampled = f"start,quiet,event=ctimer,interval={10**9 // hz},collapsed,file={file}"
    return {
        "LD_PRELOAD": str(library),
        "ASPROF_COMMAND": f"{sampled},cstack=dwarf",
        "JAVA_TOOL_OPTIONS": f"-agentpath:{library}={sampled},cstack=vm",
    }


def _unpack(jar: Path, folder: Path) -> None:
    """Unpack the library of this machine and delete the jar."""
    place = _FOLDERS.get(platform.machine())
    if place is None:
        machines = " and ".join(_FOLDERS)
        raise ConfigurationError(
            f"async-profiler has no library for {platform.machine()}: {machines}."
        )
    with zipfile.ZipFile(jar) as packed:
        (folder / _LIBRARY).write_bytes(packed.read(f"{place}/{_LIBRARY}"))
    jar.unlink()


_PINS = Path(__file__).parents[1] / "py-spy.txt"
_STACKS = "stacks.json"
# py-spy needs a moment to find the program, the longer the busier the machine is.
_TRY, _LONGEST_TRY = 1, 30  # [s]
# Separators of stacks and of lines, which a name of a file may have.
_REPLACED = str.maketrans({";": ":", "\n": " ", "\r": " "})


class PySpy(Profiler):
    """py-spy, which samples the Python frames of a program and its children from outside.

    A sample shows a thread that runs or could run at that moment. uv fetches py-spy on first use;
    the program is kept in the cache.
    """

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
        """Return the exit code of the program, or py-spy's if the program left none."""
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
    # Each version has an environment of its own, whose folder is not part of a name.
    file = "/".join(PurePath(frame["file"]).parts[-2:])
    return f"{frame['name']} ({file})".translate(_REPLACED)


PROFILERS: Mapping[str, Profiler] = {"async-profiler": AsyncProfiler(), "py-spy": PySpy()}


def profiler(variables: Mapping[str, str]) -> Profiler:
    """Return the profiler that the variables name."""
    name = variables["TIDEMARK_PROFILER"]
    if name not in PROFILERS:
        known = " and ".join(PROFILERS)
        raise ConfigurationError(f"TIDEMARK_PROFILER is {name!r}: {known} are accepted.")
    return PROFILERS[name]
