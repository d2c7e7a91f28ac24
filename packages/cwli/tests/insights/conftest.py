"""Fixtures that run a query over a few log lines."""

from collections.abc import Callable, Iterable, Iterator
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
        return run(query, source(*events), start=0, end=1000, limit=limit).records

    return answer


@pytest.fixture(scope="module")
def values_of(tmp_path_factory) -> Callable[..., dict[str, str | None]]:
    """Return a function from expressions to their values over one event, of a few queries."""

    def values(expressions: Iterable[str], message: str = "line", before: str = ""):
        store = Logs(tmp_path_factory.mktemp("logs"))
        store.append("/group", "stream", [(1000, message)], ingestion_time=90_000)
        found = {}
        for part in batched_by_length(expressions):
            names = {f"x{number}": expression for number, expression in enumerate(part)}
            fields = ", ".join(f"{expression} as {name}" for name, expression in names.items())
            query = f"{before}fields {fields} | display {', '.join(names)}"
            (row,) = run(query, store.events(["/group"]), start=0, end=1000).records
            found |= {expression: row.get(name) for name, expression in names.items()}
        return found

    return values


def batched_by_length(expressions: Iterable[str]) -> Iterator[list[str]]:
    """Yield expressions in parts that fit in a query."""
    part: list[str] = []
    for expression in expressions:
        if sum(map(len, part)) + 20 * len(part) + len(expression) > 6_000:
            yield part
            part = []
        part.append(expression)
    yield part
