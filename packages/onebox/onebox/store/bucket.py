"""The results bucket over the files of the one-machine cloud, as a port of the core."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from onebox.store.errors import DamagedObject
from onebox.store.object_files import ObjectFiles
from tidemark.store.bucket import Tagged


class FileBucket:
    """One bucket of a folder of objects; this process alone has the folder.

    ``reported`` is called with a sentence about each damaged object that is read.
    """

    def __init__(
        self, files: ObjectFiles, name: str, reported: Callable[[str], None] = lambda _: None
    ) -> None:
        self._files, self.name, self._reported = files, name, reported

    def read(self, key: str) -> bytes:
        """Return the object's body; LookupError if there is none."""
        if found := self.find(key):
            return found.body
        raise LookupError(f"{key} is not in {self.name}")

    def find(self, key: str) -> Tagged | None:
        """Return the object with its entity tag, None if there is none."""
        body = self._files.find(self.name, key)
        if body is None:
            return None
        try:
            return Tagged(body.read(f"s3://{self.name}/{key}"), body.md5)
        except DamagedObject as error:
            self._reported(str(error))
            raise

    def write(self, key: str, body: bytes) -> None:
        """Store an object in place of an existing one, if any."""
        kind = mimetypes.guess_type(key)[0] or "binary/octet-stream"
        attributes = {
            # moto keeps times without a zone, in UTC.
            "last_modified": datetime.now(UTC).replace(tzinfo=None).isoformat(),
            "metadata": {"content-type": kind},
            "tags": {},
        }
        self._files.save(self.name, key, self._files.write([body]), attributes)

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless the key has one; tell whether it was stored."""
        return self.write_over(key, body, None)

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        """Store an object if the key still has this entity tag; tell whether it was stored.

        The tag None means that the key has no object.
        """
        with self._files.transaction():
            if written := self._etag(key) == etag:
                self.write(key, body)
        return written

    def keys(self, prefix: str, at_once: int = 1_000, after: str = "") -> Iterator[str]:
        """Yield the keys that begin with ``prefix`` and follow ``after``, in order."""
        return (key for key, *_ in self._files.listed(self.name, prefix, after))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names of the folders in the folder ``prefix``."""
        below = (key[len(prefix) :].split("/") for key in self.keys(prefix))
        return iter(dict.fromkeys(parts[0] for parts in below if len(parts) > 1))

    def discard(self, key: str) -> None:
        """Delete an object, if there is one."""
        self._files.remove(self.name, key)

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``."""
        with self._files.transaction():
            for key in self.keys(prefix):
                self.discard(key)

    def delete_if(self, key: str, etag: str) -> bool:
        """Delete an object if it still has this entity tag; tell whether it was deleted."""
        with self._files.transaction():
            if same := self._etag(key) == etag:
                self.discard(key)
        return same

    def _etag(self, key: str) -> str | None:
        body = self._files.find(self.name, key)
        return body.md5 if body else None
