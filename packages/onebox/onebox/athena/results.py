"""Results in the formats of Athena: pages of the API, and the file in the output location.

Source: AWS documentation, Athena: GetQueryResults; Working with query results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onebox.athena.values import Kind, Type, column_type

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
