"""The index of a folder of objects: one SQLite file, whose commits are on the disk.

A row has the CRC-32 of its fields, since SQLite does not see a changed bit.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from zlib import crc32

DOCTOR = "`tidemark doctor` says what can be rebuilt"
Listed = tuple[str, int, str]
"""The key of an object, its size in bytes and its MD5."""


class ObjectFilesError(Exception):
    """A folder of objects that cannot be used; the message names the file and the reason."""


class FolderInUse(ObjectFilesError):
    """A folder of objects that another process has open."""


class DamagedIndex(ObjectFilesError):
    """An index that cannot be read, or bodies of objects without it."""


class DamagedObject(ObjectFilesError):
    """An object whose file is not what was stored."""


class Entry(NamedTuple):
    """An object: its name, its file, the file's size [B] and MD5, and the attributes as JSON."""

    bucket: str
    key: str
    body: str
    size: int
    md5: str
    attributes: str

    def checksum(self) -> int:
        """Return the CRC-32 of the fields."""
        return crc32(json.dumps(self, default=repr).encode())


# No process shares the index. A commit in the log is on the disk before it returns.
_SETTINGS = ("locking_mode = EXCLUSIVE", "synchronous = FULL", "journal_mode = WAL")
_TABLE = (
    "CREATE TABLE objects (bucket TEXT, key TEXT, body TEXT, size INTEGER, "
    "md5 TEXT, attributes TEXT, crc32 INTEGER, PRIMARY KEY (bucket, key)) WITHOUT ROWID"
)
# A sector that the disk cannot read.
_UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_CORRUPTFS}
_BODY = re.compile(r"[0-9a-f]{32}")
_ROWS = f"SELECT {', '.join(Entry._fields)}, crc32 FROM objects"  # noqa: S608 (no input)


def of_earlier_version(folder: Path) -> ObjectFilesError:
    """Return the error that an earlier version wrote a folder of objects."""
    return ObjectFilesError(
        f"{folder} is of an earlier version: write its results with `tidemark export` of that "
        "version, move the whole folder away, and bring them in with `tidemark restore`."
    )


def is_writable(folder: Path) -> bool:
    """Tell whether this process may change a folder: a mounted backup may not be."""
    return os.access(folder, os.W_OK)


def readable(file: Path) -> Iterator[Entry]:
    """Yield the objects that can be read in a damaged index, some of them twice."""
    # A sector that the disk cannot read ends the copy.
    with suppress(sqlite3.Error, OSError), closing(_copied_or_in_place(file)) as database:
        # A damaged page ends a walk, and another one begins at the other end.
        for order in ("ASC", "DESC"):
            statement = f"{_ROWS} ORDER BY bucket {order}, key {order}"
            with suppress(sqlite3.Error):
                yield from filter(None, map(_whole, database.execute(statement)))


class Index:
    """An index in a file, used by the threads of one process.

    A method raises DamagedIndex if the file is not an index, and OSError if it cannot be used.

    Attributes
    ----------
    is_new
        Whether the file did not exist, or was empty.
    """

    def __init__(self, file: Path) -> None:
        """Open the index.

        Raises
        ------
        FolderInUse
            If another process has it open.
        ObjectFilesError
            If an earlier version wrote it.
        """
        self._file, self._lock = file, RLock()
        if file.exists() and not file.is_file():
            raise self.damaged("it is not a file")
        with self._errors():
            open_file = _connected if is_writable(file.parent) else _copied
            self._database = open_file(file)
        try:
            for setting in _SETTINGS:
                self._rows(f"PRAGMA {setting}")
            self.is_new = not self._rows("SELECT name FROM sqlite_schema")
            columns = self._rows("SELECT name FROM pragma_table_info('objects')")
            if tuple(name for (name,) in columns) == Entry._fields:
                raise of_earlier_version(file.parent)
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Let another process open the index."""
        self._database.close()

    def create(self) -> None:
        """Make a new index one without objects."""
        self._rows(_TABLE)

    def begin(self) -> None:
        """Begin a transaction."""
        self._rows("BEGIN")

    def commit(self) -> None:
        """End the transaction, unless it was undone; its changes are then on the disk."""
        if self._database.in_transaction:
            self._rows("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction, unless SQLite has undone it already."""
        with self._lock:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")

    def put(self, entry: Entry) -> None:
        """Add or replace an object."""
        values = (*entry, entry.checksum())
        self._rows("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def remove(self, bucket: str, key: str) -> None:
        """Remove an object, if there is one."""
        self._rows("DELETE FROM objects WHERE bucket = ? AND key = ?", (bucket, key))

    def find(self, bucket: str, key: str) -> Entry | None:
        """Return an object, None if there is none."""
        return next(self._entries("WHERE bucket = ? AND key = ?", bucket, key), None)

    def entries(self, bucket: str) -> Iterator[Entry]:
        """Yield the objects of a bucket in order."""
        return self._entries("WHERE bucket = ? ORDER BY key", bucket)

    def next_bucket(self, after: str) -> str | None:
        """Return the first bucket behind a name that holds objects, None if there is none."""
        # DISTINCT would read every object.
        select = "SELECT bucket FROM objects WHERE bucket > ? ORDER BY bucket LIMIT 1"
        found = self._rows(select, (after,))
        return found[0][0] if found else None

    def listed(self, bucket: str, prefix: str, after: str, most: int | None) -> list[Listed]:
        """Return the first ``most`` objects that follow ``after``, with keys of a prefix."""
        bounds = (bucket, prefix, prefix, after, -1 if most is None else most)
        # The byte FF is in no UTF-8, and sorts after every continuation of the prefix.
        return self._rows(
            "SELECT key, size, md5 FROM objects WHERE bucket = ? AND key >= ? "
            "AND key < ? || CAST(x'ff' AS TEXT) AND key > ? ORDER BY key LIMIT ?",
            bounds,
        )

    def check(self) -> None:
        """Raise DamagedIndex if SQLite finds damage in the file, or a row is not as written."""
        ((answer,),) = self._rows("PRAGMA integrity_check(1)")
        if answer != "ok":
            raise self.damaged(answer)
        deque(self._entries(""), maxlen=0)

    def damaged(self, reason: object) -> DamagedIndex:
        """Return the error that the file is damaged."""
        return DamagedIndex(f"{self._file} is damaged: {reason}; {DOCTOR}.")

    def _entries(self, condition: str, *values: str) -> Iterator[Entry]:
        for row in self._rows(f"{_ROWS} {condition}", values):
            if (entry := _whole(row)) is None:
                raise self.damaged(f"the row of {row[1]} is not as it was written")
            yield entry

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._errors(), self._lock:
            return self._database.execute(statement, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from error
        except sqlite3.DatabaseError as error:
            raise self.damaged(error) from error

    def _unusable(self, error: sqlite3.OperationalError) -> Exception:
        # Python's own error about a text that is not UTF-8 has no code of SQLite.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code in _UNREADABLE:
            return self.damaged(error)
        match code & 0xFF:
            case sqlite3.SQLITE_ERROR:
                return self.damaged(error)
            case sqlite3.SQLITE_BUSY:
                return FolderInUse(f"{self._file} is in use by another process.")
            case sqlite3.SQLITE_FULL:
                return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._file))
            case sqlite3.SQLITE_IOERR:
                return OSError(errno.EIO, str(error), str(self._file))
        return ObjectFilesError(f"{self._file} cannot be used by this process: {error}.")


def _whole(row: Sequence[Any]) -> Entry | None:
    """Return the object of a row, None if the row is not as it was written.

    A body with a name of another form could be the path of a file elsewhere.
    """
    entry = Entry(*row[:-1])
    is_whole = entry.checksum() == row[-1] and _BODY.fullmatch(entry.body)
    return entry if is_whole else None


def _connected(file: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    # The owner begins its own transactions, and the lock lets all threads share a connection.
    return sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False, uri=uri)


def _in_place(file: Path) -> sqlite3.Connection:
    """Return an index without its log, for reading; SQLite makes no file beside it."""
    return _connected(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _copied_or_in_place(file: Path) -> sqlite3.Connection:
    try:
        return _copied(file)
    except (OSError, sqlite3.Error, ObjectFilesError):
        return _in_place(file)


def _copied(file: Path) -> sqlite3.Connection:
    """Return a copy in memory of an index that cannot be written; empty if there is none.

    Raises
    ------
    FolderInUse
        If a process that this one does not see changed it meanwhile.
    """
    copy, log = _connected(":memory:"), file.with_name(f"{file.name}-wal")
    with ExitStack() as opened:
        opened.enter_context(_unchanged(file, log))
        if not file.exists():
            return copy
        if not log.exists() or not log.stat().st_size:
            original = _in_place(file)
        else:
            # The log has what a killed process has not written into the file itself.
            folder = Path(opened.enter_context(_temporary_folder(file)))
            for part in (file, log):
                shutil.copyfile(part, folder / part.name)
            original = _connected(folder / file.name)
        opened.enter_context(closing(original)).backup(copy)
    return copy


@contextmanager
def _unchanged(*files: Path) -> Iterator[None]:
    before = [*map(_seen, files)]
    try:
        yield
    finally:
        if [*map(_seen, files)] != before:
            raise FolderInUse(f"{files[0]} is in use by another process.")


def _seen(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _temporary_folder(file: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory()
    except OSError as error:
        raise ObjectFilesError(f"{file} and its log cannot be copied: {error}.") from error
