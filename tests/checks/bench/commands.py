"""Times of reading commands, relative to the import of the libraries that they need.

``python -m tests.checks.bench.commands`` measures whole processes, interleaved: each command over
a store of three runs, and ``tidemark --help``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from onebox.store.object_files import ObjectFiles
from tests.unit.measured_runs import measured, planned
from tidemark.model.checkout import ROOT
from tidemark.one_machine.stored import FileBucket, InProcessPublisher, own_bucket
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_ends import record_run
from tidemark.store.run_objects import read_trials

ROUNDS = 7
RUNS = 3
BUCKET = own_bucket("Tidemark")
_LIBRARIES = [sys.executable, "-c", "import duckdb, click, rich"]
_CLICK = [sys.executable, "-c", "import click"]
TIDEMARK = str(Path(sys.executable).with_name("tidemark"))
READING = {
    "runs": ["runs"],
    "history": ["history", "rocksdb"],
    "show": ["show"],
    "sql": ["sql", "SELECT version, avg(value) FROM rates GROUP BY version"],
}


@dataclass(frozen=True)
class CommandTime:
    """The fastest process of a command, and its ratio to the process that imports libraries."""

    name: str
    seconds: float
    ratio: float
    limit: float


def store_runs(state: Path) -> None:
    """Store complete runs of two versions in a state folder."""
    files = ObjectFiles(state / "objects")
    bucket = FileBucket(files, BUCKET)
    first = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for number in range(RUNS):
        name = f"{first + timedelta(hours=number):%Y%m%dT%H%M%SZ}-00000{number}"
        _store_run(bucket, name)
    files.close()


def _store_run(bucket: Bucket, name: str) -> None:
    plan = planned(["9.0.0", "9.8.4"], name=name)
    bucket.write(keys.plan(name), plan.model_dump_json().encode())
    for trial in measured(plan):
        own = trial.model_copy(update={"run_id": name})
        bucket.write(keys.trial(name, trial.trial), own.model_dump_json().encode())
    publisher = InProcessPublisher(bucket)
    publisher.rates(name)
    publisher.report(name)
    trials = read_trials(bucket, name)
    outcome = planned_outcome(plan, trials, set(), plan.execution_arn, datetime.now(UTC))
    bucket.write(keys.outcome(name), outcome.model_dump_json().encode())
    record_run(bucket, plan, trials, outcome)


def command_times() -> Iterator[CommandTime]:
    """Yield the fastest process of each command over interleaved rounds."""
    with tempfile.TemporaryDirectory() as folder:
        store_runs(Path(folder))
        reading = {name: [TIDEMARK, *words, "--state", folder] for name, words in READING.items()}
        commands = {**reading, "--help": [TIDEMARK, "--help"]}
        seconds = fastest({**commands, "libraries": _LIBRARIES, "click": _CLICK})
    for name in commands:
        base, limit = ("click", 2.0) if name == "--help" else ("libraries", 3.0)
        yield CommandTime(name, seconds[name], seconds[name] / seconds[base], limit)


def fastest(commands: dict[str, list[str]]) -> dict[str, float]:
    """Return the least time [s] of each command over interleaved rounds."""
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(ROUNDS):
        for name, words in commands.items():
            least[name] = min(least[name], _seconds(words))
    return least


def _seconds(words: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - began


def main() -> int:
    """Measure and print; return 1 if a command exceeds its limit."""
    times = list(command_times())
    for one in times:
        print(f"{one.name}: {one.seconds * 1000:.0f} ms, {one.ratio:.2f} x, limit {one.limit:g} x")
    return int(any(one.ratio > one.limit for one in times))


if __name__ == "__main__":
    sys.exit(main())
