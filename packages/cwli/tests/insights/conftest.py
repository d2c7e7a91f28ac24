"""Fixtures that run a query over a few log lines."""

from collections.abc import Callable
from itertools import count

import pytest
from logs import Logs

from cwli.insights import EventSource, run

Rows = list[dict[str, str]]


@pytest.fixture
def source(tmp_path) -> Callable[..., EventSource]:
    """Return a maker of events: messages or (stream, message) pairs, one a second from 00:00:01."""
    numbers = count()

    def of(*events: str | tuple[str, str]) -> EventSource:
        store = Logs(tmp_path / f"logs{next(numbers)}")
        for second, event in enumerate(events, 1):
            stream, message = ("stream", event) if isinstance(event, str) else event
            store.append("/group", stream, [(second * 1000, message)], ingestion_time=90_000)
        return store.events(["/group"])

    return of


@pytest.fixture
def ask(source) -> Callable[..., Rows]:
    """Return a function from a query and events to rows: dictionaries without ``@ptr``."""

    def answer(query: str, *events: str | tuple[str, str], limit: int | None = None) -> Rows:
        result = run(query, source(*events), start=0, end=1000, limit=limit)
        rows = [{cell["field"]: cell["value"] for cell in row} for row in result.rows]
        return [{k: v for k, v in row.items() if k != "@ptr"} for row in rows]

    return answer
