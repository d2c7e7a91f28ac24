"""The rows of objects, kept so that the objects are not read again for every query.

Objects of runs that are over do not change. In the order of their places those of a partition are
cut into batches, and the rows of each batch are kept as Parquet. Runs are named by their times: the
object of a new one comes last, leaves the batches before it as they are, and is read by itself
until it fills a batch with others.

The name of a file is a digest of its objects' places and MD5s and of how they were read, so
that what is kept is never out of date, only no longer asked for.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import duckdb

from local.athena.errors import QueryError
from local.athena.objects import Found
from local.athena.rows import ObjectChanged, Reader

BATCH_SIZES = (250, 50, 10)
"""How many objects have one file: as many as there are, so that files stay few, then fewer."""
_END = b"PAR1"  # the last bytes of a Parquet file (Apache Parquet, "File Format")


class KeptRows:
    """Rows of tables in a folder, a file for each batch of objects; one process has it.

    Parameters
    ----------
    folder : Path
        Where the files are; made when the first is kept. It may be removed between queries.
    batch_sizes : sequence of int
        How many objects have one file, the largest number first.
    """

    def __init__(self, folder: Path, batch_sizes: Sequence[int] = BATCH_SIZES) -> None:
        self._folder = folder
        self._batch_sizes = batch_sizes
        self._lock = threading.Lock()

    def read(self, reader: Reader, found: Sequence[Found]) -> tuple[list[Path], list[Found]]:
        """Return files with rows of objects, and the objects whose rows none of them has.

        Batches that are not kept yet are kept now.

        Parameters
        ----------
        found : sequence
            All objects of some partitions of the reader's table, by their places.

        Raises
        ------
        QueryError
            If an object that is read now is not gzipped UTF-8.
        """
        files: list[Path] = []
        others: list[Found] = []
        for file, batch in self._batches(reader, found):
            if file and self._has(file, reader, batch):
                files.append(file)
            else:
                others += batch
        return files, others

    def keep(self, reader: Reader, found: Sequence[Found], until: float) -> None:
        """Keep batches, and remove of the table what nobody asks for any more.

        Parameters
        ----------
        found : sequence
            All objects of the reader's table, by their places.
        until : float
            When to begin with no other batch, by ``time.monotonic`` [s].
        """
        batches = {file: batch for file, batch in self._batches(reader, found) if file}
        with suppress(OSError):
            for stale in set(self._folder_of(reader).iterdir()) - batches.keys():
                stale.unlink()
        for file, batch in batches.items():
            if time.monotonic() >= until:
                break
            # Whoever asks for what is in it is told why it cannot be read.
            with suppress(QueryError):
                self._has(file, reader, batch)

    def _batches(
        self, reader: Reader, found: Sequence[Found]
    ) -> Iterator[tuple[Path | None, list[Found]]]:
        """Yield batches and their files; None for the objects of a partition that are left."""
        folder = self._folder_of(reader)
        for _, group in groupby(found, key=lambda each: each[0].location):
            left = list(group)
            for size in self._batch_sizes:
                while len(left) >= size:
                    batch, left = left[:size], left[size:]
                    yield folder / f"{_digest(_depends_on(reader, batch))}.parquet", batch
            yield None, left

    def _has(self, file: Path, reader: Reader, batch: Sequence[Found]) -> bool:
        """Tell whether rows are kept; they are kept now if they can be."""
        # A value that is not of its column's type may be in a column that nobody asks for; and a
        # full disk must not keep a query from its answer.
        with self._lock, suppress(OSError, duckdb.Error, ObjectChanged):
            if not _is_whole(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                unfinished = file.with_suffix(".unfinished")
                reader.copy(batch, unfinished)
                unfinished.replace(file)
            return True
        return False

    def _folder_of(self, reader: Reader) -> Path:
        return self._folder / _digest(reader.table.name)


def _depends_on(reader: Reader, batch: Sequence[Found]) -> str:
    """Return all that the rows of objects depend on."""
    members = (f"{stored.location} {stored.md5}\n" for _, stored in batch)
    return f"{duckdb.__version__} {reader.sql}\n{''.join(members)}"


def _is_whole(file: Path) -> bool:
    """Tell whether a Parquet file is there, to its end."""
    try:
        with file.open("rb") as opened:
            opened.seek(-len(_END), os.SEEK_END)
            return opened.read() == _END
    except OSError:
        return False


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
