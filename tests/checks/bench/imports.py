"""Import times of the handlers, relative to a bare Powertools handler."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from tidemark.model.checkout import ROOT

ROUNDS = 15
BARE = "tests.checks.bench.bare_handler"


@dataclass(frozen=True)
class ImportTime:
    """Fastest import of a module, and its ratio to the bare handler's."""

    module: str
    seconds: float
    ratio: float


def import_times() -> Iterator[ImportTime]:
    """Yield the fastest import of each handler over interleaved rounds."""
    files = sorted((ROOT / "lambdas").glob("*.py"))
    handlers = [path.stem for path in files if "\ndef handler(" in path.read_text()]
    modules = [BARE, *(f"lambdas.{name}" for name in handlers)]
    fastest = dict.fromkeys(modules, float("inf"))
    for _ in range(ROUNDS):
        for module in modules:
            fastest[module] = min(fastest[module], _import_seconds(module))
    for module in modules:
        yield ImportTime(module, fastest[module], fastest[module] / fastest[BARE])


def _import_seconds(module: str) -> float:
    code = (
        "import time; began = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - began)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
