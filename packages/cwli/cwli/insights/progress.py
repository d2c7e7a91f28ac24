"""Progress of DuckDB with the statements of a connection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cwli import duckdb_core as duckdb

Told = Callable[[float], None]
"""A receiver of percentages from 0 to 100; each reading of the events begins again at 0."""

_SECONDS = 0.2


@contextmanager
def report_progress(connection: duckdb.DuckDBPyConnection, receiver: Told | None) -> Iterator[None]:
    """Report the progress of the connection's statements until the block ends."""
    if receiver is None:
        yield
        return
    connection.execute("SET enable_progress_bar = TRUE")
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(_SECONDS):
            # DuckDB returns -1 between two statements.
            receiver(max(connection.query_progress(), 0.0))

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
