"""Results as Athena hands them out: pages of the API, and the file in the output location.

Source: AWS documentation, Athena: GetQueryResults; Working with query results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from local.athena.engine import Result
from local.athena.values import Kind, Type, column_type

Row = Sequence[str | None]


def csv(result: Result) -> bytes:
    """Return the result as a file: every value in quotes, and nothing where there is none."""
    return "".join(f"{','.join(map(_quoted, row))}\n" for row in _rows(result)).encode()


def page(result: Result, first: int, count: int) -> tuple[dict[str, Any], int | None]:
    """Return a ResultSet of ``count`` rows from ``first``, and where the next one begins.

    The first row of all holds the names of the columns.
    """
    rows = _rows(result)
    found = {
        "Rows": [{"Data": [_cell(value) for value in row]} for row in rows[first : first + count]],
        "ResultSetMetadata": {
            "ColumnInfo": [_column(name, type_) for name, type_ in result.columns]
        },
    }
    return found, first + count if first + count < len(rows) else None


def _rows(result: Result) -> list[Row]:
    return [[name for name, _ in result.columns], *result.rows]


def _quoted(value: str | None) -> str:
    return "" if value is None else '"' + value.replace('"', '""') + '"'


def _cell(value: str | None) -> dict[str, str]:
    return {} if value is None else {"VarCharValue": value}


def _column(name: str, type_: Type) -> dict[str, Any]:
    shown, precision = column_type(type_)
    return {
        "CatalogName": "hive",
        "SchemaName": "",
        "TableName": "",
        "Name": name,
        "Label": name,
        "Type": shown,
        "Precision": precision,
        "Scale": 0,
        "Nullable": "UNKNOWN",
        "CaseSensitive": type_.this is Kind.VARCHAR,
    }
