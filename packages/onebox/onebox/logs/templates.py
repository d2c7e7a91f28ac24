"""The making of templates: columns that a large file of events has beside the messages.

A sample of the lines tells the templates. A line that fits one has its text in the column
``template_1`` and its variables in ``v1``, ``v2`` and so on; any other has its message again in
``rest``. `cwli.insights.templates` says what a template is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cwli.insights.source import quoted_path
from cwli.insights.templates import CONSTANT, MARK, VARIABLE, variable
from cwli.insights.values import quoted
from onebox.logs.event_files import cursor

LEAST_BYTES = 1024**2
"""The minimum size of lines that get templates, and of a Parquet file whose templates are used."""
TEMPLATE = "template_1"
"""The column of the template. Another meaning of `VARIABLE` needs another number, so that a file
with the former one is read by its messages."""
REST = "rest"
_MOST_VARIABLES = 24
_MOST_TEMPLATES = 256
_SAMPLE = 20_000
# The share of the sample that has a template, and that all templates have together, at least.
_LEAST_SHARE, _LEAST_TOTAL = 0.001, 0.75
_VARIABLES = tuple(map(variable, range(1, _MOST_VARIABLES + 1)))
COLUMNS = (TEMPLATE, REST, *_VARIABLES)
_SHAPE = f"regexp_replace(message, {quoted(VARIABLE)}, {quoted(MARK)}, 'g') AS shape"
_FOUND = f"regexp_extract_all(message, {quoted(VARIABLE)}) AS found"
_MARKED = f"contains(message, {quoted(MARK)}) OR contains(message, {quoted(CONSTANT)})"


class _Learned(NamedTuple):
    """A template, and the places and values of its constant variables."""

    shape: str
    constants: dict[int, str]

    def sql(self) -> str:
        """Return the row of SQL: the shape, the text, the places and the values."""
        values = ", ".join(map(quoted, self.constants.values()))
        places = f"{list(self.constants)}::BIGINT[]"
        return f"({quoted(self.shape)}, {quoted(self.text())}, {places}, [{values}]::VARCHAR[])"

    def text(self) -> str:
        """Return the text of the template, as `cwli.insights.templates.Template` takes it."""
        first, *pieces = self.shape.split(MARK)
        values = (self.constants.get(place) for place in range(1, len(pieces) + 1))
        marks = (MARK if value is None else f"{CONSTANT}{value}{CONSTANT}" for value in values)
        return first + "".join(chain.from_iterable(zip(marks, pieces, strict=True)))


def sorted_events(events: str, size: int, least_bytes: int) -> str:
    """Return the SELECT of events sorted by time, with templates if they are worth their making.

    Parameters
    ----------
    events : str
        The SELECT of the events.
    size : int
        The size of their files [bytes].
    least_bytes : int
        The minimum size of events with templates [bytes].

    Raises
    ------
    duckdb.Error
        If the events cannot be read.
    """
    in_order = f"SELECT * FROM ({events}) ORDER BY timestamp, id"  # noqa: S608
    learned = _learned(events) if size >= least_bytes else []
    return _with_columns(in_order, learned) if learned else in_order


def _learned(events: str) -> list[_Learned]:
    """Return the templates of a sample, the most frequent first; none if they fit too few lines."""
    same = (
        f"CASE WHEN min(found[{place}]) = max(found[{place}]) THEN min(found[{place}]) END"
        for place in range(1, _MOST_VARIABLES + 1)
    )
    sample = f"SELECT message FROM ({events}) USING SAMPLE reservoir({_SAMPLE} ROWS) REPEATABLE (1)"  # noqa: S608
    with cursor() as connection:
        connection.execute("SET enable_progress_bar_print = FALSE")
        rows = connection.execute(
            "SELECT shape, count(*) / any_value(every) AS share, "  # noqa: S608
            f"[{', '.join(same)}] FROM (SELECT *, count(*) OVER () AS every FROM "
            f"(SELECT {_SHAPE}, {_FOUND}, {_MARKED} AS marked FROM ({sample}))) "
            f"WHERE NOT marked AND len(found) <= {_MOST_VARIABLES} GROUP BY shape "
            f"HAVING share >= {_LEAST_SHARE} ORDER BY share DESC, shape LIMIT {_MOST_TEMPLATES}"
        ).fetchall()
    if sum(share for _, share, _ in rows) < _LEAST_TOTAL:
        return []
    return [_Learned(shape, _constants(values)) for shape, _, values in rows]


def _constants(values: Sequence[str | None]) -> dict[int, str]:
    return {place: value for place, value in enumerate(values, 1) if value is not None}


def _with_columns(events: str, learned: Iterable[_Learned]) -> str:
    rows = ", ".join(each.sql() for each in learned)
    variables = (
        f"CASE WHEN fits THEN found[{n}] END AS {name}" for n, name in enumerate(_VARIABLES, 1)
    )
    return (
        "SELECT * EXCLUDE (shape, found, text, places, constants, fits), "  # noqa: S608
        f"CASE WHEN fits THEN text END AS {TEMPLATE}, "
        f"CASE WHEN NOT fits THEN message END AS {REST}, {', '.join(variables)} FROM (SELECT *, "
        f"coalesce(list_select(found, places) = constants AND NOT ({_MARKED}), FALSE) AS fits "
        f"FROM (SELECT *, {_SHAPE}, {_FOUND} FROM ({events})) "
        f"LEFT JOIN (VALUES {rows}) AS learned(shape, text, places, constants) USING (shape))"
    )


class TemplatedFiles:
    """The Parquet files with templates, as far as this process knows; files never change."""

    def __init__(self, least_bytes: int) -> None:
        self.least_bytes = least_bytes
        self._known: dict[Path, bool] = {}

    def among(self, files: Iterable[Path]) -> list[Path]:
        """Return the files whose templates are worth their use."""
        large = [file for file in files if file.stat().st_size >= self.least_bytes]
        if new := [file for file in large if file not in self._known]:
            self._known |= dict.fromkeys(new, False) | dict.fromkeys(_with_template(new), True)
        return [file for file in large if self._known[file]]


def _with_template(files: Sequence[Path]) -> Iterable[Path]:
    names = ", ".join(map(quoted_path, files))
    with cursor() as connection:
        rows = connection.execute(
            f"SELECT DISTINCT file_name FROM parquet_schema([{names}]) WHERE name = '{TEMPLATE}'"  # noqa: S608
        ).fetchall()
    return [Path(name) for (name,) in rows]
