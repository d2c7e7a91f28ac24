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
from tidemark.model.metric import queries_of
from tidemark.model.suite import Suite

FOLDER = ROOT / "suites"
_PACKED = "suite.json"
_HARNESS = "harness"
_DIGITS = 12
_SHARED = ROOT / "queries" / "logs"


def query_file(suite: str, query: str, suites: Path = FOLDER) -> Path:
    """Return the file of a log query: the suite's own file, or else the file of all suites."""
    of_suite, shared = suites / suite / f"{query}.cwli", _SHARED / f"{query}.cwli"
    return shared if shared.exists() and not of_suite.exists() else of_suite


def query_text(suite: Suite, query: str, suites: Path = FOLDER) -> str:
    """Return the text of a log query: what Tidemark writes for a metric's lines, or its file."""
    return written_queries(suite).get(query) or query_file(suite.name, query, suites).read_text(
        encoding="utf-8"
    )


def written_queries(suite: Suite) -> dict[str, str]:
    """Return the queries that Tidemark writes for a suite, by name."""
    metrics = (metric for test in suite.tests for metric in test.metrics if metric.log)
    return {name: text for metric in metrics for name, text in queries_of(metric).items()}


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
    for name, text in written_queries(suite).items():
        (folder / f"{name}.cwli").write_text(text, encoding="utf-8")


def queries_digest(suite: Suite, suites: Path = FOLDER) -> str:
    """Return the SHA-256, in hex, of the log queries that give the figures of a suite."""
    metrics = [metric for test in suite.tests for metric in test.metrics]
    figures = [query for metric in metrics for query in metric.queries]
    figures += [series.query for test in suite.tests for series in test.series]
    texts = {query: query_text(suite, query, suites).encode() for query in figures}
    return _digest((f"{name}.cwli", texts[name]) for name in sorted(texts))


def copy_digest(suite: Suite, systems: Path) -> str:
    """Return the digest of what every deployment copies of a suite: the suite and all queries."""
    folders = (_SHARED, systems / "suites" / suite.name)
    files = (path for folder in folders for path in sorted(folder.glob("*.cwli")))
    queries = _digest((path.name, path.read_bytes()) for path in files)
    return hashlib.sha256(f"{suite.model_dump_json()}{queries}".encode()).hexdigest()[:_DIGITS]


def programs_digest(suite: Suite, systems: Path) -> str:
    """Return the digest of the programs of a suite's tests and services, which images copy."""
    tasks = [suite.task, *(service.task for service in suite.services.values())]
    names = {_HARNESS, *(task.workload for task in tasks if task.workload)}
    root = systems / "workloads"
    files = (path for name in sorted(names) for path in _programs(root / name))
    contents = ((path.relative_to(root).as_posix(), path.read_bytes()) for path in files)
    return _digest(contents)[:_DIGITS]


def _programs(folder: Path) -> Iterator[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    yield from (path for path in files if "__pycache__" not in path.parts)


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256, in hex, of files, each with its name."""
    hasher = hashlib.sha256()
    for name, content in files:
        hasher.update(f"{name}\0".encode())
        hasher.update(hashlib.sha256(content).digest())
    return hasher.hexdigest()


@lru_cache(maxsize=1)
def packed_suites() -> dict[str, Suite]:
    """Return the checked suites that the Lambda asset has as JSON."""
    return {
        path.parent.name: Suite.model_validate_json(path.read_bytes())
        for path in sorted(FOLDER.glob(f"*/{_PACKED}"))
    }
