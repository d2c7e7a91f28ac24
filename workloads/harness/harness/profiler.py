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
_FOLDERS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


def library(variables: Mapping[str, str], timeout: float) -> Path:
    """Return the library of the profiler in the cache; fetch it if it is missing.

    Raises
    ------
    ConfigurationError
        If it cannot be fetched, or is not the pinned one.
    subprocess.TimeoutExpired
        If Maven takes more than ``timeout`` seconds.
    """
    if variables["TIDEMARK_PROFILER"] != NAME:
        found = variables["TIDEMARK_PROFILER"]
        raise ConfigurationError(f"TIDEMARK_PROFILER is {found!r}: {NAME} is accepted.")

    def make(new: Path) -> None:
        new.mkdir()
        _unpack(_fetched(new, variables, timeout), new)

    return kept(f"{NAME}-{_VERSION}", _SHA256.encode(), variables, make) / _LIBRARY


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
