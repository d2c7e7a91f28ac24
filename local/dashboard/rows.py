"""The rows of data sets, as the page gets them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cdk.data_sets import DECIMAL, INTEGER, DataSet
from local.sql_client import SqlClient

MOST_ROWS = 5_000
"""Of a data set, from its first: more would make the page slow to load."""

Value = str | int | float | None


@dataclass(frozen=True)
class Rows:
    """Rows of a data set."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    more: bool
    """Whether the data set has others."""


def read_rows(tables: SqlClient, data_set: DataSet, columns: Sequence[str]) -> Rows:
    """Return some columns of the first rows of a data set."""
    answer = tables.ask(f"{data_set.sql}\nLIMIT {MOST_ROWS + 1}")
    places = [(answer.columns.index(name), data_set.columns[name]) for name in columns]
    rows = [[_value(row[place], kind) for place, kind in places] for row in answer.rows]
    return Rows(columns, rows[:MOST_ROWS], len(rows) > MOST_ROWS)


def _value(text: str | None, kind: str) -> Value:
    """Return a value as JSON has it; a number that is not finite is none."""
    if text is None or kind not in (INTEGER, DECIMAL):
        return text
    if kind == INTEGER:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None
