"""The Python environment of one version, made by uv before any clock starts."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from rocksdb_workload.configuration import ConfigurationError

BOTO3 = "boto3==1.44.5"
# A package may be replaced on its way: only files with these hashes are installed.
_BOTO3_PINS = Path(__file__).with_name("boto3.txt")
_RELEASES = Path(__file__).with_name("rocksdict.txt")


def prepare(package: str, variables: Mapping[str, str], timeout: float) -> Path:
    """Return the interpreter of an environment with ``package`` and boto3; make it if missing.

    ``TIDEMARK_UV`` names uv's program, by default ``uv`` on the ``PATH``. ``TIDEMARK_CACHE`` names
    the folder of the environments, by default ``~/.cache/tidemark``.

    Raises
    ------
    ConfigurationError
        If the package has no pinned hashes, or if uv is not found or cannot install it.
    subprocess.TimeoutExpired
        If the calls of uv take more than ``timeout`` seconds in all.
    """
    cache = Path(variables.get("TIDEMARK_CACHE") or Path.home() / ".cache" / "tidemark")
    environment = cache / f"{package}_{BOTO3}_python{platform.python_version()}"
    if not environment.exists():
        cache.mkdir(parents=True, exist_ok=True)
        uv = _find_uv(variables)
        with tempfile.TemporaryDirectory(dir=cache, prefix="making-") as folder:
            _install(uv, package, Path(folder) / "environment", timeout)
            _publish(Path(folder) / "environment", environment)
    return environment / "bin" / "python"


def _find_uv(variables: Mapping[str, str]) -> str:
    name = variables.get("TIDEMARK_UV")
    uv = shutil.which(name or "uv")
    if uv is None:
        raise ConfigurationError(
            f"TIDEMARK_UV is {name!r}: the path of uv is accepted, or none if uv is on the PATH."
        )
    return uv


def _release(package: str) -> str:
    """Return a package with the hashes of its files, as a file of requirements has them."""
    lines = rf"^{re.escape(package)}( \\\n +--hash=\S+)+"
    found = re.search(lines, _RELEASES.read_text(encoding="ascii"), re.MULTILINE)
    if found is None:
        raise ConfigurationError(
            f"TIDEMARK_PACKAGE is {package!r}: a release with hashes in {_RELEASES.name} is "
            "accepted."
        )
    return found[0]


def _install(uv: str, package: str, environment: Path, timeout: float) -> None:
    release, deadline = _release(package), time.monotonic() + timeout

    def failure(*arguments: str) -> str:
        left = max(0.0, deadline - time.monotonic())
        done = subprocess.run(
            [uv, *arguments],
            input=release,
            capture_output=True,
            text=True,
            timeout=left,
            check=False,
        )
        if done.returncode == 0:
            return ""
        # uv draws its reasons as a tree over several lines.
        message = " ".join(re.sub(r"[^ -~]", " ", done.stderr).split())
        return message or f"exit code {done.returncode}"

    # Wheels only: a package that is built here would not be the released one.
    install = ["pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(environment)]
    requirements = ["--require-hashes", "--requirement", str(_BOTO3_PINS), "--requirement", "-"]
    reason = failure("venv", "--quiet", "--python", sys.executable, str(environment))
    # uv's cache comes first: it needs no network, and an exact version is never out of date.
    if not reason and failure(*install, "--offline", *requirements):
        reason = failure(*install, *requirements)
    if reason:
        raise ConfigurationError(
            f"TIDEMARK_PACKAGE is {package!r}, which uv could not install: {reason}"
        )


def _publish(new: Path, environment: Path) -> None:
    try:
        # One step, so that a task that starts meanwhile finds the whole environment or nothing.
        new.rename(environment)
    except OSError:
        # Another task was first: rename never replaces a folder that is not empty.
        if not environment.exists():
            raise
