"""Lookup tables: CSV files that a query takes columns from.

Source: AWS documentation, CloudWatch Logs Insights query syntax: lookup, cidrlookup; CloudWatch
Logs API: CreateLookupTable.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from local.insights.addresses import network_bits
from local.insights.source import quoted_path
from local.insights.syntax import QueryError, Span
from local.insights.values import quoted

MOST_BYTES = 10 * 1024 * 1024


class LookupTableError(Exception):
    """A lookup table that cannot be read."""


@dataclass(frozen=True)
class Wanted:
    """A column that a query takes from a lookup table; None is the first."""

    name: str | None
    span: Span


@dataclass(frozen=True)
class Lookup:
    """What a query takes from a lookup table.

    Attributes
    ----------
    table : str
        The name of the table in the query.
    span : Span
        Where it was written.
    view : str
        The table's name in SQL: ``key0``, ``key1`` … and ``cells``, a list of texts.
    keys, cells : tuple of Wanted
        The columns that are compared, and those that are taken.
    networks : bool
        Whether the key is a range of addresses; it is the bits that its addresses begin with then.
    """

    table: str
    span: Span
    view: str
    keys: tuple[Wanted, ...]
    cells: tuple[Wanted, ...]
    networks: bool

    def load(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Path]) -> None:
        """Make the table in SQL; of rows that are alike in the keys the first counts.

        Raises
        ------
        QueryError
            If there is no such table, or it has not the columns.
        LookupTableError
            If its file cannot be read.
        """
        path = tables.get(self.table)
        if path is None:
            there = f"there are {', '.join(tables)}" if tables else "none is given"
            raise QueryError(f"there is no lookup table {self.table!r}; {there}", self.span)
        header = _header(path)
        keys = [_column(self.table, header, key) for key in self.keys]
        if self.networks:
            keys = [network_bits(key) for key in keys]
        cells = ", ".join(_column(self.table, header, cell) for cell in self.cells)
        named = ", ".join(f"{key} AS key{place}" for place, key in enumerate(keys))
        types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in header)
        read = (
            f"read_csv({quoted_path(path)}, header = TRUE, auto_detect = FALSE, delim = ',', "
            f"quote = '\"', escape = '\"', nullstr = '', columns = {{{types}}})"
        )
        each = ", ".join(f"key{place}" for place in range(len(keys)))
        connection.execute(
            f"CREATE TEMP TABLE {self.view} AS SELECT * FROM "  # noqa: S608 (texts are quoted)
            f"(SELECT {named}, [{cells}] AS cells, row_number() OVER () AS number FROM {read}) "
            f"QUALIFY row_number() OVER (PARTITION BY {each} ORDER BY number) = 1"
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
        raise LookupTableError(f"{path}: this is no CSV in UTF-8") from None
    # DuckDB's names are alike whatever the case of their letters.
    different = {name.casefold() for name in header}
    if not all(header) or len(different) < max(len(header), 1):
        raise LookupTableError(f"{path}: a lookup table begins with a line of different names")
    return header


def _column(table: str, header: list[str], wanted: Wanted) -> str:
    name = header[0] if wanted.name is None else wanted.name
    if name not in header:
        raise QueryError(
            f"the lookup table {table!r} has no column {name!r}; it has {', '.join(header)}",
            wanted.span,
        )
    return '"' + name.replace('"', '""') + '"'
