"""CloudWatch Logs Insights on one machine: the query language, compiled to DuckDB's SQL.

>>> from local.insights import run
>>> run("stats count(*)", events, start=0, end=4_000_000_000).rows
[[{'field': 'count(*)', 'value': '3'}]]
"""

from local.insights.engine import CompiledQuery, EventsError, QueryResult, run
from local.insights.engine import compile_query as compile  # noqa: A004 (as re.compile)
from local.insights.lookup_tables import LookupTableError
from local.insights.source import EventSource
from local.insights.syntax import QueryError

__all__ = [
    "CompiledQuery",
    "EventSource",
    "EventsError",
    "LookupTableError",
    "QueryError",
    "QueryResult",
    "compile",
    "run",
]
