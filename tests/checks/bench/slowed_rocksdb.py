"""The system of the benchmarks of real runs: one RocksDB under the names of several versions."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from tidemark.model.checkout import ROOT

RELEASE = "9.8.4"
COMPARED, SEARCHED = "rocksdb", "search"
"""The suite as it is shipped, with other versions, and one of its ingest test, for searches."""
BASE = "0.0.0"
LOSSES = (0, 5, 10, 20)
"""The slowdowns of the compared versions [%]."""
SEARCHED_LOSS, SEARCHED_VERSIONS = 15, 11
"""The slowdown that searches look for [%], and their versions: as many as the suite has."""
FIRST_SLOWER: dict[int, int | None] = {1: None, 2: 2, 3: 6, 4: 9}
"""The place of the first slower version in each search, counted from 0; None if there is none."""
_JOBS, _SAME_WITHIN = 6, 0.1
_WORKLOAD = Path("workloads") / "rocksdb"


def slowed(loss: int) -> str:
    """Return the version that is slower by a percentage."""
    return f"0.1.{loss}"


def searched(number: int) -> list[str]:
    """Return the versions of a search, the oldest first; its number begins them."""
    first = FIRST_SLOWER[number]
    losses = (
        SEARCHED_LOSS if first is not None and place >= first else 0
        for place in range(SEARCHED_VERSIONS)
    )
    return [f"{number}.{place}.{loss}" for place, loss in enumerate(losses)]


def write_system(folder: Path) -> None:
    """Write both suites and the workload of the slowed versions into a folder."""
    workload = Path(__file__).with_name("slowed_workload.py")
    compared = [BASE, *map(slowed, LOSSES)]
    write_workload(folder, workload, (*compared, *_all_searched()))
    write_suite(folder, suite_of(COMPARED, workload.stem, compared))
    write_suite(folder, _of_searches(workload.stem))


def write_workload(folder: Path, workload: Path, versions: Iterable[str]) -> None:
    """Write the workload of RocksDB into a new folder, with a module and versions beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in (_WORKLOAD, Path("workloads") / "harness"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(workload, folder / _WORKLOAD)
    pins = folder / _WORKLOAD / "pins"
    for version in versions:
        shutil.copy(pins / f"{RELEASE}.txt", pins / f"{version}.txt")


def _all_searched() -> Iterator[str]:
    for number in FIRST_SLOWER:
        yield from searched(number)


def suite_of(name: str, workload: str, versions: Iterable[str]) -> dict[str, Any]:
    """Return the shipped suite with one metric a test, other versions and another workload."""
    file = ROOT / "suites" / "rocksdb" / "suite.yaml"
    suite: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    package = suite["subject"]["versions"][RELEASE]
    suite["name"] = name
    # Trials of one version: rounds have a benchmark of their own.
    for field in ("layout", "until", "within_seconds"):
        suite["defaults"].pop(field)
    for test in suite["tests"]:
        # One rate a test: the slowed workload slows the upload as it slows the engine.
        test["metrics"] = test["metrics"][:1]
        test["metrics"][0].pop("decides", None)
    suite["subject"]["versions"] = dict.fromkeys(versions, package)
    suite["defaults"]["versions"] = list(suite["subject"]["versions"])
    suite["task"]["entry_point"] = ["python", "-m", "harness", workload]
    return suite


def _of_searches(workload: str) -> dict[str, Any]:
    """Return a suite whose trials cost little: one test of short jobs.

    The quantile is that of the jobs that nothing else on the machine disturbed. Most pairs of a
    search prove that versions are the same; bounds of ±10 % tell them from 15 % with fewer pairs.
    """
    suite = suite_of(SEARCHED, workload, _all_searched())
    suite["defaults"]["versions"] = suite["defaults"]["versions"][:2]
    ingest, _ = suite["tests"]
    ingest["jobs"] = _JOBS
    ingest["metrics"][0] |= {"statistics": ["p90"], "same_within": _SAME_WITHIN}
    suite["tests"] = [ingest]
    return suite


def write_suite(folder: Path, suite: dict[str, Any]) -> None:
    """Write a suite into a folder of systems."""
    file = folder / "suites" / suite["name"] / "suite.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
