"""The rows of data sets in the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidemark.client.tables import Tables
from tidemark.dashboard.data_sets import DECIMAL, INTEGER, DataSet
from tidemark.pages import shell

MOST_ROWS = 5_000
"""The most rows of a data set, because more would take a long time to query."""
MOST_BYTES = 900_000
"""The most bytes of all data sets, so that the page with its scripts stays below 2 MB."""

# The page keeps the newest rows. These data sets need another order to begin with them.
_NEWEST_FIRST = {"rates_by_version": "version_rank DESC,", "runs_by_week": "week DESC,"}

Value = str | int | float | None


@dataclass(frozen=True)
class LeftOut:
    """The oldest rows of a suite, which do not fit on the page."""

    suite: str
    rows: int
    stored: int
    """The number of all stored rows of the suite."""


@dataclass(frozen=True)
class Rows:
    """The newest rows of each suite in a data set."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    """The newest of each suite, then the second of each, and so on."""
    stored: Mapping[str, int]
    """The number of rows of each suite in the data set."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The omitted rows of each suite that is not complete."""
        suite = self.columns.index("suite")
        kept = Counter(row[suite] for row in self.rows)
        return [
            LeftOut(name, stored - kept[name], stored)
            for name, stored in self.stored.items()
            if stored > kept[name]
        ]

    def packed(self) -> dict[str, Any]:
        """Return each column as its distinct values and, for each row, the index of its value.

        The packed form is short, because most values repeat.
        """
        packed = {}
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            places = {value: number for number, value in enumerate(dict.fromkeys(cells))}
            packed[column] = {"values": list(places), "rows": [places[value] for value in cells]}
        return packed


def read_rows(tables: Tables, data_set: DataSet, columns: Sequence[str]) -> Rows:
    """Return some columns, ``suite`` among them, of the newest rows of each suite in a data set."""
    query, order = data_set.sql.rsplit("\nORDER BY", 1)
    newest_first = _NEWEST_FIRST.get(data_set.name, "") + order
    # Names are our own. The order by place takes the same number of rows from each suite.
    answer = tables.ask(
        "SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY suite) AS stored,"  # noqa: S608
        f" row_number() OVER (PARTITION BY suite ORDER BY {newest_first}) AS place"
        f" FROM (\n{query}\n)) ORDER BY place, suite LIMIT {MOST_ROWS}"
    )
    places = [(answer.columns.index(name), data_set.columns[name]) for name in columns]
    rows = [[_value(row[place], kind) for place, kind in places] for row in answer.rows]
    suite, stored = answer.columns.index("suite"), answer.columns.index("stored")
    return Rows(columns, rows, {str(row[suite]): int(row[stored] or 0) for row in answer.rows})


def shrink_to_page(rows: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return as many of the newest rows of data sets as the page can hold.

    While there are too many, the largest data set loses its oldest tenth.
    """
    kept = dict(rows)
    sizes = {name: _size(each) for name, each in kept.items()}
    while sum(sizes.values()) > MOST_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        newest = kept[largest].rows
        kept[largest] = replace(kept[largest], rows=newest[: len(newest) * 9 // 10])
        sizes[largest] = _size(kept[largest])
    return kept


def _size(rows: Rows) -> int:
    return len(shell.json_for_script(rows.packed()).encode())


def _value(text: str | None, kind: str) -> Value:
    """Return a value for JSON, None for a number that is not finite."""
    if text is None or kind not in (INTEGER, DECIMAL):
        return text
    if kind == INTEGER:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None
