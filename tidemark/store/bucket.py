"""The port of the results bucket: objects of Amazon S3 with its conditional writes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tidemark.model.telemetry import LOGGER

_logger = logging.getLogger(LOGGER)


class Tagged(NamedTuple):
    """An object's body and entity tag; another body under the same key has another tag."""

    body: bytes
    etag: str


class NotDeleted(RuntimeError):
    """Objects that S3 failed to delete; the deletion may be retried."""


class Damaged(Exception):
    """An object whose body is not what was stored; the message names it."""


class Bucket(Protocol):
    """The results bucket; on one machine the reading of a damaged object raises ``Damaged``."""

    def read(self, key: str) -> bytes:
        """Return the object's body; raise the service's error if there is no object."""

    def find(self, key: str) -> Tagged | None:
        """Return the object, None if there is no object."""

    def write(self, key: str, body: bytes) -> None:
        """Store an object in place of an existing one, if any."""

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless the key has one; tell whether it was stored."""

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        """Store an object if the key still has this entity tag; tell whether it was stored.

        The tag None means that the key has no object.
        """

    def keys(self, prefix: str, at_once: int = 1_000, after: str = "") -> Iterator[str]:
        """Yield the keys that begin with ``prefix`` and follow ``after``, in order.

        Each request lists at most ``at_once`` keys.
        """

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names of the folders in the folder ``prefix``."""

    def discard(self, key: str) -> None:
        """Delete an object, if there is one."""

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``.

        Raises
        ------
        NotDeleted
            If some objects were not deleted; the message says which, and why.

        """

    def delete_if(self, key: str, etag: str) -> bool:
        """Delete an object if it still has this entity tag; tell whether it was deleted."""


class CopyingBucket(Bucket, Protocol):
    """The results bucket, which copies objects without their bodies passing through."""

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the key and the size [B] of each object below ``prefix``, in the order of keys."""

    def copy(self, source: str, key: str) -> str:
        """Store a copy of an object's body; return its SHA-256 in hexadecimal."""


def delete_what_is_possible(bucket: Bucket, prefix: str) -> None:
    """Delete the objects below a prefix whose names and number Tidemark does not choose.

    Nothing may wait for them: a warning names those that are left. They expire after two days.
    """
    try:
        bucket.delete(prefix)
    except NotDeleted as error:
        _logger.warning(str(error))
