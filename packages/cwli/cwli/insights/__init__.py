"""CloudWatch Logs Insights on one machine: the query language, compiled to DuckDB's SQL.

>>> from cwli.insights import run
>>> run("stats count(*)", events, start=0, end=4_000_000_000).rows
[[{'field': 'count(*)', 'value': '3'}]]
"""

from cwli.insights.engine import CompiledQuery, EventsError, QueryResult, run
from cwli.insights.engine import compile_query as compile  # noqa: A004 (as re.compile)
from cwli.insights.source import EventSource
from cwli.insights.syntax import LookupTableError, QueryError

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
