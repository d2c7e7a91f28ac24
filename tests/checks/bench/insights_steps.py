"""Times of queries relative to hand-written DuckDB SQL, and times of their compilation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb

from cwli import insights

ROUNDS = 7
# The number of lines in the benchmark of whole files; fewer rows show the fixed cost of a query.
ROWS = 5_000_000
MOST_RATIO = 1.3
MOST_COMPILE_MS = 1.0

_EVENTS = f"""
CREATE TABLE events AS SELECT 1717338360000 + i * 7 AS timestamp, 0::BIGINT AS ingestion_time,
    '1:/group' AS log, 'task/' || (i % 11) AS log_stream, lpad(i::VARCHAR, 12, '0') AS ptr,
    CASE WHEN i % 2 = 0
        THEN '{{"user":{{"id":"u' || (i % 997) || '"}},"ms":' || (i % 5000) || ',"path":"/'
            || repeat('x', 60) || '"}}'
        ELSE '[main] core.Metrics INFO  - Wrote ' || i || ' rows in ' || (i % 977) || ' ms'
    END AS message
FROM range({ROWS}) AS numbers(i)
"""
_REGEX = r"in (?P<ms>[0-9]+) ms"
# Half of the messages are not JSON, and DuckDB's functions refuse these.
_JSON = "CASE WHEN json_valid(message) THEN message END"


@dataclass(frozen=True)
class Pair:
    """Query and its hand-written SQL."""

    name: str
    query: str
    sql: str


PAIRS = (
    Pair(
        "stats by bin and stream",
        "stats count(*) as n by bin(1m) as t, @logStream",
        "SELECT timestamp // 60000 * 60000 AS t, log_stream, count(*) FROM events "
        "GROUP BY ALL ORDER BY t, log_stream",
    ),
    Pair(
        "regular expression",
        "parse @message /in (?<ms>[0-9]+) ms/ | stats avg(ms)",
        f"SELECT avg(TRY_CAST(nullif(regexp_extract(message, '{_REGEX}', 1), '') AS DOUBLE)) "
        "FROM events",
    ),
    Pair(
        "JSON field",
        "filter user.id = 'u7' | stats count(*), avg(ms)",
        f"SELECT count(*), avg(json_extract_string({_JSON}, '/ms')::DOUBLE) FROM events "
        f"WHERE json_extract_string({_JSON}, '/user/id') = 'u7'",
    ),
    Pair(
        "dedup",
        "fields @message | dedup @logStream",
        "SELECT message, ptr FROM events QUALIFY row_number() OVER "
        "(PARTITION BY log_stream ORDER BY timestamp DESC, ptr) = 1 ORDER BY timestamp DESC, ptr",
    ),
    Pair(
        "two stats",
        "stats count(*) as n by @logStream, bin(1s) | stats avg(n), max(n) by @logStream",
        "SELECT log_stream, avg(n), max(n) FROM (SELECT log_stream, timestamp // 1000 AS t, "
        "count(*) AS n FROM events GROUP BY ALL) GROUP BY log_stream ORDER BY log_stream",
    ),
)


def ratios() -> Iterator[tuple[str, float]]:
    """Yield each pair's name and ratio, for the fastest of interleaved rounds."""
    with duckdb.connect() as connection:
        connection.execute(_EVENTS)
        for pair in PAIRS:
            texts = (_compiled(pair.query), pair.sql)
            fastest = [float("inf")] * 2
            for _ in range(ROUNDS):
                for which, text in enumerate(texts):
                    taken = _seconds(partial(_answer, connection, text))
                    fastest[which] = min(fastest[which], taken)
            yield pair.name, fastest[0] / fastest[1]


def _answer(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Any]:
    return connection.execute(sql).fetchall()


def _compiled(query: str) -> str:
    """Return the SQL that reads the events and returns the result."""
    sql = insights.compile(query).statements
    view = "CREATE OR REPLACE TEMP VIEW message_values AS"
    values = f"{view} {sql.message_values.sql};" if sql.message_values else ""
    groups = f"CREATE OR REPLACE TEMP TABLE groups AS {sql.groups};" if sql.groups else ""
    return f"{values} {groups} {sql.result} LIMIT 10000"


def compile_milliseconds() -> float:
    """Return the slowest of the queries' fastest compilations [ms]."""
    return 1000 * max(
        min(_seconds(partial(insights.compile, pair.query)) for _ in range(10 * ROUNDS))
        for pair in PAIRS
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def figures() -> Iterator[tuple[str, float, float, str]]:
    """Yield each figure's name, value, limit and unit."""
    for name, ratio in ratios():
        yield f"{name}, query to SQL by hand", ratio, MOST_RATIO, "×"
    yield "parse and compile, slowest", compile_milliseconds(), MOST_COMPILE_MS, "ms"
