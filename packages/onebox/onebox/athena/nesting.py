"""Room for the brackets of queries, which Python's own limit of calls ends at about 20 of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from onebox.athena.errors import MalformedQuery

_MOST_CALLS = 10_000
# A call within a generator or a sort takes below 2 kB of the stack of C.
_STACK_BYTES = 128 * 1024 * 1024
_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Limit:
    """Python's limit of calls within each other, which is one for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = sys.getrecursionlimit()

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise the limit until the last block that needs it ends."""
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(_MOST_CALLS, self._before))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    sys.setrecursionlimit(self._before)

    def submit(self, pool: ThreadPoolExecutor, call: Callable[[], _R]) -> Future[_R]:
        """Start a call in a new thread, whose stack has room for the raised limit."""
        with self._lock:
            before = threading.stack_size(_STACK_BYTES)
            try:
                return pool.submit(call)
            finally:
                threading.stack_size(before)


_LIMIT = _Limit()


def deeply(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that has room for hundreds of brackets, and refuses more of them.

    It raises MalformedQuery in place of RecursionError.
    """

    @wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _LIMIT.raised(), ThreadPoolExecutor(1) as pool:
            try:
                return _LIMIT.submit(pool, lambda: function(*args, **kwargs)).result()
            except RecursionError:
                refusal = "A query with so many brackets is not supported on one machine"
                raise MalformedQuery("NOT_SUPPORTED", refusal) from None

    return run
