"""The events of a query, and the log groups that it names with ``SOURCE``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cwli.insights.plan import Step
from cwli.insights.values import quoted

if TYPE_CHECKING:
    from cwli.duckdb_core import DuckDBPyConnection
    from cwli.insights.sql import MessageValues, Writer


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
    parts : int
        The number of tables or texts that the SELECT reads.
    """

    sql: str
    bytes: int | None = field(default=None, kw_only=True)
    found: bool = field(default=False, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    parts: int = field(default=1, kw_only=True)

    @classmethod
    def union(cls, sources: Iterable[EventSource], size: int | None = None) -> EventSource:
        """Return the events of all sources, from ``size`` bytes of files; no source has none."""
        parts = [source.sql for source in sources]
        return cls(" UNION ALL ".join(parts) or _NOTHING, bytes=size, parts=len(parts))

    def within(self, *ranges: TimeRange) -> EventSource:
        """Return the events of time ranges that do not overlap."""
        return EventSource(rows_within(self.sql, *ranges), bytes=self.bytes)

    def message_values(
        self,
        values: MessageValues,
        start: int | None,
        end: int | None,
        connection: DuckDBPyConnection,
    ) -> str:
        """Return the SELECT of the values that a query takes from the events in a time window.

        Parameters
        ----------
        values : MessageValues
            The same values over the view ``events``, which holds the events in the window.
        start, end : int or None
            The window's first and last second [s since 1970-01-01 UTC].
        connection : DuckDBPyConnection
            The connection of the query, before the view exists.
        """
        return values.sql


def rows_within(select: str, *ranges: TimeRange) -> str:
    """Return the SELECT of the rows with a ``timestamp`` in one of the time ranges."""
    if (None, None) in ranges:
        return select
    within = " OR ".join(f"({_is_within(*each)})" for each in ranges)
    return f"SELECT * FROM ({select}) WHERE {within}"  # noqa: S608


def over(events: str, select: str) -> str:
    """Return a SELECT in which ``events`` stands for these events and hides an outer name."""
    return f"SELECT * FROM (WITH events AS NOT MATERIALIZED ({events}) SELECT * FROM ({select}))"  # noqa: S608


def _is_within(start: int | None, end: int | None) -> str:
    bounds = []
    if start is not None and end is not None:
        # The time of an event is an expression, which two comparisons would compute twice.
        return f"timestamp BETWEEN {int(start) * 1000} AND {int(end) * 1000 + 999}"
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
_ACCOUNT = "([0-9]{12}):"


class NoLogGroupError(Exception):
    """A ``SOURCE`` that names a missing log group or selects none."""


class Groups(NamedTuple):
    """Log groups by name, or by prefix and account.

    Without prefixes any name fits, without accounts any account.
    """

    names: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    def has(self, account: str, name: str) -> bool:
        """Tell whether a log group is one of these."""
        if self.names:
            return name in self.names
        return (not self.accounts or account in self.accounts) and (
            not self.prefixes or name.startswith(self.prefixes)
        )

    def select(self, account: str, known: Collection[str]) -> list[str]:
        """Return the log groups of an account that this selection has.

        Raises
        ------
        NoLogGroupError
            If a named log group does not exist, or no log group has one of the prefixes.
        """
        for name in self.names:
            if name not in known:
                raise NoLogGroupError(f"SOURCE: no log group is named {name!r}")
        groups = [name for name in known if self.has(account, name)]
        if not groups:
            raise NoLogGroupError(
                f"SOURCE: {f'account {account}' if account else 'PATH'} has no log group that "
                "logGroups selects"
            )
        return groups

    def sql(self) -> str:
        """Return the condition that the column ``log`` is one of these.

        It is ``account:group``, or the path of a file.
        """
        name = (
            "CASE WHEN log[13] = ':' AND translate(left(log, 12), '0123456789', '') = '' "
            "THEN substring(log, 14) ELSE log END"
        )
        if self.names:
            return f"({name}) IN ({', '.join(map(quoted, self.names))})"
        conditions = []
        if self.accounts:
            accounts = ", ".join(map(quoted, self.accounts))
            conditions.append(f"split_part(log, ':', 1) IN ({accounts})")
        if self.prefixes:
            prefixes = (f"starts_with({name}, {quoted(prefix)})" for prefix in self.prefixes)
            conditions.append(f"({' OR '.join(prefixes)})")
        return " AND ".join(conditions) or "TRUE"


def split_log(log: str) -> tuple[str, str]:
    """Return the account of an ``@log`` and its log group, or '' and the path of a file."""
    found = re.match(_ACCOUNT, log)
    return (found[1], log[found.end() :]) if found else ("", log)


def chosen(sources: Iterable[Groups], account: str, known: Collection[str]) -> list[str]:
    """Return the log groups of an account that any source selects, each once.

    Raises
    ------
    NoLogGroupError
        As `Groups.select`.
    """
    names = (name for groups in sources for name in groups.select(account, known))
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class GroupFilter(Step):
    """A step that keeps the events of some log groups, of all that the query names anywhere."""

    per_event = True

    sources: tuple[Groups, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The column of the log group."""
        return frozenset({"log"})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE clause over the view ``named``."""
        writer.read_named()
        condition = " OR ".join(f"({groups.sql()})" for groups in self.sources)
        writer.define(kept, {}, f"WHERE {condition}")
