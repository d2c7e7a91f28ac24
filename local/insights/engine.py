"""Queries, compiled and run over events on DuckDB."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from local.insights.counts import counted
from local.insights.lookups import Lookup, LookupTableError
from local.insights.names import resolve
from local.insights.parser import parse
from local.insights.plan import MOST_ROWS
from local.insights.progress import Told, progress_told
from local.insights.regexes import Pattern
from local.insights.source import EventSource
from local.insights.sources import Groups
from local.insights.sql import Statements, statements
from local.insights.syntax import QueryError
from local.insights.values import quoted

# How many rows a query returns that does not say so itself (AWS documentation, StartQuery: limit).
DEFAULT_ROWS = 10_000
# Nothing is fetched from the network at run time.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# How many events are looked at before all are, for fields that they have.
_FIRST_EVENTS = 10_000
_UNREADABLE = (duckdb.IOException, duckdb.InvalidInputException)
_CSV_ERROR = re.compile(
    r"CSV Error on Line: (\d+)\n.*\n(?!Possible )([^\n]+)\n+Possible .*\n *file = ([^\n]+)",
    re.DOTALL,
)
_TOO_LONG = re.compile(r"Maximum line size of (\d+) bytes exceeded")


@dataclass(frozen=True)
class CompiledQuery:
    """A query that is accepted.

    Attributes
    ----------
    text : str
        As written.
    columns : tuple of str
        The fields of its result, ``@ptr`` last if the query did not ask for it.
    warnings : tuple of str
        What the writer may not expect, each with its line and column.
    stages : tuple of str
        Its commands, each as a query would write it.
    sources : tuple of Groups
        The log groups that it is about, by SOURCE; none if it leaves them to who runs it.
    named : tuple of Groups
        Those, and the ones that its subqueries name.
    lookups : tuple of Lookup
        What it takes from lookup tables.
    discovered : tuple of str
        The fields that it takes from messages.
    statements : Statements
        DuckDB's SQL of the result and of its statistics, over ``events`` and ``named``.
    patterns : tuple of Pattern
        Its regular expressions.
    most_rows : int
        How many rows it returns at most.
    """

    text: str
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    stages: tuple[str, ...]
    sources: tuple[Groups, ...]
    named: tuple[Groups, ...]
    lookups: tuple[Lookup, ...]
    discovered: tuple[str, ...]
    statements: Statements
    patterns: tuple[Pattern, ...]
    most_rows: int


@dataclass(frozen=True)
class QueryResult:
    """What GetQueryResults returns of a query that is complete.

    Attributes
    ----------
    rows : list of list of dict
        Each row holds ``{"field": …, "value": …}``, both texts; what is absent is left out.
    statistics : dict of str to float
        ``recordsMatched``, ``recordsScanned`` and ``bytesScanned``: of messages, or of the files
        that had to be read for them.
    warnings : tuple of str
        What the writer of the query may not expect.
    columns : tuple of str
        The fields of the result, whether or not a row has them.
    """

    rows: list[list[dict[str, str]]]
    statistics: dict[str, float]
    warnings: tuple[str, ...]
    columns: tuple[str, ...]


class EventsError(Exception):
    """The events of a query cannot be read."""


def compile_query(query: str) -> CompiledQuery:
    """Return a query, ready to run.

    Raises
    ------
    QueryError
        If the text is no query, or uses what is not supported. Whether RE2 accepts the regular
        expressions shows when the query runs.
    """
    commands = parse(query)
    plan = resolve(commands)
    return CompiledQuery(
        query,
        tuple(plan.outputs),
        plan.warnings,
        tuple(map(str, commands)),
        plan.sources,
        plan.named,
        plan.lookups,
        tuple(plan.discovered),
        statements(plan),
        plan.patterns,
        MOST_ROWS if plan.limited else DEFAULT_ROWS,
    )


def run(
    query: str | CompiledQuery,
    events: EventSource,
    start: int | None = None,
    end: int | None = None,
    limit: int | None = None,
    named: EventSource | None = None,
    tables: Mapping[str, Path] | None = None,
    told: Told | None = None,
) -> QueryResult:
    """Run a query over events.

    Parameters
    ----------
    query : str or CompiledQuery
        What to run.
    events : EventSource
        What to run it over.
    start, end : int, optional
        The first and the last second of the events [s since 1970-01-01 UTC], as in StartQuery.
        The last second counts to its end. Without bounds no event's time is looked at.
    limit : int, optional
        How many rows to return at most, as in StartQuery.
    named : EventSource, optional
        The events that SOURCE chooses among; by default ``events``.
    tables : dict of str to Path, optional
        The lookup tables: CSV files in UTF-8 that begin with a line of names.
    told : callable, optional
        Is told the progress of each reading of the events, from a thread of its own [%].

    Raises
    ------
    QueryError
        If the query is not accepted, or there is no lookup table or column that it names.
    EventsError
        If the events cannot be read.
    LookupTableError
        If a lookup table cannot be read.
    """
    compiled = query if isinstance(query, CompiledQuery) else compile_query(query)
    sql = compiled.statements
    most = compiled.most_rows if limit is None else min(limit, compiled.most_rows)
    with duckdb.connect(config=_CONFIG) as connection, progress_told(connection, told):
        # DuckDB would draw its progress into standard output, terminal or not.
        connection.execute("SET enable_progress_bar_print = FALSE")
        _check_patterns(connection, compiled.patterns)
        for name, value in _variables(start, end).items():
            connection.execute(f"SET VARIABLE {name} = {value}")
        _load(connection, compiled.lookups, tables or {})
        try:
            for view, source in {"events": events, "named": named or events}.items():
                connection.execute(f"CREATE TEMP VIEW {view} AS {source.within(start, end).sql}")
            if sql.parsed:
                parsed = events.parsed(sql.parsed, start, end)
                connection.execute(f"CREATE TEMP VIEW parsed AS {parsed}")
            counts = counted(connection, sql, events, whole=start is None and end is None)
            rows = connection.execute(f"{sql.result} LIMIT {int(most)}").fetchall()
            absent = _absent(connection, compiled) if counts.records else []
        except _UNREADABLE as error:
            raise EventsError(f"the events cannot be read: {_sentence(error)}") from error
    if counts.records and not counts.matched:
        absent.append(f"no event passed the filters; there were {counts.records:,}")
    return QueryResult(
        [_row(compiled.columns, values) for values in rows],
        {
            "recordsMatched": float(counts.matched),
            "recordsScanned": float(counts.records),
            "bytesScanned": float(counts.size),
        },
        (*compiled.warnings, *absent),
        compiled.columns,
    )


def _variables(start: int | None, end: int | None) -> dict[str, int | str]:
    """Return what the functions of the query's own times read."""
    return {
        "query_start": int(time.time()),
        "first_ms": "NULL" if start is None else int(start) * 1000,
        "last_ms": "NULL" if end is None else int(end) * 1000 + 999,
    }


def _check_patterns(connection: duckdb.DuckDBPyConnection, patterns: tuple[Pattern, ...]) -> None:
    for pattern in patterns:
        try:
            connection.execute(f"SELECT regexp_matches('', {quoted(pattern.matching())})")
        except duckdb.InvalidInputException as error:
            reason = str(error).removeprefix("Invalid Input Error: ")
            raise QueryError(f"not a regular expression of RE2: {reason}", pattern.span) from error


def _load(
    connection: duckdb.DuckDBPyConnection, lookups: tuple[Lookup, ...], tables: Mapping[str, Path]
) -> None:
    for lookup in lookups:
        try:
            lookup.load(connection, tables)
        except (duckdb.IOException, duckdb.InvalidInputException) as error:
            raise LookupTableError(_sentence(error)) from error


def _absent(connection: duckdb.DuckDBPyConnection, compiled: CompiledQuery) -> list[str]:
    """Return a warning for each field that the query takes from messages and no event has.

    Only if the first events lack one, all are read, once for all fields.
    """
    select = compiled.statements.discovered
    if select is None:
        return []
    for rows in (f"{select} LIMIT {_FIRST_EVENTS}", select):
        sql = f"SELECT coalesce(bool_or(COLUMNS(*) IS NOT NULL), FALSE) FROM ({rows})"  # noqa: S608
        (present,) = connection.execute(sql).fetchall()
        if all(present):
            break
    return [
        f"no event has a field {name!r}"
        for name, found in zip(compiled.discovered, present, strict=True)
        if not found
    ]


def _sentence(error: duckdb.Error) -> str:
    """Return what DuckDB says first, and of which line of which file, without its proposals."""
    text = str(error)
    if found := _CSV_ERROR.search(text):
        line, reason, file = found.groups()
        if reason.startswith("Invalid unicode"):
            reason = "this is no text in UTF-8"
        if too_long := _TOO_LONG.match(reason):
            reason = f"this line has more than {int(too_long[1]):,} bytes, the most of an event"
        return f"{file}, line {line}: {reason}"
    return text.partition("\n")[0]


def _row(columns: tuple[str, ...], values: tuple[str | None, ...]) -> list[dict[str, str]]:
    return [
        {"field": column, "value": value}
        for column, value in zip(columns, values, strict=True)
        if value is not None
    ]
