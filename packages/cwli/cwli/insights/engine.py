"""Compile queries and run them over events with DuckDB."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cwli import duckdb_core as duckdb
from cwli.cancellation import Cancellation
from cwli.insights.execution import ProgressReceiver, count_events, execute, report_progress
from cwli.insights.lookup_tables import Lookup, LookupTableError
from cwli.insights.names import resolve
from cwli.insights.parser import parse
from cwli.insights.plan import MOST_ROWS, Comparison, UndefinedField
from cwli.insights.prefilter import prefilter
from cwli.insights.regexes import Pattern
from cwli.insights.source import EventSource, Groups
from cwli.insights.sql import Statements, statements
from cwli.insights.syntax import QueryError
from cwli.insights.values import quoted

# The most rows of a query without a limit command (AWS documentation, StartQuery: limit).
DEFAULT_ROWS = 10_000
# DuckDB must not download extensions at run time.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# The search for absent fields reads this many events first, and all events only if needed.
_FIRST_EVENTS = 10_000
_UNREADABLE = (duckdb.IOException, duckdb.InvalidInputException)
_CSV_ERROR = re.compile(
    r"CSV Error on Line: (\d+)\n.*\n(?!Possible )([^\n]+)\n+Possible .*\n *file = ([^\n]+)",
    re.DOTALL,
)
_TIMESTAMP = re.compile(r"\btimestamp\b")
_MISSING = ("null", "none", "nil")
# AWS documentation, CloudWatch Logs Insights query syntax: filterIndex.
_INDEX = "; on AWS filterIndex reads only log groups that have an index of the field"
_CHOOSING = {"Display", "Fields", "Stats"}
_TOO_LONG = re.compile(r"Maximum line size of (\d+) bytes exceeded")


class CompiledQuery(NamedTuple):
    """A query that the engine accepts.

    Attributes
    ----------
    text : str
        The query as written.
    columns : tuple of str
        The fields of the result, ``@ptr`` last unless the query names it.
    choice : tuple of int
        The line and column of the command that chooses the fields of the result, 1 and 1 if none
        does.
    grouped : bool
        Whether the result has a row for each group of a stats command.
    per_event : bool
        Whether each row is of one event, in the order of the events.
    warnings : tuple of str
        The warnings to the author of the query, each with line and column.
    undefined : tuple of UndefinedField
        The fields that no command defines, in queries that take fields from texts.
    stages : tuple of str
        The commands, each as query text.
    sources : tuple of Groups
        The log groups that the query's own SOURCE commands name; empty without SOURCE.
    named : tuple of Groups
        The log groups that the query or its subqueries name.
    lookups : tuple of Lookup
        The uses of lookup tables.
    comparisons : tuple of Comparison
        The comparison with an earlier time range, if the query has one.
    discovered : tuple of str
        The fields that the query takes from messages.
    compared : frozenset of str
        The fields that values are compared with.
    indexed : frozenset of str
        The fields that filterIndex names.
    statements : Statements
        DuckDB's SQL for the result and its statistics, over the views ``events`` and ``named``.
    patterns : tuple of Pattern
        The regular expressions of the query.
    most_rows : int
        The largest number of rows that the query returns.
    prefilter : frozenset of str
        Literals: an event must hold one of them to pass the filters; empty if none is known.
    """

    text: str
    columns: tuple[str, ...]
    choice: tuple[int, int]
    grouped: bool
    per_event: bool
    warnings: tuple[str, ...]
    undefined: tuple[UndefinedField, ...]
    stages: tuple[str, ...]
    sources: tuple[Groups, ...]
    named: tuple[Groups, ...]
    lookups: tuple[Lookup, ...]
    comparisons: tuple[Comparison, ...]
    discovered: tuple[str, ...]
    compared: frozenset[str]
    indexed: frozenset[str]
    statements: Statements
    patterns: tuple[Pattern, ...]
    most_rows: int
    prefilter: frozenset[str]

    def earlier(self, start: int | None, end: int | None) -> list[tuple[int, int]]:
        """Return the earlier time ranges that the query compares with its own; raise QueryError."""
        return [each.earlier(start, end) for each in self.comparisons]

    @property
    def uses_times(self) -> bool:
        """Whether the rows of the result depend on the times of events, if only by their order."""
        return _TIMESTAMP.search(self.statements.groups or self.statements.result) is not None


class QueryResult(NamedTuple):
    """The answer of GetQueryResults for a complete query.

    Attributes
    ----------
    rows : list of list of dict
        The rows, each a list of ``{"field": …, "value": …}`` with two texts, without absent values.
    statistics : dict of str to float
        ``recordsMatched``, ``recordsScanned`` and ``bytesScanned``; the bytes are the size of the
        messages, or of the files that the query had to read for them.
    warnings : tuple of str
        The warnings to the author of the query.
    columns : tuple of str
        The fields of the result, whether or not a row has them.
    found : bool
        Whether a search found the events, so that ``recordsScanned`` does not count all of them.
    """

    rows: list[list[dict[str, str]]]
    statistics: dict[str, float]
    warnings: tuple[str, ...]
    columns: tuple[str, ...]
    found: bool = False


class EventsError(Exception):
    """A failure to read the events of a query."""


def compile_query(query: str) -> CompiledQuery:
    """Return a query, ready to run.

    Raises
    ------
    QueryError
        If the text is not a query, or uses an unsupported feature. RE2 checks regular expressions
        only when the query runs.
    """
    commands = parse(query)
    plan = resolve(commands)
    # The modules of commands are imported with those that a query has.
    kinds = {type(one).__name__ for one in commands}
    choices = [one.span for one in commands if type(one).__name__ in _CHOOSING]
    return CompiledQuery(
        query,
        tuple(plan.outputs),
        (choices[-1].line, choices[-1].column) if choices else (1, 1),
        "Stats" in kinds,
        all(step.per_event for step in plan.steps) and "Sort" not in kinds,
        plan.warnings,
        plan.undefined,
        tuple(map(str, commands)),
        plan.sources,
        plan.named,
        plan.lookups,
        plan.comparisons,
        tuple(plan.discovered),
        plan.compared,
        plan.indexed,
        statements(plan),
        plan.patterns,
        MOST_ROWS if plan.limited else DEFAULT_ROWS,
        prefilter(plan),
    )


def run(
    query: str | CompiledQuery,
    events: EventSource,
    start: int | None = None,
    end: int | None = None,
    limit: int | None = None,
    named: EventSource | None = None,
    tables: Mapping[str, Path] | None = None,
    on_progress: ProgressReceiver | None = None,
    cancellation: Cancellation | None = None,
) -> QueryResult:
    """Run a query over events.

    Parameters
    ----------
    query : str or CompiledQuery
        The query.
    events : EventSource
        The events to run it over.
    start, end : int, optional
        The first and the last second of the events [s since 1970-01-01 UTC], as in StartQuery.
        The whole last second counts. Without bounds, the time of events is not compared.
    limit : int, optional
        The largest number of rows to return, as in StartQuery.
    named : EventSource, optional
        The events that SOURCE selects from; by default ``events``.
    tables : dict of str to Path, optional
        The lookup tables: CSV files in UTF-8 with a header line.
    on_progress : callable, optional
        A receiver of the progress [%] of each reading of the events, called from another thread.
    cancellation : Cancellation, optional
        The end of the query before its result.

    Raises
    ------
    QueryError
        If the query is not accepted, or names a lookup table or column that does not exist.
    EventsError
        If the events cannot be read.
    LookupTableError
        If a lookup table cannot be read.
    Cancelled, TimedOut
        If ``cancellation`` ended the query.
    """
    compiled = query if isinstance(query, CompiledQuery) else compile_query(query)
    ranges = [(start, end), *compiled.earlier(start, end)]
    sql = compiled.statements
    most = compiled.most_rows if limit is None else min(limit, compiled.most_rows)
    may_be_cut = limit is None and most == DEFAULT_ROWS
    with (
        duckdb.connect(config=_CONFIG) as connection,
        (cancellation or Cancellation()).of(connection),
        report_progress(connection, on_progress),
    ):
        # DuckDB would draw a progress bar on standard output, terminal or not.
        connection.execute("SET enable_progress_bar_print = FALSE")
        _check_patterns(connection, compiled.patterns)
        connection.execute(_variables(start, end))
        connection.execute("PRAGMA enable_profiling = 'no_output'")
        _load(connection, compiled.lookups, tables or {})
        try:
            parsed = sql.parsed.sql if sql.parsed else None
            if sql.parsed and not compiled.comparisons:  # no cache has rows of two time ranges
                parsed = events.parsed(sql.parsed, start, end, connection)
            views = {"events": events} | ({"named": named or events} if compiled.named else {})
            for view, source in views.items():
                connection.execute(f"CREATE TEMP VIEW {view} AS {source.within(*ranges).sql}")
            if parsed:
                connection.execute(f"CREATE TEMP VIEW parsed AS {parsed}")
            whole = start is None and end is None
            grouped = (
                execute(connection, f"CREATE TEMP TABLE groups AS {sql.groups}")
                if sql.groups
                else None
            )
            if sql.templates:
                # Few queries need it.
                from cwli.insights.commands.patterns import create_patterns  # noqa: PLC0415

                create_patterns(connection, sql.templates)
            result = execute(connection, f"{sql.result} LIMIT {int(most) + may_be_cut}")
            rows = result.rows
            counts = count_events(connection, sql, events, grouped or result, whole=whole)
            warnings = _absent_fields(connection, compiled, events) if counts.records else []
        except duckdb.Error as error:
            # Damage within a Parquet file has no class of its own.
            if not isinstance(error, _UNREADABLE) and type(error) is not duckdb.Error:
                raise
            raise EventsError(f"the events cannot be read: {_sentence(error)}") from error
    if counts.records and not counts.matched:
        several = counts.records > 1 and not events.found
        none = f"none of {counts.records:,} events" if several else "no event"
        warnings.append(f"{none} passed the filters")
    if may_be_cut and len(rows) > most:
        warnings.append(f"there are more than {most:,} rows; write limit {MOST_ROWS} for more")
    return QueryResult(
        [_row(compiled.columns, values) for values in rows[:most]],
        {
            "recordsMatched": float(counts.matched),
            "recordsScanned": float(counts.records),
            "bytesScanned": float(counts.size),
        },
        (*compiled.warnings, *warnings),
        compiled.columns,
        events.found,
    )


def _variables(start: int | None, end: int | None) -> str:
    """Return SQL that sets the variables of ``now()`` and of the functions of the time range."""
    variables = {
        "query_start": int(time.time()),
        "first_ms": "NULL" if start is None else int(start) * 1000,
        "last_ms": "NULL" if end is None else int(end) * 1000 + 999,
    }
    return "; ".join(f"SET VARIABLE {name} = {value}" for name, value in variables.items())


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


def _absent_fields(
    connection: duckdb.DuckDBPyConnection, compiled: CompiledQuery, events: EventSource
) -> list[str]:
    """Return a warning for each field that the query takes from messages and no event has.

    All events are read only if the first ones lack a field, and once for all fields.
    """
    none = "no event that may pass the filters" if events.found else "no event"
    select = compiled.statements.discovered
    if select is None:
        return []
    for rows in (f"{select} LIMIT {_FIRST_EVENTS}", select):
        sql = f"SELECT coalesce(bool_or(COLUMNS(*) IS NOT NULL), FALSE) FROM ({rows})"  # noqa: S608
        (present,) = connection.execute(sql).fetchall()
        if all(present):
            break
    return [
        f"{none} has a field {name!r}"
        f"{_INDEX if name in compiled.indexed else ''}"
        f"{_quotes(name) if name in compiled.compared - compiled.indexed else ''}"
        for name, is_present in zip(compiled.discovered, present, strict=True)
        if not is_present
    ]


def _quotes(name: str) -> str:
    if name.lower() in _MISSING:
        return "; for a missing field, write not ispresent(field)"
    return f"; for the text, write it in quotes: '{name}'" if name.isidentifier() else ""


def _sentence(error: duckdb.Error) -> str:
    """Return the first line of a DuckDB error, with file and line, without DuckDB's proposals."""
    text = str(error)
    if match := _CSV_ERROR.search(text):
        line, reason, file = match.groups()
        if reason.startswith("Invalid unicode"):
            reason = "this is no text in UTF-8"
        if too_long := _TOO_LONG.match(reason):
            reason = f"this line has more than {int(too_long[1]):,} bytes, the maximum of an event"
        return f"{file}, line {line}: {reason}"
    return text.partition("\n")[0].removeprefix("Invalid Input Error: ").rstrip()


def _row(columns: tuple[str, ...], values: tuple[str | None, ...]) -> list[dict[str, str]]:
    return [
        {"field": column, "value": value}
        for column, value in zip(columns, values, strict=True)
        if value is not None
    ]
