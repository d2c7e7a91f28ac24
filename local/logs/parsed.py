"""What queries took from segments, kept so that it is not taken from the messages again.

A query that filters and parses and then counts needs little of each message. That little is kept
of every Parquet segment it was taken from. The name of the file is a digest of the segment, of
the SQL and of DuckDB's version: what is kept is never out of date, only no longer asked for.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from local.insights.source import EventSource, rows_within
from local.insights.values import quoted
from local.logs.parquet import parquet_of

MOST_BYTES = 1024**3
"""What all that is kept takes on the disk at most."""
WORTHWHILE_BYTES = 1024**2
"""The size of a segment from which on what is taken from it is kept."""
# What was used in this time is not removed: a query may be about to read it. The longest that one
# runs (AWS documentation, CloudWatch Logs quotas: query timeout).
_USED_SECONDS = 3600
_SUFFIX = ".parquet"


@dataclass(frozen=True)
class Segment:
    """Events that never change: a file, and the SELECT of what it holds."""

    file: Path
    sql: str

    def is_within(self, start: int | None, end: int | None) -> bool:
        """Tell whether a window has all of the events."""
        inside = rows_within(self.sql, start, end)
        if inside == self.sql:
            return True
        with duckdb.connect() as connection:
            counts = f"(SELECT count(*) FROM ({inside})), (SELECT count(*) FROM ({self.sql}))"  # noqa: S608
            ((some, every),) = connection.execute(f"SELECT {counts}").fetchall()
        return bool(some == every)


class ParsedCache:
    """Files of what queries took from segments, in a folder.

    Any number of processes may use one folder. A process that is killed leaves no file that is
    not whole.

    Parameters
    ----------
    folder : Path
        Where the files are; made when the first is kept.
    most_bytes : int
        Their size at most. What was not used for longest goes first; while all of it was used
        within the hour nothing is added.
    worthwhile_bytes : int
        The size of the segments from which on their rows are kept.
    """

    def __init__(
        self, folder: Path, most_bytes: int = MOST_BYTES, worthwhile_bytes: int = WORTHWHILE_BYTES
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._worthwhile_bytes = worthwhile_bytes

    def worth(self, files: Iterable[Path]) -> list[Path]:
        """Return the files whose rows are kept."""
        return [file for file in files if file.stat().st_size >= self._worthwhile_bytes]

    def rows(self, segment: Segment, select: str, start: int | None, end: int | None) -> str:
        """Return the SELECT of the rows that ``select`` takes from a segment.

        They are kept if a query of the window needs all of them; of a part, none are.

        Parameters
        ----------
        segment : Segment
            What ``events`` is in ``select``.
        select : str
            A SELECT over ``events``, of which each row depends on one event only.
        start, end : int or None
            The window's first and last second [s since 1970-01-01 UTC].
        """
        direct = over(segment.sql, select)
        status = segment.file.stat()
        identity = f"{duckdb.__version__} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
        name = hashlib.sha256(f"{identity}\n{direct}".encode()).hexdigest()
        kept = self._folder / f"{name}{_SUFFIX}"
        # A folder that cannot be written to, or a full disk, must not keep a query from its answer.
        with suppress(OSError, duckdb.IOException):
            if _touched(kept) or (segment.is_within(start, end) and self._keep(kept, direct)):
                return f"SELECT * FROM read_parquet({quoted(str(kept))})"  # noqa: S608
        return direct

    def _keep(self, path: Path, select: str) -> bool:
        self._folder.mkdir(parents=True, exist_ok=True)
        # The name has no suffix that counts, whatever process writes the same rows.
        unfinished = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}")
        with parquet_of(select, unfinished, threads=os.cpu_count() or 1) as written:
            room = self._has_room(written.stat().st_size)
            if room:
                written.replace(path)
        return room

    def _has_room(self, size: int) -> bool:
        """Remove what was not used for longest, and tell whether there is room now."""
        long_ago = time.time() - _USED_SECONDS
        files = [(file.stat(), file) for file in self._folder.iterdir()]
        taken = size + sum(status.st_size for status, _ in files)
        for status, file in sorted(files, key=lambda each: each[0].st_mtime):
            # What a process that was killed left unfinished goes as well.
            abandoned = file.suffix != _SUFFIX
            if status.st_mtime < long_ago and (taken > self._most_bytes or abandoned):
                file.unlink(missing_ok=True)
                taken -= status.st_size
        return taken - size <= self._most_bytes


@dataclass(frozen=True)
class StoredEvents(EventSource):
    """Events of a store, with a cache of what queries took from its segments.

    Attributes
    ----------
    segments : tuple of Segment
        The part of the events whose rows are kept.
    others : EventSource
        The rest of the events.
    """

    segments: Sequence[Segment]
    others: EventSource
    cache: ParsedCache

    def parsed(self, select: str, start: int | None, end: int | None) -> str:
        """Return the SELECT of what a query takes from its events, as far as it is kept from it."""
        if not _depends_on_events_only(select):
            return select
        kept = [self.cache.rows(segment, select, start, end) for segment in self.segments]
        rows = " UNION ALL BY NAME ".join((*kept, over(self.others.sql, select)))
        return rows_within(rows, start, end)


def over(events: str, select: str) -> str:
    """Return a SELECT over ``events`` with these events, whatever has that name elsewhere."""
    return f"SELECT * FROM (WITH events AS NOT MATERIALIZED ({events}) SELECT * FROM ({select}))"  # noqa: S608


def _depends_on_events_only(select: str) -> bool:
    """Tell whether a SELECT reads no other table, and nothing of the query's own time."""
    with duckdb.connect() as connection:
        return connection.get_table_names(select) == {"events"} and "getvariable(" not in select


def _touched(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True
