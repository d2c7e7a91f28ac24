"""Events in tables that the console of CloudWatch Logs downloads, or that a query answers.

AWS documentation, CloudWatch Logs: analyzing log data with Logs Insights; GetQueryResults.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from cwli.readers.lines import LIMITS

_EVENTS = ["timestamp", "message"]
"""The columns of the events of a log stream."""
_FIELDS = {"@timestamp", "@message", "@logStream", "@log", "@ingestionTime", "@ptr"}
# AWS documentation, CloudWatch Logs: stats, functions.
_FUNCTION = re.compile(
    r"(?:bin|avg|count|count_distinct|earliest|latest|max|median|min|pct|sortsFirst|sortsLast|"
    r"stddev|sum)\(.*\)"
)
_BIN = re.compile(r"bin\(.*\)")
_MILLISECONDS = re.compile("[0-9]{1,15}")
_LONGEST_HEAD = 10_000


class Row(NamedTuple):
    """A row of a table."""

    line: int
    """The number of its last line, 0 if the table has no lines."""
    cells: Mapping[str, str] | None
    """The texts by column, None if the row does not fit the columns."""


class CutTableError(Exception):
    """A table that ends early; the argument is the number of the line."""


def is_table(begin: str) -> bool:
    """Tell whether a text begins with the columns of a downloaded table."""
    first = begin[:_LONGEST_HEAD].partition("\n")[0].rstrip("\r")
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:
        return False
    return names == _EVENTS or any(each in _FIELDS or _FUNCTION.fullmatch(each) for each in names)


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of CSV; raise CutTableError if a quote is not closed."""
    csv.field_size_limit(LIMITS.line)
    rows = csv.reader(lines, strict=True)
    try:
        names = next(rows)
        for row in filter(None, rows):
            fits = len(row) == len(names)
            yield Row(rows.line_num, dict(zip(names, row, strict=True)) if fits else None)
    except csv.Error:
        raise CutTableError(rows.line_num) from None


def answered_rows(text: str) -> Iterator[Row]:
    """Yield the rows of JSON, of an answer or of an array of objects.

    Raises
    ------
    ValueError, RecursionError
        If the text is not JSON.
    CutTableError
        If the query had not ended.
    """
    answer = json.loads(text)
    rows = answer if isinstance(answer, list) else answer["results"]
    yield from (Row(0, _cells(row)) for row in rows)
    if isinstance(answer, dict) and answer.get("status", "Complete") != "Complete":
        raise CutTableError(0)


def _cells(row: object) -> Mapping[str, str] | None:
    try:
        pairs = row.items() if isinstance(row, dict) else _pairs(row)
        return {str(name): value if isinstance(value, str) else json.dumps(value)
                for name, value in pairs}  # fmt: skip
    except (TypeError, KeyError):
        return None


def _pairs(row: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 (JSON of any form)
    return ((cell["field"], cell["value"]) for cell in row)


def event_of(cells: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the event of a row as FilterLogEvents gives it, with ``@log``.

    A row without ``@message`` is an event with its other cells as JSON. An event without a time has
    None; a row with a time that cannot be read has no event.
    """
    times = [cells[name] for name in ("@timestamp", "timestamp") if name in cells]
    times += [value for name, value in cells.items() if _BIN.fullmatch(name)]
    try:
        timestamp = _time(times[0]) if times else None
        ingested = _time(cells["@ingestionTime"]) if cells.get("@ingestionTime") else None
    except ValueError:
        return None
    others = {name: value for name, value in cells.items() if name not in _FIELDS}
    message = cells["message"] if [*cells] == _EVENTS else cells.get("@message")
    return {
        "timestamp": timestamp,
        "message": json.dumps(others, ensure_ascii=False) if message is None else message,
        "ingestionTime": ingested,
        "logStreamName": cells.get("@logStream") or None,
        "@log": cells.get("@log") or None,
    }


def _time(text: str) -> int:
    """Return a time of the console [ms since 1970-01-01 UTC]; raise ValueError without one."""
    if _MILLISECONDS.fullmatch(text):
        return int(text)
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + moment.microsecond // 1000
