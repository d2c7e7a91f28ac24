"""The cache of the rows of objects, which saves reading the objects for every query.

Objects of finished runs do not change. The objects of a partition, ordered by place, are cut into
batches, and the rows of each batch are kept as Parquet. Runs are named by their times, so the
object of a new run comes last and leaves the earlier batches unchanged. It is read by itself until
it fills a batch with others.

The SHA-256 of a file is in a second one, ``<name>.sha256``. A damaged file is written again.

The name of a file is a digest of the places and MD5s of its objects, and of the SQL and DuckDB's
version that read them. A file is therefore never out of date, only no longer used.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from onebox.athena.catalogue import Members, StoredObject, TableObject, pairs
from onebox.athena.errors import QueryError
from onebox.athena.rows import ObjectChanged, Reader

_PARQUET, _DIGEST = ".parquet", ".sha256"
BATCH_SIZES = (2_500, 250, 50, 10)
"""The numbers of objects in one file, the largest first, so that there are few files."""


class RowCache:
    """A folder with the rows of tables, one file for each batch of objects, used by one process.

    Parameters
    ----------
    folder : Path
        The folder, created with the first file. It may be removed between queries.
    batch_sizes : sequence of int
        The numbers of objects in one file, the largest first.
    """

    def __init__(self, folder: Path, batch_sizes: Sequence[int] = BATCH_SIZES) -> None:
        self.folder = folder
        self._batch_sizes = batch_sizes
        self._lock = threading.Lock()
        self._whole: dict[Path, tuple[int, int]] = {}

    def read(
        self, reader: Reader, members: Sequence[Members]
    ) -> tuple[list[Path], list[TableObject]]:
        """Return the files of objects, and the objects without a file.

        A batch without a file gets one now.

        Parameters
        ----------
        members : sequence
            All objects of some partitions of the reader's table.

        Raises
        ------
        QueryError
            If an object without a file is not gzipped UTF-8.
        """
        files: list[Path] = []
        others: list[TableObject] = []
        for file, batch in self._batches(reader, members):
            if file and self._ensure(file, reader, batch):
                files.append(file)
            else:
                others += pairs(batch)
        return files, others

    def keep(self, reader: Reader, members: Sequence[Members], deadline: float) -> None:
        """Write a file for each batch of a table, and remove files that are no longer used.

        Parameters
        ----------
        members : sequence
            All objects of the reader's table.
        deadline : float
            The time after which no batch is begun, by ``time.monotonic`` [s].
        """
        batches = {file: batch for file, batch in self._batches(reader, members) if file}
        with suppress(OSError):
            for kept in self._folder_of(reader).iterdir():
                if kept.with_suffix(_PARQUET) not in batches:
                    kept.unlink()
        for file, batch in batches.items():
            if time.monotonic() >= deadline:
                break
            # A query of these objects gets this error.
            with suppress(QueryError):
                self._ensure(file, reader, batch)

    def _batches(
        self, reader: Reader, members: Sequence[Members]
    ) -> Iterator[tuple[Path | None, Members]]:
        """Yield each batch with its file, and the remaining objects of a partition with None."""
        folder = self._folder_of(reader)
        for partition, objects in members:
            remaining = objects
            for size in self._batch_sizes:
                while len(remaining) >= size:
                    batch, remaining = remaining[:size], remaining[size:]
                    file = folder / f"{_digest(_identity(reader, batch))}{_PARQUET}"
                    yield file, (partition, batch)
            yield None, (partition, remaining)

    def _ensure(self, file: Path, reader: Reader, batch: Members) -> bool:
        """Write the rows of a batch if they have no file, and tell whether they have one now."""
        # A query must succeed even with a full disk, or with a value of the wrong type in a column
        # that it does not use.
        with self._lock, suppress(OSError, duckdb.Error, ObjectChanged):
            if not self._is_whole(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                unfinished = file.with_suffix(".unfinished")
                reader.copy(pairs(batch), unfinished)
                file.with_suffix(_DIGEST).write_text(_sha256(unfinished))
                unfinished.replace(file)
            return True
        return False

    def _is_whole(self, file: Path) -> bool:
        """Tell whether a file exists and is as it was written; compare it if it is not known."""
        try:
            status = file.stat()
            known = status.st_size, status.st_mtime_ns
            if self._whole.get(file) != known:
                if file.with_suffix(_DIGEST).read_text() != _sha256(file):
                    return False
                self._whole[file] = known
        except (OSError, UnicodeDecodeError):
            return False
        return True

    def _folder_of(self, reader: Reader) -> Path:
        return self.folder / _digest(reader.table.name)


def _identity(reader: Reader, batch: Sequence[StoredObject]) -> str:
    """Return a text that identifies the rows of a batch."""
    lines = [f"{location} {md5}\n" for location, _, md5 in batch]
    return f"{duckdb.__version__} {reader.sql}\n{''.join(lines)}"


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
