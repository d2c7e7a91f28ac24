"""Queries that would run for years."""

from cwli.insights.source import events_of

_DIGITS = "(VALUES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"
CROSS_JOIN = (
    f"SELECT count(*) FROM {', '.join(f'{_DIGITS} AS t{n}(x{n})' for n in range(15))} "
    f"WHERE {' + '.join(f'x{n}' for n in range(15))} < 0"
)
EVENTS = events_of(
    "range(1000000) AS a(n), range(1000000) AS b(m)",
    timestamp="n",
    ingestion_time="n",
    log="'1:g'",
    log_stream="'s'",
    message="'line ' || hash(n, m)",
    ptr="'p' || n",
)
