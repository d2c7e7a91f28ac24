"""The reading of JSON lines of objects as rows of a table.

A column that a line lacks is null, and unknown fields of a line are not read. A value that does not
fit the type of its column is an error that names the object; Hive would convert it if possible.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb

from onebox.athena.catalogue import (
    Objects,
    Partition,
    Table,
    TableObject,
    Value,
    duckdb_type,
    text_of,
)

_WHOLE = "json_type({0}) IN ('BIGINT', 'UBIGINT') AND TRY_CAST({0} AS {1}) IS NOT NULL"
_TEXT = "json_type({0}) = 'VARCHAR'"
_TIMESTAMP = (
    f"{_TEXT} AND regexp_full_match({{0}} ->> '$', "
    r"'[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,3}})?') "
    "AND TRY_CAST({0} ->> '$' AS {1}) IS NOT NULL"
)
_TEXTS = (
    "json_type({0}) = 'ARRAY' AND len(list_filter(json_transform({0}, '[\"JSON\"]'), "
    "lambda each: json_type(each) NOT IN ('VARCHAR', 'NULL'))) = 0"
)
# The test and the conversion of a JSON value for each Glue type.
_READS = {
    "string": (_TEXT, "{0} ->> '$'"),
    "int": (_WHOLE, "CAST({0} AS {1})"),
    "bigint": (_WHOLE, "CAST({0} AS {1})"),
    "double": (
        "json_type({0}) IN ('DOUBLE', 'BIGINT', 'UBIGINT') AND isfinite(CAST({0} AS {1}))",
        "CAST({0} AS {1})",
    ),
    "boolean": ("json_type({0}) = 'BOOLEAN'", "CAST({0} AS {1})"),
    "timestamp": (_TIMESTAMP, "CAST({0} ->> '$' AS {1})"),
    "array<string>": (_TEXTS, "json_transform({0}, '[\"VARCHAR\"]')"),
}


class ObjectChanged(Exception):
    """An object that changed between its listing and its reading; the message is its place."""


@dataclass(frozen=True)
class Reader:
    """A reader of the objects of one table into DuckDB."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    objects: Objects

    @cached_property
    def sql(self) -> str:
        """The SELECT of every column."""
        return rows_sql(self.table, [*self.table.columns, *self.table.partitioned_by])

    def create(self, name: str, columns: Sequence[str], members: Sequence[TableObject]) -> None:
        """Create a table with some columns of the rows of objects."""
        rows = rows_sql(self.table, columns)
        parameters = row_parameters(self.table, members, self._bodies(members))
        self.connection.execute(f"CREATE TEMP TABLE {quoted_name(name)} AS {rows}", parameters)

    def copy(self, members: Sequence[TableObject], file: Path) -> None:
        """Write the rows of objects, with every column, as Parquet.

        Raises
        ------
        ObjectChanged
            If an object changed after its listing.
        """
        bodies = self._bodies(members)
        for (_, stored), body in zip(members, bodies, strict=True):
            if hashlib.md5(body, usedforsecurity=False).hexdigest() != stored.md5:
                raise ObjectChanged(stored.location)
        self.connection.execute(
            f"COPY ({self.sql}) TO {quoted_text(str(file))} (FORMAT parquet, COMPRESSION zstd)",
            row_parameters(self.table, members, bodies),
        )

    def _bodies(self, members: Sequence[TableObject]) -> list[bytes]:
        return [self.objects.read(stored.location) for _, stored in members]


def rows_sql(table: Table, columns: Sequence[str]) -> str:
    """Return the SELECT of ``columns`` of a table from objects.

    Its parameters come from ``row_parameters``.
    """
    read = [column for column in columns if column in table.columns]
    structure = json.dumps(dict.fromkeys(read or ["#"], "JSON"))
    values = [_value(column, table.columns[column]) for column in read]
    values += [quoted_name(column) for column in columns if column in table.partitioned_by]
    partitions = partition_columns(table)
    return (
        f"SELECT {', '.join(values) or 'row'} FROM (SELECT *, json_transform("  # noqa: S608 (quoted)
        "CASE WHEN json_valid(line) AND json_type(line) = 'OBJECT' THEN line "
        "ELSE error('HIVE_CURSOR_ERROR: Row is not a valid JSON Object: ' || location) END, "
        f"{quoted_text(structure)}) AS row FROM (SELECT * EXCLUDE body, "
        "unnest(string_split(body, chr(10))) AS line FROM (SELECT unnest($locations) AS location, "
        f"unnest($bodies) AS body{', ' if partitions else ''}{partitions})) WHERE line <> '')"
    )


def row_parameters(
    table: Table, members: Sequence[TableObject], bodies: Sequence[bytes]
) -> dict[str, Sequence[Value]]:
    """Return the parameters of ``rows_sql``: the place, text and partition of each object.

    Raises
    ------
    QueryError
        If an object is not gzipped UTF-8.
    """
    locations = [stored.location for _, stored in members]
    return {
        "locations": locations,
        "bodies": [text_of(*item) for item in zip(locations, bodies, strict=True)],
        **partition_parameters(table, [partition for partition, _ in members]),
    }


def partition_columns(table: Table) -> str:
    """Return the SQL of the partition columns, with parameters of ``partition_parameters``."""
    return ", ".join(
        f"unnest(CAST($partition{position} AS {duckdb_type(type_)}[])) AS {quoted_name(column)}"
        for position, (column, type_) in enumerate(table.partitioned_by.items())
    )


def partition_parameters(
    table: Table, partitions: Sequence[Partition]
) -> dict[str, Sequence[Value]]:
    """Return the values of partitions by column, as ``partition0`` and so on."""
    return {
        f"partition{position}": [partition.values[position] for partition in partitions]
        for position in range(len(table.partitioned_by))
    }


def quoted_name(name: str) -> str:
    """Return a name as a quoted identifier of DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a text as a string literal of DuckDB."""
    return "'" + text.replace("'", "''") + "'"


def _value(column: str, type_: str) -> str:
    value = f"row.{quoted_name(column)}"
    test, conversion = (sql.format(value, duckdb_type(type_)) for sql in _READS[type_])
    problem = quoted_text(f"HIVE_BAD_DATA: Field {column} of type {type_} cannot be ")
    return (
        f"CASE WHEN {value} IS NULL OR json_type({value}) = 'NULL' THEN NULL WHEN {test} "
        f"THEN {conversion} ELSE error({problem} || {value} || ' in ' || location) END "
        f"AS {quoted_name(column)}"
    )
