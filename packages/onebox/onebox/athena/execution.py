"""The execution of translated queries on DuckDB, and the texts of the values in their results.

The module does not import the SQL parser.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from cwli.cancellation import Cancellation, TimedOut
from onebox.athena.catalogue import (
    Catalogue,
    Objects,
    Partition,
    Table,
    objects_in,
    pairs,
    read_table,
)
from onebox.athena.errors import TOO_DEEP, QueryError, ScanLimitExceeded
from onebox.athena.macros import MACROS
from onebox.athena.rows import (
    Reader,
    RowCache,
    partition_columns,
    partition_parameters,
    quoted_name,
    quoted_text,
)


def text(value: Any) -> str | None:  # noqa: ANN401 (what DuckDB returns)
    """Return a value as Athena's results show it, None for null."""
    return None if value is None else _TEXTS.get(type(value), str)(value)


def _timestamp_text(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"


def _array_text(values: list[Any]) -> str:
    return f"[{', '.join('null' if value is None else str(text(value)) for value in values)}]"


def _map_text(values: dict[Any, Any]) -> str:
    pairs = (f"{text(key)}={'null' if value is None else text(value)}"
             for key, value in values.items())  # fmt: skip
    return f"{{{', '.join(pairs)}}}"


def _interval_text(value: timedelta) -> str:
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"
    sign = "-" if value < timedelta() else ""
    return f"{sign}{size.days} {clock}.{size.microseconds // 1000:03d}"


def double_text(value: float) -> str:
    """Return the text of a double in Java: the shortest text that reads as the same double.

    It has an exponent unless the double is between 1e-3 and 1e7 (Java documentation,
    Double.toString).
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{value!r}e0".partition("e")
    sign = "-" if value < 0 else ""
    whole, _, fraction = digits.removeprefix("-").partition(".")
    ten = int(exponent.partition("e")[0]) + len(whole) - 1
    figures = whole + fraction
    ten -= len(figures) - len(figures.lstrip("0"))
    figures = figures.strip("0")
    return f"{sign}{figures[0]}.{figures[1:] or '0'}E{ten}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    float: double_text,
    datetime: _timestamp_text,
    date: date.isoformat,
    timedelta: _interval_text,
    Decimal: lambda value: f"{value:f}",
    list: _array_text,
    dict: _map_text,
}


MOST_SECONDS = 1_800.0
"""The time limit of a query [s] (AWS documentation, Athena service quotas: DML query timeout)."""
# Athena writes any number of rows to S3; here a result is held in memory.
MOST_ROWS = 1_000_000
_MOST_RESULT_BYTES = 256 << 20
_ROWS_AT_ONCE = 256

# An engine shares the machine with what is measured. What it does not hold in memory, it spills.
_MEMORY, _SPILL = "256MiB", "2GiB"
_SPILLED = "spill-"
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": _MEMORY,
    "max_temp_directory_size": _SPILL,
    # One thread adds doubles in one order: a query gives the same figures each time.
    "threads": 1,
}
_TOO_LARGE = (
    f"The query needs more than {_MEMORY} of memory and {_SPILL} on the disk, the most on one "
    "machine"
)
_OUT_OF_MEMORY = "EXCEEDED_LOCAL_MEMORY_LIMIT"
_MACROS = {macro.partition("(")[0].lower(): macro for macro in MACROS}
_CALLED = re.compile(r"(\w+)\(")
# Athena's name for each error of DuckDB.
_CODES: dict[type[duckdb.Error], str] = {
    duckdb.OutOfRangeException: "NUMERIC_VALUE_OUT_OF_RANGE",
    duckdb.ConversionException: "INVALID_CAST_ARGUMENT",
    duckdb.BinderException: "SYNTAX_ERROR",
    duckdb.InvalidInputException: "INVALID_FUNCTION_ARGUMENT",
}


@dataclass(frozen=True)
class Scan:
    """One table that a query reads.

    Attributes
    ----------
    name : str
        The name of the table in DuckDB.
    alias : str
        The name of the table in the conditions.
    database, table : str
        The table in the catalogue.
    columns : tuple of str
        The columns that the query uses.
    conditions : tuple of str
        The conditions on partition columns that a row must meet, in SQL of DuckDB.
    """

    name: str
    alias: str
    database: str
    table: str
    columns: tuple[str, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column of a result: its name, and its type in DuckDB and in Trino."""

    name: str
    duckdb: str
    trino: str


@dataclass(frozen=True)
class Translation:
    """A query in SQL of DuckDB, the tables that it reads and the columns of its result."""

    sql: str
    scans: tuple[Scan, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Rows:
    """The rows of a result as Athena shows them, and the size of the objects read in bytes."""

    rows: list[list[str | None]]
    scanned_bytes: int


def execute(
    translation: Translation,
    objects: Objects,
    catalogue: Catalogue,
    most_bytes: float,
    kept: RowCache | None,
    cancellation: Cancellation,
) -> Rows:
    """Return the rows of a translated query.

    Raises
    ------
    QueryError
        If its data cannot be read, its run fails or its time is over.
    Cancelled
        If it is cancelled.
    """
    try:
        with _connection(kept) as connection, cancellation.of(connection):
            return _execute(connection, translation, objects, catalogue, most_bytes, kept)
    except TimedOut:
        raise QueryError("", "Query timeout") from None
    except MemoryError:
        raise QueryError(_OUT_OF_MEMORY, _TOO_LARGE) from None


def _execute(
    connection: duckdb.DuckDBPyConnection,
    translation: Translation,
    objects: Objects,
    catalogue: Catalogue,
    most_bytes: float,
    kept: RowCache | None,
) -> Rows:
    scanned = 0
    for macro in _macros(translation):
        connection.execute(f"CREATE TEMP MACRO {macro}")
    try:
        for scan in translation.scans:
            table = read_table(catalogue[scan.database][scan.table])
            scanned += _load(connection, scan, table, objects, most_bytes - scanned, kept)
        cursor = connection.execute(translation.sql)
        _check_types(cursor, translation.columns)
        return Rows(_fetched(cursor, translation.columns), scanned)
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise _athena_error(error) from error


def _macros(translation: Translation) -> list[str]:
    """Return the macros that a translation calls, and their own: to make all takes 60 ms."""
    texts = translation.sql, *chain.from_iterable(scan.conditions for scan in translation.scans)
    called = set(_CALLED.findall(" ".join(texts).lower()))
    for name, macro in reversed(_MACROS.items()):  # each calls only earlier macros
        if name in called:
            called.update(_CALLED.findall(macro.lower()))
    return [macro for name, macro in _MACROS.items() if name in called]


def _fetched(
    cursor: duckdb.DuckDBPyConnection, columns: Sequence[Column]
) -> list[list[str | None]]:
    endings = [" UTC" if "time zone" in column.trino else "" for column in columns]
    rows: list[list[str | None]] = []
    size = 0
    while values := cursor.fetchmany(_ROWS_AT_ONCE):
        texts = [
            [
                None if value is None else f"{text(value)}{end}"
                for value, end in zip(row, endings, strict=True)
            ]
            for row in values
        ]
        rows += texts
        size += sum(map(sys.getsizeof, chain.from_iterable(texts)))
        if len(rows) > MOST_ROWS:
            reason = f"The result has more than {MOST_ROWS:,} rows, the most on one machine"
            raise QueryError(_OUT_OF_MEMORY, reason)
        if size > _MOST_RESULT_BYTES:
            reason = f"The result has more than {_MOST_RESULT_BYTES >> 20} MiB of values, the most"
            raise QueryError(_OUT_OF_MEMORY, f"{reason} on one machine")
    return rows


def keep(objects: Objects, catalogue: Catalogue, kept: RowCache, most_seconds: float) -> None:
    """Cache the rows of all tables ahead of queries, and remove files that are out of date.

    Parameters
    ----------
    objects, catalogue, kept
        The arguments of `execute`.
    most_seconds
        The maximum duration [s]. The remaining rows are cached by a later call or by a query.
    """
    deadline = time.monotonic() + most_seconds
    _remove_spilled(kept.folder)
    with _connection(kept) as connection:
        for description in chain.from_iterable(tables.values() for tables in catalogue.values()):
            # A query of a table that cannot be read gets this error.
            with suppress(QueryError):
                table = read_table(description)
                members = objects_in(list(table.partitions()), objects)
                kept.keep(Reader(connection, table, objects), members, deadline)


@contextmanager
def _connection(kept: RowCache | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a new database, which makes its folder for what it spills, and removes it."""
    folder = kept.folder if kept else Path(tempfile.gettempdir())
    spill = folder / f"{_SPILLED}{uuid4().hex}"
    with duckdb.connect(config={**_CONFIG, "temp_directory": str(spill)}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def _remove_spilled(folder: Path) -> None:
    """Remove what the queries of killed processes have spilled: no query runs for so long."""
    oldest = time.time() - 2 * MOST_SECONDS
    for spill in folder.glob(f"{_SPILLED}*"):
        with suppress(FileNotFoundError):
            if spill.stat().st_mtime < oldest:
                shutil.rmtree(spill, ignore_errors=True)


def _check_types(cursor: duckdb.DuckDBPyConnection, columns: Sequence[Column]) -> None:
    """Refuse a result whose types differ from Athena's types."""
    for (name, actual, *_), column in zip(cursor.description or (), columns, strict=True):
        # DuckDB has a type of its own for a column of nulls.
        if str(actual).replace(" ", "") not in {column.duckdb, '"NULL"'}:
            raise QueryError(
                "GENERIC_INTERNAL_ERROR",
                f"Column {name} is {actual} on one machine and {column.trino} in Athena",
            )


def _athena_error(error: duckdb.Error) -> QueryError:
    if isinstance(error, duckdb.OutOfMemoryException):
        return QueryError(_OUT_OF_MEMORY, _TOO_LARGE)
    message = str(error).partition("\n")[0].partition("Error: ")[2] or str(error)
    if message.startswith("Max expression depth limit"):
        return QueryError("NOT_SUPPORTED", TOO_DEEP)
    if match := re.fullmatch(r"([A-Z_]+): (.*)", message):
        return QueryError(match[1], match[2])
    if message.startswith("Division by zero"):
        return QueryError("DIVISION_BY_ZERO", "Division by zero")
    return QueryError(_CODES.get(type(error), "GENERIC_INTERNAL_ERROR"), message)


def _load(
    connection: duckdb.DuckDBPyConnection,
    scan: Scan,
    table: Table,
    objects: Objects,
    most_bytes: float,
    kept: RowCache | None,
) -> int:
    """Create the table of a scan from its objects, and return their size in bytes.

    Rows come from the cache ``kept`` if possible, which also keeps the rows of new batches.

    Raises
    ------
    ScanLimitExceeded
        If the size exceeds ``most_bytes``.
    QueryError
        If an object does not match the table.
    """
    members = objects_in(_needed_partitions(connection, scan, table), objects)
    size = sum(stored.size for _, listed in members for stored in listed)
    if size > most_bytes:
        raise ScanLimitExceeded
    reader = Reader(connection, table, objects)
    files, others = (
        kept.read(reader, members) if kept else ([], [*chain.from_iterable(map(pairs, members))])
    )
    columns = ", ".join(map(quoted_name, scan.columns)) or "1"
    sources = [quoted_name(f"# {scan.name}")]
    reader.create(f"# {scan.name}", scan.columns, others)
    if files:
        # Files come first, as their objects do by place: doubles are added in this order.
        sources.insert(0, f"read_parquet([{', '.join(quoted_text(str(file)) for file in files)}])")
    rows = " UNION ALL ".join(f"SELECT {columns} FROM {source}" for source in sources)  # noqa: S608
    connection.execute(f"CREATE TEMP VIEW {quoted_name(scan.name)} AS {rows}")
    return size


def _needed_partitions(
    connection: duckdb.DuckDBPyConnection, scan: Scan, table: Table
) -> list[Partition]:
    """Return the partitions whose rows may meet the conditions."""
    partitions = list(table.partitions())
    if not scan.conditions:
        return partitions
    conditions = " AND ".join(f"({condition})" for condition in scan.conditions)
    numbers = connection.execute(
        f'SELECT "#" FROM (SELECT unnest(range({len(partitions)})) AS "#", '  # noqa: S608
        f"{partition_columns(table)}) AS {quoted_name(scan.alias)} WHERE {conditions}",
        partition_parameters(table, partitions),
    ).fetchall()
    return [partitions[number] for (number,) in numbers]
