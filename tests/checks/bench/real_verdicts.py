"""Verdicts on real runs of a RocksDB that is slowed by known percentages.

``python -m tests.checks.bench.real_verdicts measure RECORDS REPETITIONS`` measures one RocksDB
under five names, four of them slowed, until ``.bench/slowed`` has as many whole repetitions of
trials of this length. If it is stopped, the same command goes on. Without arguments the program
writes the tables and the picture of docs/verdicts.md from all stored repetitions.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.checks.bench import verdict_picture
from tests.checks.bench.drawn_verdicts import repetitions
from tests.checks.bench.real_tables import cells, lengths, tables
from tests.checks.bench.slowed_rocksdb import COMPARED
from tests.checks.bench.slowed_runs import FOLDER, start, stored
from tests.checks.docs import write_part

_PICTURE = (
    "![Right verdicts by the machine time of a run, for each slowdown, rule and length of "
    "trials](verdicts.png)"
)


def measure(folder: Path, records: int, wanted: int) -> None:
    """Measure the repetitions of one length that a folder lacks."""
    runs = [run for run in stored(folder, COMPARED) if run.records == records]
    if (lacking := wanted - len(repetitions(runs))) > 0:
        size = ["--set", f"records={records}", "--repetitions", str(lacking)]
        start(folder, "run", COMPARED, *size)


def publish(folder: Path) -> str:
    """Write the picture of a folder's repetitions, and return the part of the page."""
    measured = lengths(stored(folder, COMPARED))
    found = cells(measured)
    verdict_picture.draw(found)
    return f"{_PICTURE}\n\n{''.join(tables(measured, found))}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", records, wanted]:
            measure(FOLDER, int(records), int(wanted))
        case []:
            text = publish(FOLDER)
            print(text)
            write_part("verdicts.md", "real verdicts", text)
        case _:
            sys.exit(__doc__)
