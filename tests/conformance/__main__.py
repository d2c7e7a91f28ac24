"""Ask Trino and this machine's engine every saved query; exit code 1 if any answer differs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from cdk.definition import data_sets, read_definition
from suites.files import ROOT
from suites.tables import TABLES
from tests.conformance.figures import rows_of, stored_figures
from tests.conformance.local_engine import LocalEngine
from tests.conformance.trino import start_trino

Answer = tuple[list[tuple[str, str]], list[list[Any]]]
Ask = Callable[[str], Answer]


def differences(ours: Answer, trinos: Answer) -> list[str]:
    """Return where two answers differ: columns, types, order of rows, and values bit for bit."""
    if ours[0] != trinos[0]:
        return [f"columns: {ours[0]}, Trino {trinos[0]}"]
    return [
        f"row {number}: {_shown(our)}, Trino {_shown(theirs)}"
        for number, (our, theirs) in enumerate(zip_longest(ours[1], trinos[1]), start=1)
        if _shown(our) != _shown(theirs)
    ]


def main(home: Path, memory_plugin: Path) -> int:
    """Compare and print; return the exit code."""
    console = Console(width=110)
    objects = stored_figures()
    ours = LocalEngine(objects)
    began = time.monotonic()
    with start_trino(home, memory_plugin) as trino:
        console.print(f"Trino started in {time.monotonic() - began:.1f} s")
        began = time.monotonic()
        for table in TABLES:
            trino.load(table, rows_of(objects, table))
        console.print(f"Tables loaded in {time.monotonic() - began:.1f} s")
        found = [*_compare(ours.ask, trino.ask, console), *_without_database(trino.ask)]
        console.print(f"Trino took {trino.peak_bytes() / 1e9:.2f} GB at most")
    for difference in found:
        console.print(difference, markup=False)
    return int(bool(found))


def _compare(ours: Ask, trinos: Ask, console: Console) -> list[str]:
    """Return all differences, having shown how many each query has."""
    table = Table("Query", "Rows", "Here", "Trino", "Differences")
    everything = []
    for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        (our, our_time), (theirs, their_time) = _timed(ours, text), _timed(trinos, text)
        found = differences(our, theirs)
        # Answers without rows would agree whatever the engines did.
        if not theirs[1]:
            found.append("no rows")
        times = f"{our_time:.2f} s", f"{their_time:.2f} s"
        table.add_row(path.name, str(len(theirs[1])), *times, str(len(found)))
        everything += [f"{path.name}: {difference}" for difference in found]
    console.print(table)
    return everything


def _without_database(trinos: Ask) -> Iterator[str]:
    """Yield the data sets that give other rows if their own text names the database."""
    for data_set in data_sets(read_definition()).values():
        # The order of a subquery is not that of the query around it.
        plain, within = (
            sorted(map(_shown, trinos(text)[1]))
            for text in (data_set.sql, data_set.within("default"))
        )
        if plain != within:
            yield f"{data_set.name}: other rows when its text names the database"


def _timed(ask: Ask, text: str) -> tuple[Answer, float]:
    began = time.monotonic()
    return ask(text), time.monotonic() - began


def _shown(row: list[Any] | None) -> list[str]:
    """Return a row's values such that only the same ones are equal: 0.0 and -0.0 are not."""
    return (
        ["no row"]
        if row is None
        else [value.hex() if isinstance(value, float) else repr(value) for value in row]
    )


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:])))
