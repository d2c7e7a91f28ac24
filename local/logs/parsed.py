"""The cache of the rows that queries take from segments.

A query that filters, parses and then counts needs little of each message. The cache keeps this
little for every Parquet segment of the query. The name of a file is a digest of the segment, of the
SQL and of DuckDB's version: a file is never out of date, only no longer used. A file that does not
have the SHA-256 beside it, ``<name>.sha256``, is written again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from local import duckdb_core as duckdb
from local.insights.source import EventSource, rows_within
from local.insights.values import quoted
from local.logs.parquet import DIGEST, digest_of, has_digest, parquet_of

MOST_BYTES = 1024**3
"""The maximum size of the cache on the disk."""
WORTHWHILE_BYTES = 1024**2
"""The minimum size of a segment whose rows are kept."""
# A file stays this long after its last use, since a query may be about to read it. The time is the
# longest run of a query (AWS documentation, CloudWatch Logs quotas: query timeout).
_USED_SECONDS = 3600
_SUFFIX = ".parquet"


@dataclass(frozen=True)
class Segment:
    """A file of events that never change, and the SELECT of these events."""

    file: Path
    sql: str

    def is_within(self, start: int | None, end: int | None) -> bool:
        """Tell whether a time window holds all events of the segment."""
        inside = rows_within(self.sql, (start, end))
        if inside == self.sql:
            return True
        with duckdb.connect() as connection:
            counts = f"(SELECT count(*) FROM ({inside})), (SELECT count(*) FROM ({self.sql}))"  # noqa: S608
            ((some, every),) = connection.execute(f"SELECT {counts}").fetchall()
        return bool(some == every)


class ParsedCache:
    """A folder of files with the rows that queries take from segments.

    Any number of processes may use one folder. A killed process leaves no incomplete file that
    counts.

    Parameters
    ----------
    folder : Path
        The folder of the files, created with the first file.
    most_bytes : int
        The maximum size of all files. The least recently used files are removed first; while all
        files were used within the last hour, none is added.
    worthwhile_bytes : int
        The minimum size of a segment whose rows are kept.
    """

    def __init__(
        self, folder: Path, most_bytes: int = MOST_BYTES, worthwhile_bytes: int = WORTHWHILE_BYTES
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._worthwhile_bytes = worthwhile_bytes
        self._whole: set[Path] = set()

    def worthwhile(self, files: Iterable[Path]) -> list[Path]:
        """Return the files whose rows are kept."""
        return [file for file in files if file.stat().st_size >= self._worthwhile_bytes]

    def rows(self, segment: Segment, select: str, start: int | None, end: int | None) -> str:
        """Return the SELECT of the rows that ``select`` takes from a segment.

        The cache keeps the rows only if the window holds all events of the segment.

        Parameters
        ----------
        segment : Segment
            The segment that ``events`` names in ``select``.
        select : str
            A SELECT over ``events`` in which each row depends on one event only.
        start, end : int or None
            The window's first and last second [s since 1970-01-01 UTC].
        """
        direct = over(segment.sql, select)
        status = segment.file.stat()
        identity = f"{duckdb.__version__} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
        name = hashlib.sha256(f"{identity}\n{direct}".encode()).hexdigest()
        file = self._folder / f"{name}{_SUFFIX}"
        # A query must succeed even with a read-only folder or a full disk.
        with suppress(OSError, duckdb.IOException):
            if self._has(file) or (segment.is_within(start, end) and self._keep(file, direct)):
                return f"SELECT * FROM read_parquet({quoted(str(file))})"  # noqa: S608
        return direct

    def _has(self, file: Path) -> bool:
        """Tell whether a file exists and is as it was written, and note its use."""
        if not _touch(file):
            return False
        if file not in self._whole and has_digest(file):
            self._whole.add(file)
        return file in self._whole

    def _keep(self, path: Path, select: str) -> bool:
        self._folder.mkdir(parents=True, exist_ok=True)
        # A unique suffix marks the unfinished file: other processes may write the same rows.
        unfinished = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}")
        with parquet_of(select, unfinished, threads=os.cpu_count() or 1) as file:
            room = self._has_room(file.stat().st_size)
            if room:
                path.with_suffix(DIGEST).write_text(digest_of(file), encoding="utf-8")
                file.replace(path)
                self._whole.add(path)
        return room

    def _has_room(self, size: int) -> bool:
        """Remove the least recently used files, and tell whether ``size`` bytes have room."""
        long_ago = time.time() - _USED_SECONDS
        files = [(file.stat(), file) for file in self._folder.iterdir() if file.suffix != DIGEST]
        total = size + sum(status.st_size for status, _ in files)
        for status, file in sorted(files, key=lambda entry: entry[0].st_mtime):
            # Unfinished files of killed processes are removed as well.
            abandoned = file.suffix != _SUFFIX
            if status.st_mtime < long_ago and (total > self._most_bytes or abandoned):
                file.unlink(missing_ok=True)
                if not abandoned:
                    file.with_suffix(DIGEST).unlink(missing_ok=True)
                total -= status.st_size
        return total - size <= self._most_bytes


@dataclass(frozen=True)
class StoredEvents(EventSource):
    """The events of a store, with a cache of the rows that queries take from its segments.

    Attributes
    ----------
    segments : tuple of Segment
        The segments whose rows the cache keeps.
    others : EventSource
        All other events.
    """

    segments: Sequence[Segment]
    others: EventSource
    cache: ParsedCache

    def parsed(
        self,
        select: str,
        start: int | None,
        end: int | None,
        connection: duckdb.DuckDBPyConnection,
    ) -> str:
        """Return the SELECT of the rows of a query, which come from the cache if possible."""
        if not self.segments or not _depends_on_events_only(select, connection):
            return select
        kept = [self.cache.rows(segment, select, start, end) for segment in self.segments]
        rows = " UNION ALL BY NAME ".join((*kept, over(self.others.sql, select)))
        return rows_within(rows, (start, end))


def over(events: str, select: str) -> str:
    """Return a SELECT in which ``events`` stands for these events, whatever it means outside."""
    return f"SELECT * FROM (WITH events AS NOT MATERIALIZED ({events}) SELECT * FROM ({select}))"  # noqa: S608


def _depends_on_events_only(select: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether a SELECT reads only ``events``, and not the time of the query."""
    return connection.get_table_names(select) == {"events"} and "getvariable(" not in select


def _touch(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True
