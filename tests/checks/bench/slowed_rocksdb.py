"""The system of the benchmark of real runs: one RocksDB under the names of several versions."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from tidemark.model.checkout import ROOT

RELEASE = "9.8.4"
BASE = "0.0.0"
LOSSES = (0, 5, 10, 20)
"""The slowdowns of the versions [%]."""
_WORKLOAD = Path("workloads") / "rocksdb"
_SUITE = Path("suites") / "rocksdb"


def slowed(loss: int) -> str:
    """Return the version that is slower by a percentage."""
    return f"0.1.{loss}"


def write_system(folder: Path) -> None:
    """Write the suite and the workload of the slowed versions into a folder."""
    for part in (_SUITE, _WORKLOAD, Path("workloads") / "harness"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    workload = Path(__file__).with_name("slowed_workload.py")
    shutil.copy(workload, folder / _WORKLOAD)
    file = folder / _SUITE / "suite.yaml"
    suite = yaml.safe_load(file.read_text(encoding="utf-8"))
    package = suite["subject"]["versions"][RELEASE]
    versions = [BASE, *map(slowed, LOSSES)]
    suite["subject"]["versions"] = dict.fromkeys(versions, package)
    suite["defaults"]["versions"] = versions
    suite["task"]["entry_point"] = ["python", "-m", "harness", workload.stem]
    file.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    pins = folder / _WORKLOAD / "pins"
    for version in versions:
        shutil.copy(pins / f"{RELEASE}.txt", pins / f"{version}.txt")
