"""The rows of data sets, as the page gets them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cdk.data_sets import DECIMAL, INTEGER, DataSet
from local.sql_client import SqlClient
from pages import shell

MOST_ROWS = 5_000
"""Of a data set: more would take long to ask for."""
MOST_BYTES = 900_000
"""Of all data sets: with what draws it, the page stays below 2 MB."""

# What was measured last is what a page has room for: how data sets whose order is another say so.
_NEWEST_FIRST = {"rates_by_version": "version_rank DESC,", "runs_by_week": "week DESC,"}

Value = str | int | float | None


@dataclass(frozen=True)
class LeftOut:
    """Rows of a suite that are not there, the oldest."""

    suite: str
    rows: int
    stored: int
    """How many there would be in all."""


@dataclass(frozen=True)
class Rows:
    """The newest rows of each suite in a data set."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    """The newest of each suite, then the second of each, and so on."""
    stored: Mapping[str, int]
    """How many rows of each suite the data set has."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """What is not there, of each suite of which not all is."""
        suite = self.columns.index("suite")
        kept = Counter(row[suite] for row in self.rows)
        return [
            LeftOut(name, stored - kept[name], stored)
            for name, stored in self.stored.items()
            if stored > kept[name]
        ]

    def packed(self) -> dict[str, Any]:
        """Return rows column by column: the values that there are, and of each row which it has.

        A value stands once, however many rows have it: most of what is compared repeats.
        """
        packed = {}
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            places = {value: number for number, value in enumerate(dict.fromkeys(cells))}
            packed[column] = {"values": list(places), "rows": [places[value] for value in cells]}
        return packed


def read_rows(tables: SqlClient, data_set: DataSet, columns: Sequence[str]) -> Rows:
    """Return some columns, ``suite`` among them, of the newest rows of each suite in a data set."""
    query, order = data_set.sql.rsplit("\nORDER BY", 1)
    newest_first = _NEWEST_FIRST.get(data_set.name, "") + order
    # Names are our own words; as many rows of one suite as of another are taken, if it has them.
    answer = tables.ask(
        "SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY suite) AS stored,"  # noqa: S608
        f" row_number() OVER (PARTITION BY suite ORDER BY {newest_first}) AS place"
        f" FROM (\n{query}\n)) ORDER BY place, suite LIMIT {MOST_ROWS}"
    )
    places = [(answer.columns.index(name), data_set.columns[name]) for name in columns]
    rows = [[_value(row[place], kind) for place, kind in places] for row in answer.rows]
    suite, stored = answer.columns.index("suite"), answer.columns.index("stored")
    return Rows(columns, rows, {str(row[suite]): int(row[stored] or 0) for row in answer.rows})


def fitted(found: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return of data sets as many of the newest rows as a page has room for.

    As long as there are too many, the data set that takes most room gives up a tenth of its rows.
    """
    kept = dict(found)
    sizes = {name: _size(rows) for name, rows in kept.items()}
    while sum(sizes.values()) > MOST_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        rows = kept[largest].rows
        kept[largest] = replace(kept[largest], rows=rows[: len(rows) * 9 // 10])
        sizes[largest] = _size(kept[largest])
    return kept


def _size(rows: Rows) -> int:
    return len(shell.json_for_script(rows.packed()).encode())


def _value(text: str | None, kind: str) -> Value:
    """Return a value as JSON has it; a number that is not finite is none."""
    if text is None or kind not in (INTEGER, DECIMAL):
        return text
    if kind == INTEGER:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None
