"""Which objects of a table a query reads, and their rows.

A condition on partition columns decides by itself: it is asked of the partitions that the table
projects, so that the objects of others are neither listed nor read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import duckdb
from sqlglot import exp

from local.athena.catalogue import Partition, Table
from local.athena.conditions import conditions_on
from local.athena.errors import ScanLimitExceeded
from local.athena.kept import KeptRows
from local.athena.objects import Objects, objects_in
from local.athena.rows import (
    Reader,
    partition_columns,
    partition_parameters,
    quoted_name,
    quoted_text,
)


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

    Rows that are kept are taken from ``kept``, and left there if they are worth it.

    Raises
    ------
    ScanLimitExceeded
        If that is more than ``most_bytes``.
    QueryError
        If an object is not what the table says.
    """
    found = list(objects_in(_needed_partitions(connection, scan), objects))
    size = sum(stored.size for _, stored in found)
    if size > most_bytes:
        raise ScanLimitExceeded
    reader = Reader(connection, scan.table, objects)
    files, others = kept.read(reader, found) if kept else ([], found)
    columns = ", ".join(map(quoted_name, scan.columns)) or "1"
    sources = [quoted_name(f"# {scan.name}")]
    reader.create(f"# {scan.name}", scan.columns, others)
    if files:
        # First what comes first by its place: doubles are added in this order.
        sources.insert(0, f"read_parquet([{', '.join(quoted_text(str(file)) for file in files)}])")
    rows = " UNION ALL ".join(f"SELECT {columns} FROM {source}" for source in sources)  # noqa: S608
    connection.execute(f"CREATE TEMP VIEW {quoted_name(scan.name)} AS {rows}")
    return size


def _needed_partitions(connection: duckdb.DuckDBPyConnection, scan: Scan) -> list[Partition]:
    """Return the partitions that may have rows for which the conditions hold."""
    partitions = list(scan.table.partitions())
    if not scan.conditions:
        return partitions
    conditions = " AND ".join(f"({condition.sql('duckdb')})" for condition in scan.conditions)
    needed = connection.execute(
        f'SELECT "#" FROM (SELECT unnest(range({len(partitions)})) AS "#", '  # noqa: S608
        f"{partition_columns(scan.table)}) AS {quoted_name(scan.alias)} WHERE {conditions}",
        partition_parameters(scan.table, partitions),
    ).fetchall()
    return [partitions[number] for (number,) in needed]


def _columns(condition: exp.Expr) -> set[str]:
    return {column.name for column in condition.find_all(exp.Column)}
