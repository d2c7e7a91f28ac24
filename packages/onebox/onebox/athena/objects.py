"""The objects of tables."""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import NamedTuple, Protocol

from onebox.athena.catalogue import Partition
from onebox.athena.errors import QueryError


class StoredObject(NamedTuple):
    """An object in S3: its place, ``s3://bucket/key``, its size in bytes and its MD5."""

    location: str
    size: int
    md5: str


TableObject = tuple[Partition, StoredObject]
Members = tuple[Partition, Sequence[StoredObject]]
"""The objects of one partition, ordered by place."""

# A folder has an empty name; Hive hides names that begin with one of these characters.
_HIDDEN = {"", ".", "_"}
_AFTER_ALL = "\U0010ffff"  # sorts after every other character


class Objects(Protocol):
    """A store of objects."""

    def list(self, location: str) -> Iterable[StoredObject]:
        """Yield the objects whose place begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the whole body of an object."""


def objects_in(partitions: Sequence[Partition], objects: Objects) -> list[Members]:
    """Return the objects of partitions that have some, without those that Hive hides."""
    ordered = sorted(partitions, key=lambda partition: partition.location)
    # One listing of the common prefix is cheaper than a listing for each partition.
    common = commonprefix([partition.location for partition in ordered])  # noqa: RUF071 (of texts)
    listing = sorted(objects.list(common)) if ordered else []
    found: list[Members] = []
    for partition in ordered:
        first, end = (
            bisect_left(listing, (partition.location + after,)) for after in ("", _AFTER_ALL)
        )
        members = [
            stored
            for stored in listing[first:end]
            if stored.location.rpartition("/")[2][:1] not in _HIDDEN
        ]
        if members:
            found.append((partition, members))
    return found


def pairs(members: Members) -> list[TableObject]:
    """Return each object of a partition with the partition."""
    partition, objects = members
    return [(partition, stored) for stored in objects]


def text_of(location: str, body: bytes) -> str:
    """Return the text of an object; raise QueryError if the body is not gzipped UTF-8."""
    try:
        return gzip.decompress(body).decode()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise QueryError(
            "HIVE_CURSOR_ERROR", f"{location} is not gzipped UTF-8: {error}"
        ) from error
