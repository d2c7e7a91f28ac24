"""Compile queries and run them over events with DuckDB."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cwli import duckdb_core as duckdb
from cwli.cancellation import Cancellation
from cwli.insights.names import resolve
from cwli.insights.parser import parse
from cwli.insights.plan import MOST_ROWS, Plan
from cwli.insights.regexes import Pattern
from cwli.insights.source import EventSource
from cwli.insights.sql import MATCHED_OF_GROUPS, Statements, statements
from cwli.insights.syntax import Command, LookupTableError, QueryError
from cwli.insights.values import quoted

if TYPE_CHECKING:
    from cwli.insights.commands.lookup import Lookup

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
_SORTS = ("ORDER_BY", "TOP_N")
_PROGRESS_SECONDS = 0.2
ProgressReceiver = Callable[[float], None]
"""A receiver of percentages from 0 to 100; each reading of the events begins again at 0."""


class CompiledQuery(NamedTuple):
    """A query that the engine accepts.

    Attributes
    ----------
    text : str
        The query as written.
    commands : tuple of Command
        Its commands.
    plan : Plan
        Its steps, and what it names.
    statements : Statements
        DuckDB's SQL for the result and its statistics, over the views ``events`` and ``named``.
    """

    text: str
    commands: tuple[Command, ...]
    plan: Plan
    statements: Statements

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of the result, ``@ptr`` last unless the query names it."""
        return tuple(self.plan.outputs)

    @property
    def choice(self) -> tuple[int, int]:
        """The place of the command that chooses these fields, line 1 and column 1 without one."""
        spans = [each.span for each in self.commands if each.kind in _CHOOSING]
        return (spans[-1].line, spans[-1].column) if spans else (1, 1)

    @property
    def grouped(self) -> bool:
        """Whether the result has a row for each group of a stats command."""
        return any(each.kind == "Stats" for each in self.commands)

    @property
    def per_event(self) -> bool:
        """Whether each row is of one event, in the order of the events."""
        is_sorted = any(each.kind == "Sort" for each in self.commands)
        return all(step.per_event for step in self.plan.steps) and not is_sorted

    def earlier(self, start: int | None, end: int | None) -> list[tuple[int, int]]:
        """Return the earlier time ranges that the query compares with its own; raise QueryError."""
        return [each.earlier(start, end) for each in self.plan.comparisons]

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

    @property
    def records(self) -> list[dict[str, str]]:
        """The rows by field, without absent values and the pointers to events."""
        rows = ({cell["field"]: cell["value"] for cell in row} for row in self.rows)
        return [{field: row[field] for field in row if field != "@ptr"} for row in rows]


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
    return CompiledQuery(query, commands, plan, statements(plan))


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
    plan, sql = compiled.plan, compiled.statements
    most = MOST_ROWS if plan.limits else DEFAULT_ROWS
    most = most if limit is None else min(limit, most)
    may_be_cut = limit is None and most == DEFAULT_ROWS
    with (
        duckdb.connect(config=_CONFIG) as connection,
        (cancellation or Cancellation()).of(connection),
        report_progress(connection, on_progress),
    ):
        # DuckDB would draw a progress bar on standard output, terminal or not.
        connection.execute("SET enable_progress_bar_print = FALSE")
        _check_patterns(connection, plan.patterns)
        connection.execute(_variables(start, end))
        connection.execute("PRAGMA enable_profiling = 'no_output'")
        _load(connection, plan.lookups, tables or {})
        try:
            values = sql.message_values.sql if sql.message_values else None
            if sql.message_values and not plan.comparisons:  # no cache has rows of two time ranges
                values = events.message_values(sql.message_values, start, end, connection)
            views = {"events": events} | ({"named": named or events} if plan.named else {})
            for view, source in views.items():
                connection.execute(f"CREATE TEMP VIEW {view} AS {source.within(*ranges).sql}")
            if values:
                connection.execute(f"CREATE TEMP VIEW message_values AS {values}")
            whole = start is None and end is None
            grouped = (
                _execute(connection, f"CREATE TEMP TABLE groups AS {sql.groups}")
                if sql.groups
                else None
            )
            if sql.templates:
                # Few queries need it.
                from cwli.insights.commands.patterns import create_patterns  # noqa: PLC0415

                create_patterns(connection, sql.templates)
            result = _execute(connection, f"{sql.result} LIMIT {int(most) + may_be_cut}")
            rows = result.rows
            counts = _count_events(connection, sql, events, grouped or result, whole=whole)
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
        (*plan.warnings, *warnings),
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

    All events are read only if the first events lack a field, and once for all fields.
    """
    none = "no event that may pass the filters" if events.found else "no event"
    plan, select = compiled.plan, compiled.statements.discovered
    if select is None:
        return []
    for rows in (f"{select} LIMIT {_FIRST_EVENTS}", select):
        sql = f"SELECT coalesce(bool_or(COLUMNS(*) IS NOT NULL), FALSE) FROM ({rows})"  # noqa: S608
        (present,) = connection.execute(sql).fetchall()
        if all(present):
            break
    return [
        f"{none} has a field {name!r}"
        f"{_INDEX if name in plan.indexed else ''}"
        f"{_quotes(name) if name in plan.compared - plan.indexed else ''}"
        for name, is_present in zip(plan.discovered, present, strict=True)
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
            reason = "this is not text in UTF-8"
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


class _Counts(NamedTuple):
    """The counts of GetQueryResults: events, bytes of messages or files, matching events."""

    records: int
    size: int
    matched: int


class _Executed(NamedTuple):
    """The rows of an executed statement, and the operators that DuckDB made of it.

    Counting the lines of a text afterwards would read the files again.
    """

    rows: list[tuple[Any, ...]]
    operators: list[dict[str, Any]]

    def lines(self, texts: int) -> int | None:
        """Return the number of lines, if the statement scanned these texts and no other table."""
        scanned = list(_scanned(self.operators))
        lines = [number for number in scanned if number is not None]
        return sum(lines) if len(lines) == len(scanned) == texts else None

    @property
    def sorted_rows(self) -> int | None:
        """The number of rows that the first sort of the statement takes, None without a sort."""
        sorts = [node for node in _nodes(self.operators) if node["type"] in _SORTS]
        return int(sorts[-1]["children"][0]["intermediate_rows"]) if sorts else None


def _execute(connection: duckdb.DuckDBPyConnection, statement: str) -> _Executed:
    """Execute a statement; the connection profiles its statements."""
    rows = connection.execute(statement).fetchall()
    profile = json.loads(connection.get_profiling_information("json"))
    return _Executed(rows, profile["operator"])


def _count_events(
    connection: duckdb.DuckDBPyConnection,
    sql: Statements,
    events: EventSource,
    executed: _Executed,
    *,
    whole: bool,
) -> _Counts:
    """Return the counts of a query; read the events again only if its execution does not tell.

    ``executed`` is the statement that read the events, all of them with ``whole``.
    """
    lines = executed.lines(events.parts) if whole else None
    if (lines is not None or sql.matches_all) and events.bytes is not None:
        matched = _matched(connection, sql, executed)
        if matched is not None:
            return _Counts(matched if lines is None else lines, events.bytes, matched)
    ((records, size, matched),) = connection.execute(sql.statistics).fetchall()
    return _Counts(records, size if events.bytes is None else events.bytes, matched)


def _matched(
    connection: duckdb.DuckDBPyConnection, sql: Statements, executed: _Executed
) -> int | None:
    if sql.groups:
        ((matched,),) = connection.execute(MATCHED_OF_GROUPS).fetchall()
        return int(matched)
    return executed.sorted_rows if sql.sorts_matches else None


def _nodes(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for operator in operators:
        yield operator
        yield from _nodes(operator.get("children", []))


def _scanned(
    operators: list[dict[str, Any]], above: dict[str, Any] | None = None
) -> Iterator[int | None]:
    """Yield the number of lines of each scan of a text, None for a scan of another table."""
    for operator in operators:
        if operator["type"] == "TABLE_SCAN":
            # A text that is read whole is one row, which the operator above takes apart.
            counts = {"READ_CSV": operator, "READ_TEXT": above}
            counted = counts.get(operator["extra_info"].get("Function", ""))
            yield int(counted["intermediate_rows"]) if counted else None
        yield from _scanned(operator.get("children", []), operator)


@contextmanager
def report_progress(
    connection: duckdb.DuckDBPyConnection, receiver: ProgressReceiver | None
) -> Iterator[None]:
    """Report the progress of the connection's statements until the block ends."""
    if receiver is None:
        yield
        return
    connection.execute("SET enable_progress_bar = TRUE")
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(_PROGRESS_SECONDS):
            # DuckDB returns -1 between two statements.
            receiver(max(connection.query_progress(), 0.0))

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
