"""The folder of one version: the workload's command installs it, or its user has built its jars."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

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


def jars_of_version(variables: Mapping[str, str]) -> Path:
    """Return the folder with the jars of the version.

    ``TIDEMARK_PACKAGE`` is the name of a folder in that of ``TIDEMARK_JARS``, or
    ``NAME@file:///PATH/#sha256=DIGEST`` for another folder.

    Raises
    ------
    ConfigurationError
        If there is no jar, or if the jars of a digest have another one.
    """
    place, advice = json.loads(variables["TIDEMARK_JARS"])
    name, _, url = variables["TIDEMARK_PACKAGE"].partition("@")
    folder = Path(unquote(urlsplit(url).path)) if url else Path(place).expanduser() / name
    # The shell's *.jar has no hidden files.
    found = [jar for jar in folder.glob("[!.]*.jar") if jar.is_file()]
    jars = sorted(found, key=lambda jar: jar.name)
    if not jars:
        raise ConfigurationError(f"{folder} has no file *.jar: {advice}")
    digest = url.rpartition("#sha256=")[2]
    if url and _digest(jars) != digest:
        raise ConfigurationError(f"{folder} has other jars than when the run was planned.")
    return folder


def _digest(jars: Sequence[Path]) -> str:
    """Return the SHA-256 of the lines that ``sha256sum *.jar`` prints in the folder."""
    sums = hashlib.sha256()
    for jar in jars:
        try:
            with jar.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigurationError(f"{jar} cannot be read: {error.strerror}") from None
        sums.update(f"{content}  {jar.name}\n".encode())
    return sums.hexdigest()
