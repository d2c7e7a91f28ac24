"""The folder of one version that the workload's own command installs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from harness.cache import kept
from harness.configuration import ConfigurationError

_LONGEST_REASON = 400


def installed(variables: Mapping[str, str], timeout: float) -> Path:
    """Return the folder that the command of ``TIDEMARK_PREPARE`` filled; run it if it has not yet.

    Raises
    ------
    ConfigurationError
        If the command's program is missing, or if it fails.
    subprocess.TimeoutExpired
        If it takes more than ``timeout`` seconds.
    """
    command: list[str] = json.loads(variables["TIDEMARK_PREPARE"])
    version = variables["TIDEMARK_VERSION"]

    def make(new: Path) -> None:
        new.mkdir()
        _run(command, {**variables, "TIDEMARK_PREPARED": str(new)}, timeout)

    return kept(f"{Path.cwd().name}-{version}", _content(command), variables, make)


def _content(command: list[str]) -> bytes:
    """Return a command with the workload's files, whose change may change what it installs."""
    files = (path for path in sorted(Path().rglob("*")) if path.is_file())
    sources = [path for path in files if "__pycache__" not in path.parts]
    parts = [str(Path.cwd()).encode(), *(word.encode() for word in command)]
    return b"\0".join([*parts, *(path.read_bytes() for path in sources)])


def _run(command: list[str], variables: Mapping[str, str], timeout: float) -> None:
    program = shutil.which(command[0], path=variables["PATH"])
    if program is None:
        raise ConfigurationError(
            f"{command[0]} is not on the PATH: it installs version {variables['TIDEMARK_VERSION']}."
        )
    done = subprocess.run(
        [program, *command[1:]],
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stdout.split())[-_LONGEST_REASON:]
        raise ConfigurationError(
            f"version {variables['TIDEMARK_VERSION']} could not be installed: {command[0]} ended "
            f"with exit code {done.returncode}: {reason}"
        )
