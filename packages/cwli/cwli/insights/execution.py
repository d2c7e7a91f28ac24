"""Execution of a query's statements: their progress, and the counts of the events they read."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from cwli import duckdb_core as duckdb
from cwli.insights.source import EventSource
from cwli.insights.sql import MATCHED_OF_GROUPS, Statements

_SORTS = ("ORDER_BY", "TOP_N")


class Counts(NamedTuple):
    """The counts of GetQueryResults: events, bytes of messages or files, matching events."""

    records: int
    size: int
    matched: int


class Executed(NamedTuple):
    """The rows of an executed statement, and the operators that DuckDB made of it.

    Counting the lines of a text afterwards would read the files again.
    """

    rows: list[tuple[Any, ...]]
    operators: list[dict[str, Any]]

    @property
    def lines(self) -> int | None:
        """The number of lines, if the statement scanned one text and no other table."""
        scans = [node for node in _nodes(self.operators) if node["type"] == "TABLE_SCAN"]
        if [scan["extra_info"].get("Function") for scan in scans] != ["READ_CSV"]:
            return None
        return int(scans[0]["intermediate_rows"])

    @property
    def sorted_rows(self) -> int | None:
        """The number of rows that the first sort of the statement takes, None without a sort."""
        sorts = [node for node in _nodes(self.operators) if node["type"] in _SORTS]
        return int(sorts[-1]["children"][0]["intermediate_rows"]) if sorts else None


def execute(connection: duckdb.DuckDBPyConnection, statement: str) -> Executed:
    """Execute a statement; the connection profiles its statements."""
    rows = connection.execute(statement).fetchall()
    profile = json.loads(connection.get_profiling_information("json"))
    return Executed(rows, profile["operator"])


def count_events(
    connection: duckdb.DuckDBPyConnection,
    sql: Statements,
    events: EventSource,
    executed: Executed,
    *,
    whole: bool,
) -> Counts:
    """Return the counts of a query; read the events again only if its execution does not tell.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection with the views and the table that the statements read.
    sql : Statements
        The query.
    events : EventSource
        The events of the query.
    executed : Executed
        The statement that read the events: ``groups`` if the query has it, else ``result``.
    whole : bool
        Whether the query reads all events, without a time window.
    """
    lines = executed.lines if whole else None
    if (lines is not None or sql.matches_all) and events.bytes is not None:
        matched = _matched(connection, sql, executed)
        if matched is not None:
            return Counts(matched if lines is None else lines, events.bytes, matched)
    ((records, size, matched),) = connection.execute(sql.statistics).fetchall()
    return Counts(records, size if events.bytes is None else events.bytes, matched)


def _matched(
    connection: duckdb.DuckDBPyConnection, sql: Statements, executed: Executed
) -> int | None:
    if sql.groups:
        ((matched,),) = connection.execute(MATCHED_OF_GROUPS).fetchall()
        return int(matched)
    return executed.sorted_rows if sql.sorts_matches else None


def _nodes(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for operator in operators:
        yield operator
        yield from _nodes(operator.get("children", []))


ProgressReceiver = Callable[[float], None]
"""A receiver of percentages from 0 to 100; each reading of the events begins again at 0."""

_SECONDS = 0.2


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
        while not ended.wait(_SECONDS):
            # DuckDB returns -1 between two statements.
            receiver(max(connection.query_progress(), 0.0))

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
