"""Objects of buckets in a folder: a file for each body, and an index of them in SQLite.

The index maps each object to its file. An object exists from the commit of the index on: a process
that dies leaves the old object or the new one.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

Listed = tuple[str, int, str]
"""The key of an object, its size in bytes and its MD5."""


class ObjectFilesError(Exception):
    """A folder of objects that cannot be used; the message names the file and the reason."""


class FolderInUse(ObjectFilesError):
    """A folder of objects that another process has open."""


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
    """

    path: Path
    size: int
    md5: str
    owned: bool = False


class ObjectFiles:
    """A folder with the bodies of objects and the index that names them."""

    def __init__(self, folder: Path) -> None:
        """Open ``folder``; make the folder if it does not exist.

        Raises
        ------
        FolderInUse
            If another process has the folder open.
        ObjectFilesError
            If a file of the index is missing or cut short.
        """
        self._bodies = folder / "bodies"
        self._bodies.mkdir(parents=True, exist_ok=True)
        self._lock = RLock()
        self._depth = 0
        self._discarded: list[Path] = []
        self._whole: dict[tuple[str, str], Sequence[Listed]] = {}
        self._index = _open_index(folder / "index.sqlite")
        self._sweep()

    def close(self) -> None:
        """Let another process open the folder."""
        self._index.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction, alone among threads; transactions may be nested."""
        with self._lock:
            if self._depth == 0:
                self._index.execute("BEGIN")
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._index.execute("COMMIT")
                    self._unlink_discarded()

    def write(self, chunks: Iterable[bytes]) -> Body:
        """Write a body that no object has yet."""
        path = self._bodies / uuid4().hex
        digest = hashlib.md5(usedforsecurity=False)
        size = 0
        try:
            with path.open("wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    size += file.write(chunk)
        except BaseException:  # a client may go away
            path.unlink()
            raise
        return Body(path, size, digest.hexdigest())

    def save(self, bucket: str, key: str, body: Body, attributes: dict[str, Any]) -> None:
        """Store an object with this body, in place of an earlier object with the key."""
        row = (bucket, key, body.path.name, body.size, body.md5, json.dumps(attributes))
        with self.transaction():
            previous = self._body_of(bucket, key)
            self._forget(bucket, key)
            self._index.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)", row)
            if previous is not None and previous != body.path:
                self._discarded.append(previous)

    def remove(self, bucket: str, key: str) -> None:
        """Remove an object, if there is one."""
        with self.transaction():
            previous = self._body_of(bucket, key)
            self._forget(bucket, key)
            self._index.execute("DELETE FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
            if previous is not None:
                self._discarded.append(previous)

    def find(self, bucket: str, key: str) -> Body | None:
        """Return the body of an object, None if there is no such object."""
        query = "SELECT body, size, md5 FROM objects WHERE bucket = ? AND key = ?"
        with self._lock:
            row = self._index.execute(query, (bucket, key)).fetchone()
        return None if row is None else Body(self._bodies / row[0], row[1], row[2])

    def buckets(self) -> list[str]:
        """Return the names of the buckets that hold objects, in order."""
        with self._lock:
            rows = self._index.execute("SELECT DISTINCT bucket FROM objects ORDER BY bucket")
            return [name for (name,) in rows]

    def objects(self, bucket: str) -> Iterator[tuple[str, Body, dict[str, Any]]]:
        """Yield the key, the body and the attributes of each object of a bucket."""
        columns = "SELECT key, body, size, md5, attributes FROM objects WHERE bucket = ?"
        with self._lock:
            rows = self._index.execute(columns, (bucket,)).fetchall()
        for key, body, size, md5, attributes in rows:
            yield key, Body(self._bodies / body, size, md5), json.loads(attributes)

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
        # U+10FFFF, the last character, sorts after every continuation of the prefix.
        bounds = (bucket, prefix, f"{prefix}\U0010ffff", after, -1 if most is None else most)
        query = "SELECT key, size, md5 FROM objects WHERE bucket = ? AND key >= ? AND key < ?"
        with self._lock:
            return self._index.execute(
                f"{query} AND key > ? ORDER BY key LIMIT ?", bounds
            ).fetchall()

    def _forget(self, bucket: str, key: str) -> None:
        for of_bucket, prefix in list(self._whole):
            if of_bucket == bucket and key.startswith(prefix):
                del self._whole[of_bucket, prefix]

    def _body_of(self, bucket: str, key: str) -> Path | None:
        query = "SELECT body FROM objects WHERE bucket = ? AND key = ?"
        row = self._index.execute(query, (bucket, key)).fetchone()
        return None if row is None else self._bodies / row[0]

    def _unlink_discarded(self) -> None:
        # The index named these files until its commit.
        for path in self._discarded:
            path.unlink()
        self._discarded.clear()

    def _sweep(self) -> None:
        """Check the file of each object, and remove files that a dead process did not finish."""
        rows = self._index.execute("SELECT bucket, key, body, size FROM objects").fetchall()
        sizes = {path.name: path.stat().st_size for path in self._bodies.iterdir()}
        for bucket, key, body, size in rows:
            if sizes.pop(body, None) != size:
                raise ObjectFilesError(
                    f"{self._bodies / body} is not the whole of s3://{bucket}/{key}: "
                    f"{size} bytes were expected."
                )
        for orphan in sizes:
            (self._bodies / orphan).unlink()


def _open_index(path: Path) -> sqlite3.Connection:
    # ObjectFiles begins its own transactions, and its lock lets all threads share a connection.
    index = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        index.execute("PRAGMA locking_mode = EXCLUSIVE")
        index.execute("PRAGMA journal_mode = WAL")
        index.execute("PRAGMA synchronous = NORMAL")
        index.execute(
            "CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key TEXT, body TEXT, size INTEGER, "
            "md5 TEXT, attributes TEXT, PRIMARY KEY (bucket, key)) WITHOUT ROWID"
        )
    except sqlite3.OperationalError as reason:
        index.close()
        if reason.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise FolderInUse(f"{path} is in use by another process.") from reason
        raise ObjectFilesError(f"{path} cannot be used by this process: {reason}.") from reason
    return index
