"""Objects of buckets in a folder: a file for each body, and an index of the objects.

An object exists once its row in the index is on the disk, and so is its body by then. A process
that dies, or a machine whose power fails, leaves the old object or the new one. A file is removed
only after the index has said on the disk that no object needs it.

- ``uploads`` has the bodies that no object has yet; a process that writes removes the bodies of
  dead processes.
- ``bodies`` has the bodies of objects.
- ``index.sqlite`` has the names of the objects.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

from onebox.disk import make_folder, quarantine, read_regular, sync_folder
from onebox.store.index import (
    DOCTOR,
    DamagedIndex,
    DamagedObject,
    Entry,
    Index,
    Listed,
    ObjectFilesError,
    is_writable,
    of_earlier_version,
)


@dataclass
class Body:
    """The bytes of an object: a file that never changes.

    Attributes
    ----------
    path
        The file.
    size
        Its length in bytes.
    md5
        Its MD5 in hexadecimal, which is the entity tag of an object put in one part.
    owned
        Whether an object or a part has this body; a refused request leaves a body without owner.
    whole
        Whether this process has written the file, or compared it with its digest.
    """

    path: Path
    size: int
    md5: str
    owned: bool = False
    whole: bool = False

    def read(self, name: str) -> bytes:
        """Return the bytes of the object with this name, for messages.

        Raises
        ------
        DamagedObject
            If the file is missing or is not what was stored.
        """
        try:
            content = read_regular(self.path)
        except FileNotFoundError:
            raise self._damaged(name, "is missing") from None
        except (OSError, ValueError) as error:  # an error of the disk; a name that is not a name
            raise self._damaged(name, f"cannot be read: {error}") from None
        if not self.whole and _md5(content) != self.md5:
            sizes = f"has {len(content):,} bytes that are not the {self.size:,} bytes that were"
            raise self._damaged(name, f"{sizes} stored")
        self.whole = True
        return content

    def _damaged(self, name: str, reason: str) -> DamagedObject:
        return DamagedObject(f"{name} is damaged: {self.path} {reason}; {DOCTOR}.")


class ObjectFiles:
    """A folder with the bodies of objects and their index.

    Attributes
    ----------
    folder
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        """Open ``folder``; make the folder if it does not exist.

        A folder that this process may not write can be read.

        Raises
        ------
        FolderInUse
            If another process has the folder open.
        DamagedIndex
            If the index cannot be read, or is missing beside bodies.
        ObjectFilesError
            If an earlier version wrote the folder.
        """
        self.folder, self._bodies, self._uploads = folder, folder / "bodies", folder / "uploads"
        if (folder / "journal.jsonl").exists():
            raise of_earlier_version(folder)
        if not self._bodies.is_dir():
            make_folder(self._bodies)
        self._lock = RLock()
        self._depth = 0
        self._writes = False
        self._added: list[Path] = []
        self._replaced: list[Path] = []
        self._whole: dict[tuple[str, str], Sequence[Listed]] = {}
        self._index = Index(folder / "index.sqlite")
        try:
            if self._index.is_new:
                self._create_index()
        except BaseException:
            self._index.close()
            raise

    def close(self) -> None:
        """Let another process open the folder."""
        self._index.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction, alone among threads; transactions may be nested.

        Raises
        ------
        OSError
            If its changes cannot be written; nothing has changed then.
        ObjectFilesError
            If a row or body that the block needs is damaged; nothing has changed then, either.
        """
        with self._lock:
            if self._depth == 0:
                self._index.begin()
            self._depth += 1
            try:
                yield
            except (OSError, ObjectFilesError):
                self._undo()
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._end_transaction()

    def write(self, chunks: Iterable[bytes], *, part: bool = False) -> Body:
        """Write a body that no object has yet; a ``part`` of one need not outlive the process."""
        self._begin_writing()
        path = self._uploads / uuid4().hex
        digest = hashlib.md5(usedforsecurity=False)
        size = 0
        try:
            with path.open("wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    size += file.write(chunk)
                if not part:
                    file.flush()
                    os.fsync(file.fileno())
        except BaseException:  # a client may go away, or the disk be full
            path.unlink(missing_ok=True)
            raise
        return Body(path, size, digest.hexdigest(), whole=True)

    def link(self, body: Body) -> Body:
        """Return a body that no object has yet, with the file of a body of another folder."""
        self._begin_writing()
        path = self._uploads / uuid4().hex
        try:
            os.link(body.path, path)
        except OSError:  # a file system without hard links
            return self.write([body.read(body.path.name)])
        return Body(path, body.size, body.md5, whole=body.whole)

    def save(self, bucket: str, key: str, body: Body, attributes: dict[str, Any]) -> None:
        """Store an object with this body, in place of an earlier object with the key."""
        self._begin_writing()
        with self.transaction():
            self._replace(bucket, key, self._bodies / body.path.name)
            if body.path.parent == self._uploads:
                body.path = body.path.rename(self._bodies / body.path.name)
                self._added.append(body.path)
            text = json.dumps(attributes)
            self._index.put(Entry(bucket, key, body.path.name, body.size, body.md5, text))

    def remove(self, bucket: str, key: str) -> None:
        """Remove an object, if there is one."""
        if self.find(bucket, key):
            self._begin_writing()
            with self.transaction():
                self._replace(bucket, key)
                self._index.remove(bucket, key)

    def find(self, bucket: str, key: str) -> Body | None:
        """Return the body of an object, None if there is no such object."""
        entry = self._index.find(bucket, key)
        return self._body(entry) if entry else None

    def buckets(self, after: str = "") -> Iterator[str]:
        """Yield the names behind ``after`` of the buckets that hold objects, in order."""
        while name := self._index.next_bucket(after):
            yield name
            after = name

    def objects(self, bucket: str) -> Iterator[tuple[str, Body, dict[str, Any]]]:
        """Yield the key, the body and the attributes of each object of a bucket."""
        for entry in self._index.entries(bucket):
            yield entry.key, self._body(entry), json.loads(entry.attributes)

    def check_index(self) -> None:
        """Raise DamagedIndex if the row of an object is damaged."""
        self._index.check()

    def whole_listing(self, bucket: str, prefix: str) -> Sequence[Listed]:
        """Return what ``listed`` returns; the list is the same until an object in it changes."""
        with self._lock:
            if (bucket, prefix) not in self._whole:
                self._whole[bucket, prefix] = self.listed(bucket, prefix)
            return self._whole[bucket, prefix]

    def listed(
        self, bucket: str, prefix: str, after: str = "", most: int | None = None
    ) -> list[Listed]:
        """Return key, size and MD5 of each object whose key begins with ``prefix``, in order.

        The list has the first ``most`` keys that follow ``after``.
        """
        return self._index.listed(bucket, prefix, after, most)

    def unowned(self) -> list[Path]:
        """Return the bodies that no object has: a process died before it had stored an object."""
        owned = {entry.body for bucket in self.buckets() for entry in self._index.entries(bucket)}
        return sorted(path for path in self._bodies.iterdir() if path.name not in owned)

    def quarantine_if_damaged(self, bucket: str, key: str) -> None:
        """Move the file of a damaged object aside, and remove the object."""
        body = self.find(bucket, key)
        if body is None:
            return
        try:
            body.read(key)
        except DamagedObject:
            with suppress(FileNotFoundError):
                quarantine(body.path, self.folder.parent)
            self.remove(bucket, key)

    def _create_index(self) -> None:
        if any(self._bodies.iterdir()):
            raise DamagedIndex(
                f"{self.folder} has bodies of objects but not their index; restore index.sqlite "
                "from a backup, or let `tidemark doctor --repair` name runs and trials by what "
                "their files say."
            )
        self._index.create()

    def _body(self, entry: Entry) -> Body:
        return Body(self._bodies / entry.body, entry.size, entry.md5, owned=True)

    def _replace(self, bucket: str, key: str, path: Path | None = None) -> None:
        """Note the body that an object no longer has after the transaction."""
        previous = self.find(bucket, key)
        if previous and previous.path != path:
            self._replaced.append(previous.path)
        for known, prefix in list(self._whole):
            if known == bucket and key.startswith(prefix):
                del self._whole[known, prefix]

    def _end_transaction(self) -> None:
        """Commit the changes, once their bodies are on the disk; then unlink what they replace.

        A failure undoes them.
        """
        try:
            if self._added:
                sync_folder(self._bodies)
            self._index.commit()
        except BaseException:
            # The log may have the changes although it is not synced, and name the new bodies.
            self._added = []
            self._undo()
            raise
        _unlink(self._replaced)
        self._added, self._replaced = [], []

    def _undo(self) -> None:
        """Forget the changes of the transaction, and unlink its bodies."""
        self._index.rollback()
        self._whole.clear()
        _unlink(self._added)
        self._added, self._replaced = [], []

    def _begin_writing(self) -> None:
        """Remove the uploads of dead processes before the first change."""
        if self._writes:
            return
        with self._lock:
            if self._writes:  # another thread was first
                return
            if not is_writable(self.folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.folder))
            make_folder(self._uploads)
            _unlink(self._uploads.iterdir())
            self._writes = True


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
