"""Counts of the events that a query read and matched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import duckdb

from local.insights.source import EventSource
from local.insights.sql import MATCHED_OF_GROUPS, Statements


class Counts(NamedTuple):
    """The counts of GetQueryResults: events, bytes of messages or files, matching events."""

    records: int
    size: int
    matched: int


def count_events(
    connection: duckdb.DuckDBPyConnection, sql: Statements, events: EventSource, *, whole: bool
) -> Counts:
    """Create the table ``groups``, if the query has one, and return the query's counts.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        A connection with the views that the statements read.
    sql : Statements
        The query.
    events : EventSource
        The events of the query.
    whole : bool
        Whether the query reads all events, without a time window.
    """
    lines = _create_groups(connection, sql.groups) if sql.groups else None
    if whole and lines is not None and events.bytes is not None:
        ((matched,),) = connection.execute(MATCHED_OF_GROUPS).fetchall()
        return Counts(lines, events.bytes, matched)
    ((records, size, matched),) = connection.execute(sql.statistics).fetchall()
    return Counts(records, size if events.bytes is None else events.bytes, matched)


def _create_groups(connection: duckdb.DuckDBPyConnection, groups: str) -> int | None:
    """Create the table ``groups``; return the number of lines if one text scan made it, else None.

    Counting the lines afterwards would read the files again: a fifth of a query's time.
    """
    connection.execute("PRAGMA enable_profiling = 'no_output'")
    connection.execute(f"CREATE TEMP TABLE groups AS {groups}")
    profile = json.loads(connection.get_profiling_information("json"))
    connection.execute("PRAGMA disable_profiling")
    scans = [node for node in _nodes(profile["operator"]) if node["type"] == "TABLE_SCAN"]
    if [scan["extra_info"].get("Function") for scan in scans] != ["READ_CSV"]:
        return None
    return int(scans[0]["intermediate_rows"])


def _nodes(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for operator in operators:
        yield operator
        yield from _nodes(operator.get("children", []))
