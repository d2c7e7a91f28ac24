"""async-profiler, which samples native code and Java by the timers of CPU time.

It needs neither perf events nor privileges. Maven fetches it from Maven Central on first use; the
library is kept in the cache.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from harness.cache import kept
from harness.configuration import ConfigurationError

NAME = "async-profiler"
_VERSION = "4.4"
_ARTIFACT = f"tools.profiler:{NAME}:{_VERSION}"
# The jar may be replaced on its way: only this one is unpacked.
_SHA256 = "47f321b8cdbadda2c281a612f6ac245254c81a02ce578abf782a53170ea40b37"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_LIBRARY = "libasyncProfiler.so"
_NO_SAMPLES = "[INFO] No samples were collected"
_FOLDERS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


class AsyncProfiler:
    """The profiler of native code, such as a library in a Python process, and of Java."""

    def found(self, variables: Mapping[str, str], timeout: float) -> Path:
        """Return the library in the cache; fetch it if it is missing."""

        def make(new: Path) -> None:
            new.mkdir()
            _unpack(_fetched(new, variables, timeout), new)

        return kept(f"{NAME}-{_VERSION}", _SHA256.encode(), variables, make) / _LIBRARY

    def start(
        self, file: Path, folder: Path, words: list[str], variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a program that leaves its stacks in ``folder`` when it ends."""
        more = variables_of(file, folder, int(variables["TIDEMARK_PROFILE_HZ"]))
        return subprocess.Popen(words, env={**variables, **more})

    def stop(self, process: subprocess.Popen[bytes], _: Path) -> None:
        """Stop the program."""
        process.terminate()

    def exit_code(self, code: int, _: Path) -> int:
        """Return the exit code of the program."""
        return code if code >= 0 else 128 - code

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


def _fetched(folder: Path, variables: Mapping[str, str], timeout: float) -> Path:
    maven = shutil.which("mvn", path=variables.get("PATH"))
    if maven is None:
        raise ConfigurationError(f"{NAME} comes from Maven Central: mvn is missing on the PATH.")
    words = ("--quiet", "--batch-mode", _COPY, f"-Dartifact={_ARTIFACT}")
    done = subprocess.run(
        [maven, *words, f"-DoutputDirectory={folder}"],
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stdout.split())[:500] or f"exit code {done.returncode}"
        raise ConfigurationError(f"{NAME} could not be fetched: {reason}")
    return folder / f"{NAME}-{_VERSION}.jar"


def _unpack(jar: Path, folder: Path) -> None:
    """Unpack the library of this machine and delete the jar, unless it is not the pinned one."""
    found = hashlib.sha256(jar.read_bytes()).hexdigest()
    if found != _SHA256:
        raise ConfigurationError(f"{jar.name} has the SHA-256 {found}: {_SHA256} was expected.")
    place = _FOLDERS.get(platform.machine())
    if place is None:
        machines = " and ".join(_FOLDERS)
        raise ConfigurationError(f"{NAME} has no library for {platform.machine()}: {machines}.")
    with zipfile.ZipFile(jar) as packed:
        (folder / _LIBRARY).write_bytes(packed.read(f"{place}/{_LIBRARY}"))
    jar.unlink()
