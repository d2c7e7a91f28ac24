"""The seed's query over a log store with templates of log statements, and over one without.

``python -m tests.checks.bench.log_templates`` prints CPU times, sizes, and what templates cost.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

from cwli.insights import run
from onebox.logs.store import LogStore
from onebox.logs.templates import LEAST_BYTES
from tests.checks.bench.insights_data import KINDS, NO_TEMPLATES, store_of
from tests.checks.bench.insights_speed import SEED

LINES = 10_000_000
ROUNDS = 3


class Measured(NamedTuple):
    """The answer over a store, the least times of the query, and the store's size and making."""

    answer: float
    cpu_seconds: float
    seconds: float
    bytes: int
    made_seconds: float


def measured(kind: str, lines: int, templated_bytes: int) -> Measured:
    """Measure the query over a store, which is made if it is missing."""
    began = time.process_time()
    store = store_of(kind, lines, templated_bytes)
    made = time.process_time() - began
    rounds = [_asked(store) for _ in range(ROUNDS)]
    size = sum(file.stat().st_size for file in store.rglob("*.parquet"))
    answers, cpu_seconds, seconds = zip(*rounds, strict=True)
    return Measured(answers[0], min(cpu_seconds), min(seconds), size, made)


def _asked(store: Path) -> tuple[float, float, float]:
    events = LogStore(store).events(["bench"])
    cpu, began = time.process_time(), time.perf_counter()
    answer = float(run(SEED, events).rows[0][0]["value"])
    return answer, time.process_time() - cpu, time.perf_counter() - began


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="tests.checks.bench.log_templates")
    parser.add_argument("--lines", type=int, default=LINES)
    lines = parser.parse_args(arguments).lines
    for kind in KINDS:
        old, new = measured(kind, lines, NO_TEMPLATES), measured(kind, lines, LEAST_BYTES)
        assert abs(old.answer - new.answer) < 1e-4, f"{old.answer} is not {new.answer}"
        for name, each in (("messages", old), ("templates", new)):
            print(
                f"{kind}, {lines:,} lines, {name}: {each.cpu_seconds:.2f} s of CPU, "
                f"{each.seconds:.2f} s, {each.bytes / 2**20:.0f} MiB, made in "
                f"{each.made_seconds:.1f} s of CPU (0.0 if it was there)"
            )
        print(
            f"{kind}: {old.cpu_seconds / new.cpu_seconds:.1f} times as fast by CPU, "
            f"{old.seconds / new.seconds:.1f} by time"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
