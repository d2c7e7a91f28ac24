"""Compare Trino's and the local answers; exit code 1 on a difference.

The statements are all saved queries, the syntax of Trino and of other databases, every function,
operands that Trino refuses, and drawn arithmetic.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from rich.console import Console
from rich.table import Table
from trino.exceptions import TrinoQueryError
from trino_functions import statements
from trino_syntax import FOREIGN, NATIVE, REFUSED, arithmetic, in_duckdb

from onebox.athena import api as athena
from onebox.athena.execution import text
from tests.checks.conformance.figures import rows_of, stored_figures
from tests.checks.conformance.local_engine import LocalEngine
from tests.checks.conformance.trino import start_trino
from tidemark.dashboard.data_sets import DATA_SETS, read_data_set
from tidemark.model.checkout import ROOT
from tidemark.store.columns import TABLES

Answer = tuple[list[tuple[str, str]], list[list[Any]]]
Ask = Callable[[str], Answer]
Rows = list[list[str | None]]
DRAWN = 10_000
PLAUSIBLE = [
    line
    for line in Path(__file__).with_name("plausible.sql").read_text(encoding="utf-8").splitlines()
    if not line.startswith("--")
]
"""Statements over the tables that people may write."""
_AT_ONCE = 100


def differences(ours: Answer, trinos: Answer) -> list[str]:
    """Return the differences of two answers in columns, types, row order and values (by bits)."""
    if ours[0] != trinos[0]:
        return [f"columns: {ours[0]}, Trino {trinos[0]}"]
    return [
        f"row {number}: {_texts(our)}, Trino {_texts(theirs)}"
        for number, (our, theirs) in enumerate(zip_longest(ours[1], trinos[1]), start=1)
        if _texts(our) != _texts(theirs)
    ]


def main(home: Path, memory_plugin: Path) -> int:
    """Compare and print; return the exit code."""
    console = Console(width=110)
    objects = stored_figures()
    ours = LocalEngine(objects)
    start = time.monotonic()
    with start_trino(home, memory_plugin) as trino:
        console.print(f"Trino started in {time.monotonic() - start:.1f} s")
        start = time.monotonic()
        for table in TABLES:
            trino.load(table, rows_of(objects, table))
        console.print(f"Tables loaded in {time.monotonic() - start:.1f} s")
        all_differences = [
            *_compare(ours.ask, trino.ask, console),
            *_without_database(trino.ask),
            *_in_syntax(ours.ask, trino.ask),
            *_in_functions(ours, trino.ask, [*statements(), *PLAUSIBLE]),
            *_in_operands(ours.ask, trino.ask),
            *_in_arithmetic(ours.ask, trino.ask),
        ]
        console.print(
            f"{len(FOREIGN)} statements of other databases, {len(NATIVE)} expressions of Trino, "
            f"{sum(1 for _ in statements())} of functions, {len(PLAUSIBLE)} over the tables, "
            f"{len(REFUSED)} with operands of a wrong type and {DRAWN:,} drawn statements compared"
        )
        console.print(f"Trino took {trino.peak_bytes() / 1e9:.2f} GB at most")
    for difference in all_differences:
        console.print(difference, markup=False)
    return int(bool(all_differences))


def _compare(ours: Ask, trinos: Ask, console: Console) -> list[str]:
    """Print the number of differences of each query; return all differences."""
    table = Table("Query", "Rows", "Here", "Trino", "Differences")
    all_differences = []
    for path in sorted((ROOT / "queries" / "sql").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        (our, our_time), (theirs, their_time) = _timed(ours, text), _timed(trinos, text)
        of_query = differences(our, theirs)
        # Two empty answers always agree and prove nothing.
        if not theirs[1]:
            of_query.append("no rows")
        times = f"{our_time:.2f} s", f"{their_time:.2f} s"
        table.add_row(path.name, str(len(theirs[1])), *times, str(len(of_query)))
        all_differences += [f"{path.name}: {difference}" for difference in of_query]
    console.print(table)
    return all_differences


def _without_database(trinos: Ask) -> Iterator[str]:
    """Yield the data sets whose rows differ if their text names the database."""
    for data_set in map(read_data_set, DATA_SETS):
        # A subquery does not keep its order in the query around it.
        plain, within = (
            sorted(map(_texts, trinos(text)[1]))
            for text in (data_set.sql, data_set.within("default"))
        )
        if plain != within:
            yield f"{data_set.name}: the rows differ if its text names the database"


def _in_syntax(ours: Ask, trinos: Ask) -> Iterator[str]:
    """Yield the statements of other databases that are accepted, and the values that differ."""
    for statement in FOREIGN:
        for name, ask in {"here": ours, "Trino": trinos}.items():
            if (values := _values(ask, statement)) is not None:
                yield f"{statement}: accepted {name}, with {values}"
    for expression, value in NATIVE.items():
        yield from _of_statement(ours, trinos, f"SELECT {expression}", [value])


def _in_functions(ours: LocalEngine, trinos: Ask, asked: Iterable[str]) -> Iterator[str]:
    """Yield the statements whose texts in a result differ in more than an order of no promise."""
    for statement in asked:
        theirs = [[_shown(value) for value in row] for row in trinos(statement)[1]]
        our = ours.texts(statement)
        # Without ORDER BY the rows come as Trino's tasks end.
        promised: Callable[[Rows], Rows] = list if _is_ordered(statement) else _sorted_rows
        if promised(_sorted_maps(our)) != promised(_sorted_maps(theirs)):
            yield f"{statement}: {our}, Trino {theirs}"


def _is_ordered(statement: str) -> bool:
    return bool(sqlglot.parse_one(statement, dialect="trino").args.get("order"))


def _sorted_rows(rows: Rows) -> Rows:
    return sorted(rows, key=repr)


def _sorted_maps(rows: Rows) -> Rows:
    """Return rows with the entries of each map sorted: Trino promises no order of them."""
    return [[_sorted_map(value) for value in row] for row in rows]


def _sorted_map(value: str | None) -> str | None:
    if value is None or not (value.startswith("{") and value.endswith("}")):
        return value
    return f"{{{', '.join(sorted(value[1:-1].split(', ')))}}}"


def _shown(value: Any) -> str | None:
    """Return a value as a result shows it, a time with a zone in UTC."""
    has_zone = isinstance(value, datetime) and value.tzinfo is not None
    return f"{text(value)} UTC" if has_zone else text(value)


def _in_operands(ours: Ask, trinos: Ask) -> Iterator[str]:
    """Yield the statements with operands of a wrong type that are accepted."""
    for statement in REFUSED:
        for name, ask in {"here": ours, "Trino": trinos}.items():
            with suppress(athena.QueryError, TrinoQueryError):
                yield f"{statement}: accepted {name}, with {ask(statement)[1]}"


def _in_arithmetic(ours: Ask, trinos: Ask) -> Iterator[str]:
    """Yield the drawn expressions whose values differ here, in Trino or in DuckDB."""
    chance = random.Random(37)
    drawn = [arithmetic(chance) for _ in range(DRAWN)]
    with duckdb.connect() as connection:
        values = {each.trino: in_duckdb(connection, each) for each in drawn}
    defined = [text for text, value in values.items() if value is not None]
    for first in range(0, len(defined), _AT_ONCE):
        some = defined[first : first + _AT_ONCE]
        expected = _texts([values[text] for text in some])
        statement = f"SELECT {', '.join(some)}"
        if not expected == _values(ours, statement) == _values(trinos, statement):
            for text in some:
                yield from _of_statement(ours, trinos, f"SELECT {text}", [values[text]])
    for text, value in values.items():
        if value is None:
            yield from _of_statement(ours, trinos, f"SELECT {text}")


def _of_statement(
    ours: Ask, trinos: Ask, statement: str, expected: list[Any] | None = None
) -> Iterator[str]:
    our, theirs = _values(ours, statement), _values(trinos, statement)
    if our != theirs or (expected is not None and our != _texts(expected)):
        yield f"{statement}: {our}, Trino {theirs}"


def _values(ask: Ask, statement: str) -> list[str] | None:
    """Return the values of a statement's only row; None if it is refused."""
    try:
        ((*values,),) = ask(statement)[1]
    except (athena.QueryError, TrinoQueryError):
        return None
    return _texts(values)


def _timed(ask: Ask, text: str) -> tuple[Answer, float]:
    start = time.monotonic()
    return ask(text), time.monotonic() - start


def _texts(row: list[Any] | None) -> list[str]:
    """Return a row's values as texts that are equal only for equal bits: 0.0 differs from -0.0."""
    return (
        ["no row"]
        if row is None
        else [value.hex() if isinstance(value, float) else repr(value) for value in row]
    )


if __name__ == "__main__":
    sys.exit(main(*(Path(argument).resolve() for argument in sys.argv[1:])))
