"""A known slower operation of a server: its verdict names it, and equal versions have none.

``python -m tests.checks.bench.slowed_operation RUNS`` measures, with Kiwi TCMS's bounded test and
its Locust load, a stand-in for the server: two versions are the same, and the third takes a fifth
longer for one operation. Exit code 1 if fewer than four of five runs name the operation alone, or
if a run names any of the equal versions.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.checks.bench.slowed_runs import opened, run
from tests.checks.bench.slowed_service import SLOWED, SLOWER
from tidemark.model.checkout import ROOT
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run
from tidemark.store.version_rows import verdict_rows

FOLDER = ROOT / ".bench" / "operation"
SUITE = "kiwi"
BASE, SAME = "0.0.0", "0.0.1"
REPETITIONS, USERS, SECONDS = 6, 5, 10
_SERVICE = Path(__file__).with_name("slowed_service.py")


def write_system(folder: Path) -> None:
    """Write the bounded test with the stand-in and its versions into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__")
    for part in ("suites/kiwi", "workloads/kiwi_load", "workloads/harness"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignore)
    server = folder / "workloads" / "kiwi_server"
    server.mkdir()
    shutil.copy(_SERVICE, server)
    (server / "packages.txt").touch()
    file = folder / "suites" / "kiwi" / "suite.yaml"
    suite = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(_changed(suite), sort_keys=False), encoding="utf-8")


def _changed(suite: dict[str, Any]) -> dict[str, Any]:
    """Return the shipped suite with the stand-in as its server, and its bounded test alone."""
    form, versions = r"\d+\.\d+\.\d+", [BASE, SAME, SLOWER]
    suite["subject"] = {"prepare": ["true"], "form": form, "versions": versions}
    del suite["axes"], suite["services"]["agent"]
    server = suite["services"]["server"]
    server["task"]["entry_point"] = ["python", _SERVICE.name]
    server["ready"] = {"http": ":8080/"}
    del server["sizes"]
    suite["defaults"] = {"versions": versions, "repetitions": REPETITIONS}
    suite["tests"] = [test for test in suite["tests"] if test["name"] == "bounded"]
    for name in ("r", "records"):
        del suite["parameters"][name]
    return suite


def named(folder: Path, new: str) -> Sequence[str]:
    """Return the operations that the newest run says are slower in a version than in the base."""
    with opened(folder) as bucket:
        newest = max(bucket.folders("runs/"))
        stored = read_run(bucket, read_plan(bucket, newest))
    judged = [
        (json.loads(row["labels"])["operation"], row["statistic"], row["verdict"])
        for row in verdict_rows(stored)
        if (row["metric"], row["baseline"], row["version"]) == ("latency", BASE, new)
    ]
    for operation, statistic, word in judged:
        print(f"  {new} {operation} {statistic}: {word}", flush=True)
    return sorted({operation for operation, _, word in judged if word == "slower"})


def main(runs: int) -> int:
    """Measure and judge; return the exit code."""
    write_system(FOLDER / "system")
    found, wrong = 0, 0
    for number in range(1, runs + 1):
        settings = ("--set", f"users={USERS}", "--set", f"duration={SECONDS}")
        run(FOLDER, "run", SUITE, "--baseline", BASE, *settings)
        same, slower = named(FOLDER, SAME), named(FOLDER, SLOWER)
        found += slower == [SLOWED]
        wrong += bool(same)
        print(f"run {number}: slower {slower}; of equal versions {same}", flush=True)
    print(f"{found} of {runs} runs name {SLOWED} alone; {wrong} name one of equal versions")
    return int(found < 0.8 * runs or wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
