"""Lookup tables: CSV files with columns for a query.

Source: AWS documentation, CloudWatch Logs Insights query syntax: lookup, cidrlookup; CloudWatch
Logs API: CreateLookupTable.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cwli import duckdb_core as duckdb
from cwli.insights.addresses import network_bits
from cwli.insights.source import quoted_path
from cwli.insights.syntax import QueryError, Span
from cwli.insights.values import quoted

MOST_BYTES = 10 * 1024 * 1024


class LookupTableError(Exception):
    """A failure to read a lookup table."""


class TableColumn(NamedTuple):
    """A column of a lookup table, and its place in the query; without a name, the first column."""

    name: str | None
    span: Span


class Lookup(NamedTuple):
    """The use of a lookup table in a query.

    Attributes
    ----------
    table : str
        The name of the table in the query.
    span : Span
        The place of the name in the query.
    view : str
        The name of the table in SQL; it has ``key0``, ``key1`` … and ``cells``, a list of texts.
    keys, cells : tuple of TableColumn
        The columns to compare, and the columns to take.
    networks : bool
        Whether the key is a range of addresses; ``key0`` is then the common prefix of their bits.
    """

    table: str
    span: Span
    view: str
    keys: tuple[TableColumn, ...]
    cells: tuple[TableColumn, ...]
    networks: bool

    def load(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Path]) -> None:
        """Create the table in SQL with the first of the rows that have the same keys.

        Raises
        ------
        QueryError
            If the table or one of its columns does not exist.
        LookupTableError
            If the file of the table cannot be read.
        """
        path = tables.get(self.table)
        if path is None:
            known = f"there are {', '.join(tables)}" if tables else "none is given"
            raise QueryError(f"there is no lookup table {self.table!r}; {known}", self.span)
        header = _header(path)
        keys = [_column(self.table, header, key) for key in self.keys]
        if self.networks:
            keys = [network_bits(key) for key in keys]
        cells = ", ".join(_column(self.table, header, cell) for cell in self.cells)
        key_columns = ", ".join(f"{key} AS key{place}" for place, key in enumerate(keys))
        types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in header)
        file = (
            f"read_csv({quoted_path(path)}, header = TRUE, auto_detect = FALSE, delim = ',', "
            f"quote = '\"', escape = '\"', nullstr = '', columns = {{{types}}})"
        )
        key_names = ", ".join(f"key{place}" for place in range(len(keys)))
        connection.execute(
            f"CREATE TEMP TABLE {self.view} AS SELECT * FROM "  # noqa: S608 (texts are quoted)
            f"(SELECT {key_columns}, [{cells}] AS cells, row_number() OVER () AS number "
            f"FROM {file}) "
            f"QUALIFY row_number() OVER (PARTITION BY {key_names} ORDER BY number) = 1"
        )


def _header(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise LookupTableError(f"{path}: a lookup table has at most {MOST_BYTES:,} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except OSError as error:
        raise LookupTableError(f"{path}: this file cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise LookupTableError(f"{path}: this file is not CSV in UTF-8") from None
    # DuckDB ignores the case of names.
    unique = {name.casefold() for name in header}
    if not all(header) or len(unique) < max(len(header), 1):
        raise LookupTableError(f"{path}: the first line of a lookup table must have unique names")
    return header


def _column(table: str, header: list[str], column: TableColumn) -> str:
    name = header[0] if column.name is None else column.name
    if name not in header:
        raise QueryError(
            f"the lookup table {table!r} has no column {name!r}; it has {', '.join(header)}",
            column.span,
        )
    return '"' + name.replace('"', '""') + '"'
