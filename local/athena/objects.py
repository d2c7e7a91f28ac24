"""The objects that tables consist of."""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from os.path import commonprefix
from typing import NamedTuple, Protocol

from local.athena.catalogue import Partition
from local.athena.errors import QueryError


class StoredObject(NamedTuple):
    """An object in S3: its place, ``s3://bucket/key``, its size in bytes, the MD5 of its body."""

    location: str
    size: int
    md5: str


Found = tuple[Partition, StoredObject]


class Objects(Protocol):
    """Where objects are."""

    def list(self, location: str) -> Iterable[StoredObject]:
        """Yield the objects whose place begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the whole body of an object."""


def objects_in(partitions: Sequence[Partition], objects: Objects) -> Iterator[Found]:
    """Yield the objects in partitions, by their places; those that Hive hides are left out."""
    ordered = sorted(partitions, key=lambda partition: partition.location)
    places = [partition.location for partition in ordered]
    # One listing of what the partitions have in common is cheaper than one for each.
    found = objects.list(commonprefix(places)) if places else ()  # noqa: RUF071 (of texts)
    for stored in sorted(found):
        position = bisect_right(places, stored.location) - 1
        name = stored.location.rpartition("/")[2]
        inside = position >= 0 and stored.location.startswith(places[position])
        if inside and name and not name.startswith((".", "_")):
            yield ordered[position], stored


def text_of(location: str, body: bytes) -> str:
    """Return the lines of an object; QueryError if it is not gzipped UTF-8."""
    try:
        return gzip.decompress(body).decode()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise QueryError(
            "HIVE_CURSOR_ERROR", f"{location} is not gzipped UTF-8: {error}"
        ) from error
