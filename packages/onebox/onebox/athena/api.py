"""Athena on one machine: its SQL over the JSON lines of tables, run by DuckDB.

>>> from onebox.athena import api
>>> api.run("SELECT max(value) AS best FROM rates", objects, catalogue, database="tidemark").rows
[['476190.5']]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from cwli.cancellation import Cancellation
from onebox.athena.catalogue import Catalogue, Objects, StoredObject
from onebox.athena.errors import MalformedQuery, QueryError, ScanLimitExceeded
from onebox.athena.execution import MOST_SECONDS, execute, keep
from onebox.athena.parser import parse
from onebox.athena.rows import RowCache
from onebox.athena.translation import translate, translate_parsed
from onebox.athena.values import Kind, Type, column_type, digits_of

Row = Sequence[str | None]


@dataclass(frozen=True)
class Result:
    """The result of a query.

    Attributes
    ----------
    columns : list of tuple
        The name and the type of each column.
    rows : list of list
        The values as Athena's results show them; None stands for null.
    scanned_bytes : int
        The size of the objects that were read.
    """

    columns: list[tuple[str, Type]]
    rows: list[list[str | None]]
    scanned_bytes: int


def csv(result: Result) -> bytes:
    """Return a result as a CSV file: every value in quotes, and nothing for null."""
    return "".join(f"{','.join(map(_quoted, row))}\n" for row in _rows(result)).encode()


def page(result: Result, first: int, count: int) -> tuple[dict[str, Any], int | None]:
    """Return a ResultSet of ``count`` rows from ``first``, and the first row of the next one.

    Row 0 holds the names of the columns.
    """
    rows = _rows(result)
    result_set = {
        "Rows": [{"Data": [_cell(value) for value in row]} for row in rows[first : first + count]],
        "ResultSetMetadata": {
            "ColumnInfo": [_column(name, type_) for name, type_ in result.columns]
        },
    }
    return result_set, first + count if first + count < len(rows) else None


def _rows(result: Result) -> list[Row]:
    return [[name for name, _ in result.columns], *result.rows]


def _quoted(value: str | None) -> str:
    return "" if value is None else '"' + value.replace('"', '""') + '"'


def _cell(value: str | None) -> dict[str, str]:
    return {} if value is None else {"VarCharValue": value}


def _column(name: str, type_: Type) -> dict[str, Any]:
    shown, precision = column_type(type_)
    scale = digits_of(type_)[1] if type_.this is Kind.DECIMAL else 0
    return {
        "CatalogName": "hive",
        "SchemaName": "",
        "TableName": "",
        "Name": name,
        "Label": name,
        "Type": shown,
        "Precision": precision,
        "Scale": scale,
        "Nullable": "UNKNOWN",
        "CaseSensitive": type_.this is Kind.VARCHAR,
    }


__all__ = [
    "MOST_SECONDS",
    "Catalogue",
    "MalformedQuery",
    "Objects",
    "QueryError",
    "Result",
    "RowCache",
    "ScanLimitExceeded",
    "StoredObject",
    "csv",
    "keep",
    "page",
    "parse",
    "run",
    "translate",
]


def run(
    query: str | exp.Query,
    objects: Objects,
    catalogue: Catalogue,
    *,
    database: str | None = None,
    parameters: Sequence[str] = (),
    most_bytes: float = math.inf,
    kept: RowCache | None = None,
    cancellation: Cancellation | None = None,
) -> Result:
    """Run a query and return its result.

    Parameters
    ----------
    query
        The text of a query, or the return value of `parse`.
    objects
        The objects of the tables.
    catalogue
        The tables, as Glue describes them.
    database
        The database of tables that the query names without one.
    parameters
        The SQL literal for each ``?`` of a text.
    most_bytes
        The maximum size of the objects that are read.
    kept
        The cache of rows, which saves reading their objects for every query.
    cancellation
        The end of the query before its result; by default at the time limit of Athena.

    Raises
    ------
    QueryError
        If the query is refused, its data cannot be read, its run fails or its time is over.
    Cancelled
        If the query is cancelled.
    """
    parsed = parse(query, parameters) if isinstance(query, str) else query.copy()
    translation, types = translate_parsed(parsed, catalogue, database)
    ending = cancellation or Cancellation(MOST_SECONDS)
    found = execute(translation, objects, catalogue, most_bytes, kept, ending)
    names = [column.name for column in translation.columns]
    return Result(list(zip(names, types, strict=True)), found.rows, found.scanned_bytes)
