"""Sources of the events of a query."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cwli.insights.values import quoted

if TYPE_CHECKING:
    from cwli.duckdb_core import DuckDBPyConnection
    from cwli.insights.sql import Parsed

TimeRange = tuple[int | None, int | None]
"""The first and the last whole second [s since 1970-01-01 UTC], None where it has no limit."""


@dataclass(frozen=True)
class EventSource:
    """Events that DuckDB can read.

    Attributes
    ----------
    sql : str
        A SELECT of the columns ``timestamp`` and ``ingestion_time`` (BIGINT, milliseconds since
        1970-01-01 UTC), ``log`` (``account:group``), ``log_stream``, ``message`` and ``ptr``
        (VARCHAR; ``ptr`` is unique, and sorts as the events were written), and ``size`` (BIGINT,
        the bytes of the message).
    bytes : int or None
        The bytes of the files, if a query always reads them whole; None if a query reads only the
        bytes of its events.
    found : bool
        Whether a search for texts that the query needs found these events, and there are others.
    notes : tuple of str
        What people should know of the events, each in a sentence.
    """

    sql: str
    bytes: int | None = field(default=None, kw_only=True)
    found: bool = field(default=False, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @classmethod
    def union(cls, sources: Iterable[EventSource], size: int | None = None) -> EventSource:
        """Return the events of all sources, from ``size`` bytes of files; no source has none."""
        return cls(" UNION ALL ".join(source.sql for source in sources) or _NOTHING, bytes=size)

    def within(self, *ranges: TimeRange) -> EventSource:
        """Return the events of time ranges that do not overlap."""
        return EventSource(rows_within(self.sql, *ranges), bytes=self.bytes)

    def parsed(
        self, parsed: Parsed, start: int | None, end: int | None, connection: DuckDBPyConnection
    ) -> str:
        """Return the SELECT of the values that a query takes from the events in a time window.

        Parameters
        ----------
        parsed : Parsed
            The same values over the view ``events``, which holds the events in the window.
        start, end : int or None
            The window's first and last second [s since 1970-01-01 UTC].
        connection : DuckDBPyConnection
            The connection of the query, before the view exists.
        """
        return parsed.sql


def rows_within(select: str, *ranges: TimeRange) -> str:
    """Return the SELECT of the rows with a ``timestamp`` in one of the time ranges."""
    if (None, None) in ranges:
        return select
    within = " OR ".join(f"({_is_within(*each)})" for each in ranges)
    return f"SELECT * FROM ({select}) WHERE {within}"  # noqa: S608


def over(events: str, select: str) -> str:
    """Return a SELECT in which ``events`` stands for these events, whatever it means outside."""
    return f"SELECT * FROM (WITH events AS NOT MATERIALIZED ({events}) SELECT * FROM ({select}))"  # noqa: S608


def _is_within(start: int | None, end: int | None) -> str:
    bounds = []
    if start is not None:
        bounds.append(f"timestamp >= {int(start) * 1000}")
    if end is not None:
        bounds.append(f"timestamp <= {int(end) * 1000 + 999}")
    return " AND ".join(bounds)


def quoted_path(path: Path) -> str:
    """Return a path as an SQL literal in which DuckDB finds no pattern of file names."""
    return quoted(re.sub(r"([*?\[])", r"[\1]", str(path)))


def events_of(
    table: str,
    *,
    timestamp: str,
    ingestion_time: str,
    log: str,
    log_stream: str,
    message: str,
    ptr: str,
    size: str = "strlen(message)",
    others: Iterable[str] = (),
) -> EventSource:
    """Return the rows of an SQL table, or of another operand of FROM, as events.

    The columns are SQL expressions; ``others`` keep their names.
    """
    return EventSource(
        f"SELECT {timestamp} AS timestamp, {ingestion_time} AS ingestion_time, {log} AS log, "  # noqa: S608 (callers quote texts)
        f"{log_stream} AS log_stream, {message} AS message, {ptr} AS ptr, "
        f"{', '.join((f'{size} AS size', *others))} FROM {table}"
    )


_NOTHING = events_of(
    "(SELECT 0::BIGINT AS number, '' AS text) WHERE FALSE",
    timestamp="number",
    ingestion_time="number",
    log="text",
    log_stream="text",
    message="text",
    ptr="text",
    size="number",
).sql
