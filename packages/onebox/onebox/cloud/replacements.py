"""The cloud's replacements of moto's methods, its refusals, and what it forgets.

moto keeps everything for ever. AWS forgets what has ended after days or weeks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import ModuleType
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from cwli.cancellation import Cancellation

# An ended query and the cells of its result stay until newer queries have this number of cells,
# and in any case for some time after the query's end and after each request for it.
_CELLS_OF_QUERY, _MOST_CELLS = 100, 500_000
_READ_SECONDS = 300.0

_Kept = TypeVar("_Kept")


class _Rows(Protocol):
    """The result of a query."""

    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...


_Result = TypeVar("_Result", bound=_Rows)


def not_honoured(owner: str, name: str, value: object, accepted: str) -> str:
    """Return the sentence that refuses ``name`` of ``owner``, with its value and what is accepted.

    Example: ``Rule nightly has State "ON", which one machine does not honour; accepted: ENABLED.``
    """
    return (
        f"{owner} has {name} {json.dumps(value, default=str)}, which one machine does not honour; "
        f"accepted: {accepted}."
    )


def refuse_unknown(
    owner: str,
    fields: Mapping[str, Any],
    accepted: Collection[str],
    error: Callable[[str], Exception],
) -> None:
    """Raise an error with the name and the value of a field that is not accepted."""
    for name in sorted(fields.keys() - accepted):
        raise error(not_honoured(owner, name, fields[name], ", ".join(sorted(accepted))))


def forget_oldest(
    kept: dict[str, _Kept], size: Callable[[_Kept], float], most: float
) -> Sequence[_Kept]:
    """Remove the oldest entries if those after them have the size ``most``, and return them.

    An entry of the size 0 stays: it has not ended.
    """
    total, forgotten = 0.0, []
    for name, entry in reversed(list(kept.items())):
        own = size(entry)
        if own and total >= most:
            forgotten.append(kept.pop(name))
        total += own
    return forgotten


class KeptQuery(Generic[_Result]):
    """A started query, which stays as long as clients ask for it, and longer if it is new.

    Parameters
    ----------
    cancellation : Cancellation
        Interrupts the query; it hears of each request.
    clock : callable, optional
        Returns a time that never goes back [s].
    """

    def __init__(
        self, cancellation: Cancellation, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.result: Future[_Result] = Future()
        self.cancellation = cancellation
        self._clock = clock
        self._needed_at = clock()

    def await_result(self, result: Future[_Result]) -> None:
        """Take the result of the query, which has begun, and note when it ends."""
        self.result = result
        result.add_done_callback(self._note)

    def hear(self) -> None:
        """Note that a client asks for the query or reads its result."""
        self.cancellation.hear()
        self._note()

    def _note(self, *_: object) -> None:
        self._needed_at = self._clock()

    def cells(self) -> int:
        """Return the number of cells to keep, 0 if the query runs or clients may still read it."""
        if not self.result.done() or self._clock() < self._needed_at + _READ_SECONDS:
            return 0
        if self.result.cancelled() or self.result.exception():
            return _CELLS_OF_QUERY
        return _CELLS_OF_QUERY + sum(map(len, self.result.result().rows))


_Query = TypeVar("_Query", bound=KeptQuery[Any])


def forget_read(queries: dict[str, _Query]) -> Sequence[_Query]:
    """Remove the oldest queries that nobody reads any more, and return them."""
    return forget_oldest(queries, KeptQuery.cells, _MOST_CELLS)


_INHERITED = object()


class Replacements:
    """The originals of replaced attributes, to be restored."""

    def __init__(self) -> None:
        self._originals: list[tuple[type | ModuleType, str, Any]] = []

    def set(self, owner: type | ModuleType, name: str, replacement: Any) -> Any:  # noqa: ANN401 (any attribute)
        """Replace an attribute; return the original, as ``getattr`` returns it."""
        self._originals.append((owner, name, owner.__dict__.get(name, _INHERITED)))
        original = getattr(owner, name, None)
        setattr(owner, name, replacement)
        return original

    def refuse(self, owner: type, methods: Iterable[str]) -> None:
        """Make one machine lack actions of a service, by moto's names (``start_task``)."""
        for method in methods:
            self.set(owner, method, partial(_lack, method))

    def restore(self) -> None:
        """Put every original back, the last replaced first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _lack(method: str, *_: object, **__: object) -> NoReturn:
    raise NotImplementedError(f"The {method} action has not been implemented")  # as moto says it
