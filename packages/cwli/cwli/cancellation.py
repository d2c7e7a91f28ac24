"""The cancellation of a query that runs on DuckDB."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from cwli import duckdb_core as duckdb

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
    """Lets another thread, or a time limit, end one query.

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
    running = _Running(query, cancellation)
    try:
        running.start()
        # A signal that arrives just before the wait does not end it, so the wait is short.
        while not running.wait():
            pass
    finally:
        cancellation.cancel()
        running.end()
    return running.result()


class _Running(threading.Thread, Generic[_Result]):
    """A query in a thread of its own.

    concurrent.futures would do, but its import takes a short query 3 % of its time.
    """

    def __init__(
        self, query: Callable[[Cancellation], _Result], cancellation: Cancellation
    ) -> None:
        super().__init__()
        self._query, self._cancellation = query, cancellation
        self._results: list[_Result] = []
        self._error: BaseException | None = None
        # Python 3.11 takes a thread for ended if a signal arrives while join() waits for it.
        self._ended = threading.Event()

    def run(self) -> None:
        """Run the query; keep its result, or its error for the thread that waits."""
        try:
            self._results.append(self._query(self._cancellation))
        except BaseException as error:  # noqa: BLE001
            self._error = error
        finally:
            self._ended.set()

    def wait(self) -> bool:
        """Wait a little; tell whether the query has ended."""
        return self._ended.wait(_LONGEST_WAIT_SECONDS)

    def end(self) -> None:
        """Wait for the end of a cancelled query, also after a second Ctrl-C: it uses DuckDB."""
        while self.ident and not self._ended.is_set():
            with suppress(KeyboardInterrupt):
                self.wait()

    def result(self) -> _Result:
        """Return the result of the query that has ended, or raise its error."""
        self.join()
        if self._error:
            raise self._error
        return self._results[0]
