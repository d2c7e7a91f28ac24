"""The data sets of the dashboard: SQL files, their columns and formats, and their newest rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from sqlglot import MappingSchema, exp, parse_one
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.pages.shell import json_for_script
from tidemark.store.columns import PARTITIONS, TABLES

if TYPE_CHECKING:
    from tidemark.client.tables import Tables

_FOLDER = ROOT / "queries" / "sql"
# Athena engine version 3 is built on Trino.
_DIALECT = "trino"
# QuickSight user guide, "Supported data types from Athena". Booleans are left out: a report needs
# words, because true and false do not explain themselves.
STRING, INTEGER, DECIMAL, DATETIME = "STRING", "INTEGER", "DECIMAL", "DATETIME"
_QUICKSIGHT_TYPES = {
    "VARCHAR": STRING,
    "INTEGER": INTEGER,
    "BIGINT": INTEGER,
    "DOUBLE": DECIMAL,
    "TIMESTAMP": DATETIME,
}
MOST_ROWS = 5_000
"""The most rows of a data set, because more would take a long time to query."""
MOST_BYTES = 900_000
"""The most bytes of all data sets, so that the page with its scripts stays below 2 MB."""

# The page keeps the newest rows. These data sets need another order to begin with them.
_NEWEST_FIRST = {"rates_by_version": "version_rank DESC,", "runs_by_week": "week DESC,"}

Value = str | int | float | None


@dataclass(frozen=True)
class DataSet:
    """A SQL file as a data set of QuickSight."""

    name: str
    """The name of the file without its ending."""
    title: str
    """The first line of the file's leading comment."""
    sql: str
    tables: frozenset[str]
    """The tables that the SQL reads."""
    columns: Mapping[str, str]
    """QuickSight's type of each resulting column, in order."""

    def within(self, database: str) -> str:
        """Return the SQL over the tables of a database, with the text of the file unchanged.

        QuickSight names no database in its requests to Athena.
        """
        tables = ",\n".join(
            f'{table} AS (SELECT * FROM "{database}".{table})'  # noqa: S608 (names of our own)
            for table in sorted(self.tables)
        )
        return f"WITH {tables}\nSELECT * FROM (\n{self.sql})"


@cache
def read_data_set(name: str) -> DataSet:
    """Return the data set of a file, with columns derived from the SQL and the tables.

    Raises
    ------
    Refused
        If there is no such file, or if a column has a type that QuickSight does not support.

    """
    path = _FOLDER / f"{name}.sql"
    if not path.is_file():
        known = listed(sorted(file.stem for file in _FOLDER.glob("*.sql")))
        raise Refused(f"data set {name}: there is no such file in queries/sql; there are {known}")
    sql = path.read_text(encoding="utf-8")
    parsed = parse_one(sql, dialect=_DIALECT)
    tables = frozenset(table.name for table in parsed.find_all(exp.Table)) & TABLES.keys()
    columns = {column.alias_or_name: _type(name, column) for column in _with_types(parsed).selects}
    return DataSet(name, sql.partition("\n")[0].removeprefix("-- "), sql, tables, columns)


def _with_types(query: exp.Expr) -> exp.Query:
    """Return a query over our tables, with a type at each expression."""
    schema = MappingSchema(
        {table: {**columns, **PARTITIONS} for table, columns in TABLES.items()}, dialect="hive"
    )
    qualified = qualify(query, schema=schema, dialect=_DIALECT)
    return cast("exp.Query", annotate_types(qualified, schema, dialect=_DIALECT))


def _type(data_set: str, column: exp.Expr) -> str:
    type_ = column.type.sql(_DIALECT) if column.type else "UNKNOWN"
    if type_ not in _QUICKSIGHT_TYPES:
        raise Refused(
            f"data set {data_set}: column {column.alias_or_name} has the type {type_}; "
            f"CAST it to one of {listed(_QUICKSIGHT_TYPES)}"
        )
    return _QUICKSIGHT_TYPES[type_]


@dataclass(frozen=True)
class Column:
    """A column of a data set."""

    data_set: str
    name: str

    @property
    def type(self) -> str:
        """QuickSight's type of the column; KeyError for a column that the data set lacks."""
        return read_data_set(self.data_set).columns[self.name]


@dataclass(frozen=True)
class Format:
    """The format of a value."""

    kind: str
    """``text``, ``time``, ``number`` or ``percentage``; 0.01 is written as 1 %."""
    places: int | None = None
    """The digits behind the point, None for as many as needed; for a time, its characters."""


(
    BY_VERSION, PAIRS, RUNS, TRIALS, SAMPLES, WEEKS, UNFINISHED, CHANGES, BY_RUN, EVENTS, OMISSIONS
) = DATA_SETS = (
    "rates_by_version", "version_pairs", "newest_runs", "trials_of_newest_runs",
    "samples_of_newest_runs", "runs_by_week", "unfinished_runs", "level_changes", "rates_by_run",
    "release_events", "history_omissions",
)  # fmt: skip

# Characters of a time as ``2026-11-20 12:44:55``.
TEXT, NUMBER, PERCENTAGE = Format("text"), Format("number"), Format("percentage", 2)
DAY, MINUTE, SECOND = Format("time", 10), Format("time", 16), Format("time", 19)
_GREY = "#6E7781"
_UNTOLD = (
    "cannot tell", "not comparable", "slower on unlike machines", "faster on unlike machines",
    "same on unlike machines",
)  # fmt: skip

COLORS = {
    Column(PAIRS, "qualified_verdict"): {
        "slower": "#A11D21",
        "faster": "#00785A",
        "same": "#1B1F24",
        **dict.fromkeys(_UNTOLD, _GREY),
    },
    Column(WEEKS, "status"): {
        "complete": "#007A5A",
        "incomplete": "#9A6700",
        "failed": "#D55E00",
        "aborted": "#A35A8B",
        "rejected": _GREY,
    },
}
"""The colours of values; verdicts have the colours of the pages of reports in light."""
FORMATS = {
    **{
        Column(data_set, name): NUMBER
        for name in ("mean", "min", "max")
        for data_set in (BY_RUN, BY_VERSION)
    },
    **{
        Column(data_set, name): format_
        for data_set, format_, names in (
            (PAIRS, PERCENTAGE, "effect effect_gain gain_low gain_high low high"),
            (PAIRS, NUMBER, "base_mean new_mean base_stddev new_stddev"),
            (PAIRS, DAY, "last_at"),
            (PAIRS, NUMBER, "base_min base_max new_min new_max"),
            (RUNS, NUMBER, "records task_seconds insights_bytes"),
            (RUNS, Format("number", 4), "cost_usd"),
            (RUNS, SECOND, "started_at ended_at"),
            (TRIALS, NUMBER, "value stddev min max span_seconds"),
            (SAMPLES, NUMBER, "value records"),
            (SAMPLES, SECOND, "logged_at"),
            (UNFINISHED, SECOND, "started_at"),
            (CHANGES, PERCENTAGE, "change"),
            (CHANGES, NUMBER, "level_before level_after accepted_level"),
            (CHANGES, DAY, "changed_at"),
            (BY_VERSION, PERCENTAGE, "usual_gain"),
            (EVENTS, PERCENTAGE, "slower_by faster_by largest_change"),
            (EVENTS, DAY, "changed_at"),
        )
        for name in names.split()
    },
}
"""The formats of columns whose type has another one."""


def default_format(kind: str) -> Format:
    """Return the default format of one of QuickSight's types."""
    return {STRING: TEXT, DATETIME: MINUTE}.get(kind, NUMBER)


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
    return len(json_for_script(rows.packed()).encode())


def _value(text: str | None, kind: str) -> Value:
    """Return a value for JSON, None for a number that is not finite."""
    if text is None or kind not in (INTEGER, DECIMAL):
        return text
    if kind == INTEGER:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None
