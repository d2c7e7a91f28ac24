"""The suites of the Lambda asset, as JSON, and the files of log queries.

In the asset as in the checkout, ``suites/<name>/`` holds a suite and the queries of this suite
alone, and ``queries/logs`` holds the queries of all suites.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from tidemark.model.checkout import ROOT
from tidemark.model.suite import Suite

FOLDER = ROOT / "suites"
_PACKED = "suite.json"
_HARNESS = "harness"
_DIGITS = 12
_SHARED = ROOT / "queries" / "logs"


def query_file(suite: str, query: str, suites: Path = FOLDER) -> Path:
    """Return the file of a log query: the suite's own file, or else the file of all suites."""
    of_suite = suites / suite / f"{query}.cwli"
    return of_suite if of_suite.exists() else _SHARED / f"{query}.cwli"


def shared_queries() -> list[Path]:
    """Return the files of the log queries of all suites."""
    return sorted(_SHARED.glob("*.cwli"))


def pack_suite(suite: Suite, systems: Path, asset: Path) -> None:
    """Write a checked suite and its own queries into the folder of the Lambda asset."""
    folder = asset / "suites" / suite.name
    folder.mkdir(parents=True)
    (folder / _PACKED).write_text(suite.model_dump_json(), encoding="utf-8")
    for path in sorted((systems / "suites" / suite.name).glob("*.cwli")):
        (folder / path.name).write_bytes(path.read_bytes())


def queries_digest(suite: Suite, suites: Path = FOLDER) -> str:
    """Return the SHA-256, in hex, of the log queries that give the figures of a suite."""
    metrics = [metric for test in suite.tests for metric in test.metrics]
    figures = [query for metric in metrics for query in metric.queries]
    figures += [series.query for test in suite.tests for series in test.series]
    files = {query_file(suite.name, query, suites) for query in figures}
    return _digest(sorted(files, key=lambda path: path.name))


def copy_digest(suite: Suite, systems: Path) -> str:
    """Return the digest of what every deployment copies of a suite: the suite and all queries."""
    folders = (_SHARED, systems / "suites" / suite.name)
    queries = _digest(path for folder in folders for path in sorted(folder.glob("*.cwli")))
    return hashlib.sha256(f"{suite.model_dump_json()}{queries}".encode()).hexdigest()[:_DIGITS]


def programs_digest(suite: Suite, systems: Path) -> str:
    """Return the digest of the programs that images copy: those of a suite's tests and services."""
    tasks = [suite.task, *(service.task for service in suite.services.values())]
    names = {_HARNESS, *(task.workload for task in tasks if task.workload)}
    root = systems / "workloads"
    files = (path for name in sorted(names) for path in _programs(root / name))
    return _digest(files, root)[:_DIGITS]


def _programs(folder: Path) -> Iterator[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    yield from (path for path in files if "__pycache__" not in path.parts)


def _digest(files: Iterable[Path], root: Path | None = None) -> str:
    """Return the SHA-256, in hex, of files with their names, or their paths within a root."""
    hasher = hashlib.sha256()
    for path in files:
        name = path.relative_to(root).as_posix() if root else path.name
        hasher.update(f"{name}\0".encode())
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    return hasher.hexdigest()


@lru_cache(maxsize=1)
def packed_suites() -> dict[str, Suite]:
    """Return the checked suites that the Lambda asset has as JSON."""
    return {
        path.parent.name: Suite.model_validate_json(path.read_bytes())
        for path in sorted(FOLDER.glob(f"*/{_PACKED}"))
    }
