"""The reading of events by their templates: no message is read if its template tells enough."""

from __future__ import annotations

from local import duckdb_core as duckdb
from local.insights.source import over
from local.insights.sql import Parsed
from local.insights.templates import Template
from local.insights.values import quoted
from local.logs.templates import REST, TEMPLATE

# Each branch reads the files once more.
_MOST_BRANCHES = 8


def rows_by_template(events: str, parsed: Parsed, connection: duckdb.DuckDBPyConnection) -> str:
    """Return the SELECT of the rows that a query takes from events with templates.

    Parameters
    ----------
    events : str
        The SELECT of the events, also with the columns of `local.logs.templates`.
    parsed : Parsed
        The rows over ``events``.
    connection : DuckDBPyConnection
        The connection of the query.
    """
    templates = f"SELECT DISTINCT {TEMPLATE} FROM ({events}) WHERE {TEMPLATE} IS NOT NULL"  # noqa: S608
    by_sql: dict[str, list[str]] = {}
    for (text,) in connection.execute(f"{templates} ORDER BY 1").fetchall():
        sql = parsed.for_template(Template(text))
        by_sql.setdefault(sql or "", []).append(quoted(text))
    if by_sql.keys() == {parsed.sql} or len(by_sql) > _MOST_BRANCHES:
        return over(events, parsed.sql)
    by_sql.pop("", None)  # the query keeps none of their events
    without = f"SELECT * REPLACE ({REST} AS message) FROM ({events}) WHERE {TEMPLATE} IS NULL"  # noqa: S608
    branches = [over(without, parsed.sql)]
    for sql, texts in by_sql.items():
        same = f"SELECT * FROM ({events}) WHERE {TEMPLATE} IN ({', '.join(texts)})"  # noqa: S608
        branches.append(over(same, sql))
    return " UNION ALL BY NAME ".join(branches)
