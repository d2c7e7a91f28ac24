"""How far DuckDB is with what a connection executes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

Told = Callable[[float], None]
"""Takes a percentage from 0 to 100; each reading of the events begins anew."""

_SECONDS = 0.2


@contextmanager
def progress_told(connection: duckdb.DuckDBPyConnection, told: Told | None) -> Iterator[None]:
    """Tell the progress of whatever the connection executes until the block ends."""
    if told is None:
        yield
        return
    connection.execute("SET enable_progress_bar = TRUE")
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(_SECONDS):
            # Between two statements DuckDB says -1.
            told(max(connection.query_progress(), 0.0))

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
