"""The objects of tables without the damaged ones, for queries of the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from onebox.athena.objects import StoredObject
from onebox.store.errors import DamagedObject

_Answer = TypeVar("_Answer")


class Objects(Protocol):
    """The objects of all buckets; the reading of a damaged one raises DamagedObject."""

    def list(self, location: str) -> Sequence[StoredObject]:
        """Return the objects whose location begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the body of an object."""


class UndamagedObjects:
    """Objects that are no longer listed once their reading has shown that they are damaged.

    ``reported`` is called with a sentence about each damaged object.
    """

    def __init__(self, objects: Objects, reported: Callable[[str], object]) -> None:
        self._objects, self._reported = objects, reported
        self._damaged: set[str] = set()

    def list(self, location: str) -> Sequence[StoredObject]:
        """Return the objects whose location begins with ``location``."""
        found = self._objects.list(location)
        if self._damaged:
            found = [one for one in found if one.location not in self._damaged]
        return found

    def read(self, location: str) -> bytes:
        """Return the body of an object."""
        try:
            return self._objects.read(location)
        except DamagedObject as error:
            self._damaged.add(location)
            self._reported(str(error))
            raise

    def answer(self, query: Callable[[UndamagedObjects], _Answer]) -> _Answer:
        """Return the answer to a query of these objects, which is asked again without damage."""
        while True:
            damaged = len(self._damaged)
            try:
                return query(self)
            except DamagedObject:
                if len(self._damaged) == damaged:
                    raise
