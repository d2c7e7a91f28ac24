"""How many events a query read and matched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import duckdb

from local.insights.source import EventSource
from local.insights.sql import MATCHED_OF_GROUPS, Statements


class Counts(NamedTuple):
    """What GetQueryResults counts: events, their bytes or those of their files, what matched."""

    records: int
    size: int
    matched: int


def counted(
    connection: duckdb.DuckDBPyConnection, sql: Statements, events: EventSource, *, whole: bool
) -> Counts:
    """Make the table ``groups``, if the query has one, and return what the query read.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Holds the views that the statements read.
    sql : Statements
        The query.
    events : EventSource
        What it is about.
    whole : bool
        Whether it is about all of them, and not about those of some time.
    """
    lines = _grouped(connection, sql.groups) if sql.groups else None
    if whole and lines is not None and events.bytes is not None:
        ((matched,),) = connection.execute(MATCHED_OF_GROUPS).fetchall()
        return Counts(lines, events.bytes, matched)
    ((records, size, matched),) = connection.execute(sql.statistics).fetchall()
    return Counts(records, size if events.bytes is None else events.bytes, matched)


def _grouped(connection: duckdb.DuckDBPyConnection, groups: str) -> int | None:
    """Make the table ``groups``; return of how many lines, if it is made of one reading of text.

    To count the lines of files afterwards is to read them again: a fifth of a query's time.
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
