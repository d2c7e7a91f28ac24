"""The environment of a measurement: the machine, the interpreter and the engine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
from importlib.metadata import distribution
from pathlib import Path

from rocksdb_workload import engine, log
from rocksdb_workload.checks import CheckFailedError
from rocksdb_workload.configuration import Configuration


def log_environment(configuration: Configuration, scratch: Path) -> None:
    """Log the environment as one line of JSON with sorted keys; ``memory`` is in bytes.

    Raises
    ------
    CheckFailedError
        If the engine has another version than the configuration.
    """
    probe = scratch / "probe"
    engine.open_store(probe).close()
    engine_version = engine.version(probe)
    environment = {
        "arch": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "cpu_model": _cpu_model(Path("/proc/cpuinfo").read_text()),
        "engine_version": engine_version,
        "host": socket.gethostname(),
        "kernel": platform.release(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "package": configuration.package,
        "package_digest": _digest(configuration.package),
        "python": platform.python_version(),
        "version": configuration.version,
    }
    log.info("Environment", f"Environment: {json.dumps(environment, sort_keys=True)}")
    if engine_version != configuration.version:
        raise CheckFailedError(
            f"The engine in {configuration.package} is RocksDB {engine_version}: "
            f"{configuration.version} was expected."
        )


def _cpu_model(cpuinfo: str) -> str:
    # A kernel on Arm gives the part's number instead of a name.
    model = re.search(r"^(?:model name|CPU part)\s*: (.+)$", cpuinfo, re.MULTILINE)
    return model[1] if model else platform.machine()


def _digest(package: str) -> str:
    # The wheel's own list of its files and their digests.
    listing = distribution(package.partition("==")[0]).read_text("RECORD") or ""
    return hashlib.sha256(listing.encode()).hexdigest()
