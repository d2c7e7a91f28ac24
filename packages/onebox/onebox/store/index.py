"""The index of a folder of objects, in SQLite: the state that the journal leads to.

After a power failure the index may be older than the journal, since its commits are not synced.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote

from onebox.store.errors import DOCTOR, DamagedIndex, FolderInUse, ObjectFilesError
from onebox.store.journal import Change, Entry, Position

Listed = tuple[str, int, str]
"""The key of an object, its size in bytes and its MD5."""

_SETTINGS = ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL")
_COLUMNS = ", ".join(Entry._fields)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key TEXT, body TEXT, size INTEGER, "
    "md5 TEXT, attributes TEXT, PRIMARY KEY (bucket, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS journal (generation INTEGER, position INTEGER)",
)


def is_writable(folder: Path) -> bool:
    """Tell whether this process may change a folder: a mounted backup may not be."""
    return os.access(folder, os.W_OK)


def _connected(name: str) -> sqlite3.Connection:
    # The owner begins its own transactions, and the lock lets all threads share a connection.
    return sqlite3.connect(
        name, timeout=0, isolation_level=None, check_same_thread=False, uri=name.startswith("file:")
    )


def _copied(file: Path) -> sqlite3.Connection:
    """Return a copy in memory of an index that cannot be written; empty if there is none."""
    copy = _connected(":memory:")
    # The journal also has everything that a killed process left beside the file.
    name = f"file:{quote(str(file))}?mode=ro&immutable=1"
    with suppress(sqlite3.DatabaseError), closing(_connected(name)) as original:
        original.backup(copy)
    return copy


class Index:
    """An index in a file, used by the threads of one process.

    A method raises DamagedIndex if the file is not an index, and OSError if it cannot be used.
    """

    def __init__(self, file: Path) -> None:
        """Open the index; raise FolderInUse if another process has it open."""
        self._file, self._lock = file, RLock()
        is_read_only = not is_writable(file.parent)
        if file.exists() and not file.is_file():
            raise self.damaged("it is no file")
        try:
            self._database = _copied(file) if is_read_only else _connected(str(file))
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from error
        try:
            for setting in () if is_read_only else _SETTINGS:
                self._rows(f"PRAGMA {setting}")
            self._tables = {name for (name,) in self._rows("SELECT name FROM sqlite_schema")}
            self.position()
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let another process open the index."""
        self._database.close()

    def begin(self) -> None:
        """Begin a transaction."""
        self._rows("BEGIN")

    def commit(self) -> None:
        """End the transaction, unless it was undone."""
        if self._database.in_transaction:
            self._rows("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction, unless SQLite has undone it already."""
        with self._lock:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    def position(self) -> Position:
        """Return the end of the last transaction of the journal that the index contains."""
        rows = self._rows("SELECT * FROM journal") if "journal" in self._tables else []
        position = Position(*rows[0]) if rows else Position(0, 0)
        if not all(isinstance(number, int) for number in position):
            raise self.damaged("it has no position in the journal")
        return position

    def reach(self, position: Position) -> None:
        """Note the end of the last transaction that the index contains."""
        self._create()
        self._rows("DELETE FROM journal")
        self._rows("INSERT INTO journal VALUES (?, ?)", position)

    def apply(self, changes: Iterable[Change]) -> None:
        """Put or remove objects."""
        self._create()
        for change in changes:
            if isinstance(change, Entry):
                self._rows("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)", change)
            else:
                self._rows("DELETE FROM objects WHERE bucket = ? AND key = ?", change)

    def clear(self) -> None:
        """Remove every object."""
        self._create()
        self._rows("DELETE FROM objects")

    def find(self, bucket: str, key: str) -> Entry | None:
        """Return an object, None if there is none."""
        found = self._objects("bucket = ? AND key = ?", (bucket, key))
        return Entry(*found[0]) if found else None

    def entries(self, bucket: str) -> Iterator[Entry]:
        """Yield the objects of a bucket in order."""
        return map(Entry._make, self._objects("bucket = ?", (bucket,)))

    def next_bucket(self, after: str) -> str | None:
        """Return the first bucket behind a name that holds objects, None if there is none."""
        # DISTINCT would read every object.
        found = self._objects("bucket > ? ORDER BY bucket LIMIT 1", (after,), "bucket")
        return found[0][0] if found else None

    def listed(self, bucket: str, prefix: str, after: str, most: int | None) -> list[Listed]:
        """Return the first ``most`` objects that follow ``after``, with keys of a prefix."""
        bounds = (bucket, prefix, prefix, after, -1 if most is None else most)
        # The byte FF is in no UTF-8, and sorts after every continuation of the prefix.
        below = "key >= ? AND key < ? || CAST(x'ff' AS TEXT)"
        condition = f"bucket = ? AND {below} AND key > ? ORDER BY key LIMIT ?"
        return self._objects(condition, bounds, "key, size, md5")

    def problem(self) -> str | None:
        """Return a sentence about what SQLite finds wrong with the file, None if it is whole."""
        try:
            ((answer,),) = self._rows("PRAGMA integrity_check(1)")
        except DamagedIndex as error:
            return str(error)
        return None if answer == "ok" else f"{self._file} is damaged: {answer}"

    def _objects(
        self, condition: str, values: Sequence[object], columns: str = _COLUMNS
    ) -> list[tuple[Any, ...]]:
        if "objects" not in self._tables:
            return []
        return self._rows(f"SELECT {columns} FROM objects WHERE {condition}", values)  # noqa: S608

    def _create(self) -> None:
        # A reading command writes nothing, not even a table that an earlier version lacked.
        if not {"objects", "journal"} <= self._tables:
            for table in _TABLES:
                self._rows(table)
            self._tables |= {"objects", "journal"}

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._database.execute(statement, values).fetchall()
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from error
        except sqlite3.DatabaseError as error:
            raise self.damaged(error) from error

    def damaged(self, reason: object) -> DamagedIndex:
        """Return the error that the file is damaged."""
        return DamagedIndex(f"{self._file} is damaged: {reason}; {DOCTOR}.")

    def _unusable(self, error: sqlite3.OperationalError) -> Exception:
        # Python's own error about a text that is no UTF-8 has no code of SQLite.
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:
            return self.damaged(error)
        if code == sqlite3.SQLITE_BUSY:
            return FolderInUse(f"{self._file} is in use by another process.")
        if code == sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._file))
        return ObjectFilesError(f"{self._file} cannot be used by this process: {error}.")
