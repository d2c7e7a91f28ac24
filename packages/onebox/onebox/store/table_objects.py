"""The objects of tables for the Athena engine, without damaged objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from onebox.athena.catalogue import StoredObject
from onebox.athena.errors import QueryError
from onebox.store.index import DamagedObject
from onebox.store.object_files import ObjectFiles

_Answer = TypeVar("_Answer")


class Objects(Protocol):
    """The objects of all buckets; the reading of a damaged one raises DamagedObject."""

    def list(self, location: str) -> Sequence[StoredObject]:
        """Return the objects whose location begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the body of an object."""


class FileObjects:
    """The objects of all buckets, for the Athena engine."""

    def __init__(self, files: ObjectFiles) -> None:
        self._files = files

    def list(self, location: str) -> Sequence[StoredObject]:
        """Return the objects whose location begins with ``location``."""
        bucket, prefix = _bucket_and_key(location)
        root = f"s3://{bucket}/"
        return [
            StoredObject(root + key, size, md5)
            for key, size, md5 in self._files.listed(bucket, prefix)
        ]

    def read(self, location: str) -> bytes:
        """Return the body of an object."""
        body = self._files.find(*_bucket_and_key(location))
        if body is None:
            raise QueryError("HIVE_CANNOT_OPEN_SPLIT", f"{location} is no longer there")
        return body.read(location)


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


def _bucket_and_key(location: str) -> tuple[str, str]:
    bucket, _, key = location.removeprefix("s3://").partition("/")
    return bucket, key
