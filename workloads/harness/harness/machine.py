"""The environment of a measurement: the machine and its cores, the interpreter and the engine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
from importlib.metadata import distributions
from pathlib import Path

from harness import log
from harness.engine import Engine
from harness.storage import digest
from harness.task import CheckFailedError, Configuration


def log_environment(engine: Engine, configuration: Configuration, scratch: Path) -> None:
    """Log the machine and the version that is measured.

    Raises
    ------
    CheckFailedError
        If the system reports another version than the configuration has for a release.
    """
    probe = scratch / "probe"
    probe.mkdir()
    engine_version = engine.version(probe)
    log_version(engine_version, configuration.version, configuration.package)
    # A wheel that nobody released has a name of its own, beside the version that it reports.
    released = "@file:" not in configuration.package
    if released and engine_version != configuration.version:
        raise CheckFailedError(
            f"The system that was measured is {engine.title} {engine_version}: "
            f"{configuration.version} was expected."
        )


def log_version(engine_version: str, version: str, package: str, **more: str) -> None:
    """Log the machine, the version that the system reports, and what was installed for it.

    ``package`` has the requirements of the asked ``version``; ``more`` are further fields.
    """
    log_machine(
        engine_version=engine_version,
        package=package,
        package_digest=installed_digest(),
        version=version,
        **more,
    )


def log_machine(**more: str) -> None:
    """Log the machine as one line of JSON with sorted keys; ``memory`` is in bytes."""
    environment = {
        "arch": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "cpu_model": _cpu_model(Path("/proc/cpuinfo").read_text()),
        "host": socket.gethostname(),
        "kernel": platform.release(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
        f"program_{Path.cwd().name}": _program_digest(),
        **more,
    }
    log.info("Environment", f"Environment: {json.dumps(environment, sort_keys=True)}")


def _cpu_model(cpuinfo: str) -> str:
    # A kernel on Arm gives the part's number instead of a name.
    model = re.search(r"^(?:model name|CPU part)\s*: (.+)$", cpuinfo, re.MULTILINE)
    return model[1] if model else platform.machine()


def _program_digest() -> str:
    """Return a digest of the files of the program and of the harness, which somebody may edit."""
    folders = (Path(), Path(__file__).parent)
    lines = [line for folder in folders for line in _lines(folder)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def _lines(folder: Path) -> list[str]:
    """Return the path in a folder and the digest of each of its files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if "__pycache__" not in path.parts)
    return [f"{path.relative_to(folder)}\0{digest(path)}\n" for path in kept]


def installed_digest() -> str:
    """Return the SHA-256 of what was installed: lists of packages' files, and prepared files."""
    listings = sorted(each.read_text("RECORD") or "" for each in distributions())
    prepared = Path(os.environ.get("TIDEMARK_PREPARED") or os.devnull)
    files = sorted(path for path in prepared.rglob("*") if path.is_file())
    return hashlib.sha256("".join([*listings, *map(digest, files)]).encode()).hexdigest()


def keep_apart(host: str, *, serves: bool) -> None:
    """Keep this process, and those that it starts, on the server's or the load's half of the cores.

    A server at a loopback address shares its machine with the load, and each would slow the other.
    At another ``host``, or with one core, nothing changes.
    """
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if half and host.startswith("127."):
        os.sched_setaffinity(0, cores[half:] if serves else cores[:half])
