"""The cancellation of a query that runs on DuckDB."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TypeVar

import duckdb

# An interrupt has no effect between two statements, so it is repeated.
_REPETITION_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 0.2
SILENCE_SECONDS = 60.0
"""The silence after which a client that has asked for a query counts as dead [s]."""
_Result = TypeVar("_Result")


class Cancelled(Exception):
    """A query that ended without a result, because it was cancelled."""


class Abandoned(Cancelled):
    """A query that ended without a result, because its client stopped asking for it."""

    def __init__(self) -> None:
        super().__init__(f"Nobody has asked for this query for {SILENCE_SECONDS:g} seconds")


class TimedOut(Exception):
    """A query that ended without a result, because its time was over."""


class Cancellation:
    """The end of one query at the wish of another thread, or at its time limit.

    Parameters
    ----------
    most_seconds : float, optional
        The time limit of the query [s].
    """

    def __init__(self, most_seconds: float = math.inf) -> None:
        self._most_seconds = most_seconds
        self._abandoned_at = math.inf
        self._cancelled, self._ended = threading.Event(), threading.Event()
        self._error: Exception = Cancelled()

    def cancel(self) -> None:
        """Interrupt the query, now or as soon as it begins."""
        self._cancelled.set()

    def hear(self) -> None:
        """Note that a client asks for the query, which is cancelled if none asks again for long."""
        self._abandoned_at = time.monotonic() + SILENCE_SECONDS

    @contextmanager
    def of(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Interrupt the statements of a connection in this block, once the query is cancelled.

        Raises
        ------
        Cancelled
            If a statement was interrupted because the query was cancelled, or abandoned.
        TimedOut
            If a statement was interrupted because the time of the query was over.
        """
        thread = threading.Thread(target=self._interrupt, args=(connection,), daemon=True)
        thread.start()
        try:
            yield
        except duckdb.InterruptException:
            raise self._error from None
        finally:
            self._ended.set()
            self._cancelled.set()
            thread.join()

    def _interrupt(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._error = self._awaited_end()
        while not self._ended.wait(_REPETITION_SECONDS):
            connection.interrupt()

    def _awaited_end(self) -> Exception:
        """Wait until the query is to end; return its error."""
        end = time.monotonic() + self._most_seconds
        while not self._cancelled.wait(min(end - time.monotonic(), _LONGEST_WAIT_SECONDS)):
            if time.monotonic() >= end:
                return TimedOut()
            if time.monotonic() >= self._abandoned_at:
                return Abandoned()
        return Cancelled()


def interruptible(
    query: Callable[[Cancellation], _Result], most_seconds: float = math.inf
) -> _Result:
    """Return the result of a query; cancel it if a signal interrupts this thread.

    The query runs in another thread: DuckDB lets no signal handler of Python run in its own.
    """
    cancellation = Cancellation(most_seconds)
    with ThreadPoolExecutor(1) as thread:
        result: Future[_Result] | None = None
        try:
            result = thread.submit(query, cancellation)
            # A signal that arrives just before the wait does not end it, so the wait is short.
            while not wait([result], _LONGEST_WAIT_SECONDS).done:
                pass
            return result.result()
        finally:
            # Without this the executor would wait for the query.
            cancellation.cancel()
            if result:
                _wait_for(result)


def _wait_for(result: Future[_Result]) -> None:
    """Wait for the end of a cancelled query, whatever is pressed: its thread uses DuckDB."""
    while not result.done():
        with suppress(KeyboardInterrupt):
            wait([result], _LONGEST_WAIT_SECONDS)
