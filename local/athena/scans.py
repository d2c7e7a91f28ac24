"""Which objects of a table a query reads, and their rows.

A condition on partition columns decides by itself: it is asked of the partitions that the table
projects, so that the objects of others are neither listed nor read.
"""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from os.path import commonprefix
from pathlib import Path
from typing import Protocol

import duckdb
from sqlglot import exp

from local.athena.catalogue import Partition, Table, Value
from local.athena.conditions import conditions_on
from local.athena.errors import QueryError, ScanLimitExceeded
from local.athena.kept import KeptRows
from local.athena.rows import partition_columns, quoted_name, rows_sql


@dataclass(frozen=True)
class StoredObject:
    """An object in S3: its place, ``s3://bucket/key``, its size in bytes, and its entity tag."""

    location: str
    size: int
    etag: str


Found = tuple[Partition, StoredObject]


class Objects(Protocol):
    """The objects that tables consist of."""

    def list(self, location: str) -> Iterable[StoredObject]:
        """Yield the objects whose place begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the whole body of an object."""


@dataclass(frozen=True)
class Scan:
    """One table that a query reads.

    Attributes
    ----------
    name : str
        Its name in DuckDB.
    alias : str
        What the conditions call it.
    table : Table
        What is read.
    columns : tuple of str
        The columns that the query uses.
    conditions : tuple of Expression
        What must hold of its partition columns for a row to count, as DuckDB understands it.
    """

    name: str
    alias: str
    table: Table
    columns: tuple[str, ...]
    conditions: tuple[exp.Expr, ...]


def scans(query: exp.Query, tables: Mapping[str, Table]) -> Iterator[Scan]:
    """Yield what a rewritten query reads."""
    for node in query.find_all(exp.Table):
        if table := tables.get(node.name):
            select = node.find_ancestor(exp.Select)
            assert select is not None, "a table is read by a SELECT"
            used = {
                column.name for column in query.find_all(exp.Column) if column.table == node.alias
            }
            columns = [*table.columns, *table.partitioned_by]
            yield Scan(
                node.name,
                node.alias,
                table,
                tuple(column for column in columns if column in used),
                tuple(
                    condition
                    for condition in conditions_on(select, node)
                    if _columns(condition) <= set(table.partitioned_by)
                ),
            )


def load(
    connection: duckdb.DuckDBPyConnection,
    scan: Scan,
    objects: Objects,
    most_bytes: float,
    kept: KeptRows | None,
) -> int:
    """Make the table of a scan from the objects that it needs; return their size in bytes.

    Rows of partitions that are worth it are taken from ``kept``.

    Raises
    ------
    ScanLimitExceeded
        If that is more than ``most_bytes``.
    QueryError
        If an object is not what the table says.
    """
    found = list(_stored(_kept_partitions(connection, scan), objects))
    size = sum(stored.size for _, stored in found)
    if size > most_bytes:
        raise ScanLimitExceeded
    files, rest = [], []
    for _, group in groupby(found, key=lambda each: each[0].location):
        part = list(group)
        file = _kept_file(connection, scan.table, part, objects, kept) if kept else None
        if file:
            files.append(str(file))
        else:
            rest += part
    columns = ", ".join(map(quoted_name, scan.columns)) or "1"
    others = _made(connection, f"# {scan.name}", scan.table, scan.columns, rest, objects)
    kept_rows = f"UNION ALL SELECT {columns} FROM read_parquet({files!r})" if files else ""  # noqa: S608
    connection.execute(
        f"CREATE TEMP VIEW {quoted_name(scan.name)} AS SELECT {columns} FROM {others} {kept_rows}"  # noqa: S608
    )
    return size


def _kept_file(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    part: Sequence[Found],
    objects: Objects,
    kept: KeptRows,
) -> Path | None:
    """Return the file of a partition's rows; None if they are not kept."""
    if not kept.worth(part):
        return None
    columns = [*table.columns, *table.partitioned_by]

    def write(path: Path) -> None:
        rows = _made(connection, "# kept", table, columns, part, objects)
        connection.execute(f"COPY {rows} TO '{path}' (FORMAT parquet, COMPRESSION zstd)")

    depends_on = "".join(f"{stored.location} {stored.etag}\n" for _, stored in part)
    # A value that is not of its column's type may be in a column that nobody asks for; and a full
    # disk must not keep a query from its answer.
    with suppress(OSError, duckdb.Error):
        return kept.file(part[0][0].location, f"{rows_sql(table, columns)}\n{depends_on}", write)
    return None


def _made(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    table: Table,
    columns: Sequence[str],
    found: Sequence[Found],
    objects: Objects,
) -> str:
    """Make a table of the rows of objects; return its name in SQL."""
    locations = [stored.location for _, stored in found]
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {quoted_name(name)} AS {rows_sql(table, columns)}",
        {
            "locations": locations,
            "bodies": [_text(location, objects.read(location)) for location in locations],
            **_by_column([partition for partition, _ in found], table),
        },
    )
    return quoted_name(name)


def _kept_partitions(connection: duckdb.DuckDBPyConnection, scan: Scan) -> list[Partition]:
    """Return the partitions that may have rows for which the conditions hold."""
    partitions = list(scan.table.partitions())
    if not scan.conditions:
        return partitions
    conditions = " AND ".join(f"({condition.sql('duckdb')})" for condition in scan.conditions)
    kept = connection.execute(
        f'SELECT "#" FROM (SELECT unnest(range({len(partitions)})) AS "#", '  # noqa: S608
        f"{partition_columns(scan.table)}) AS {quoted_name(scan.alias)} WHERE {conditions}",
        _by_column(partitions, scan.table),
    ).fetchall()
    return [partitions[number] for (number,) in kept]


def _by_column(partitions: Sequence[Partition], table: Table) -> dict[str, list[Value]]:
    """Return the partitions' values as the parameters of ``partition_columns``."""
    return {
        f"partition{position}": [partition.values[position] for partition in partitions]
        for position in range(len(table.partitioned_by))
    }


def _columns(condition: exp.Expr) -> set[str]:
    return {column.name for column in condition.find_all(exp.Column)}


def _stored(partitions: Sequence[Partition], objects: Objects) -> Iterator[Found]:
    """Yield the objects in partitions, by their places; those that Hive hides are left out."""
    ordered = sorted(partitions, key=lambda partition: partition.location)
    places = [partition.location for partition in ordered]
    # One listing of what the partitions have in common is cheaper than one for each.
    found = objects.list(commonprefix(places)) if places else ()  # noqa: RUF071 (of texts)
    for stored in sorted(found, key=lambda each: each.location):
        position = bisect_right(places, stored.location) - 1
        name = stored.location.rpartition("/")[2]
        inside = position >= 0 and stored.location.startswith(places[position])
        if inside and name and not name.startswith((".", "_")):
            yield ordered[position], stored


def _text(location: str, body: bytes) -> str:
    try:
        return gzip.decompress(body).decode()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise QueryError(
            "HIVE_CURSOR_ERROR", f"{location} is not gzipped UTF-8: {error}"
        ) from error
