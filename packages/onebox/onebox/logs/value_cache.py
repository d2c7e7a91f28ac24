"""The cache of the rows that queries take from segments.

A query that filters, parses and then counts needs little of each message. Once it is asked again,
the cache keeps this little for every Parquet segment of the query. The name of a file is a digest
of the segment, of the SQL and of DuckDB's version: a file is never out of date, only no longer
used. A file that does not have the SHA-256 beside it, ``<name>.sha256``, is written again. An empty
file ``<digest of the SQL>.asked`` tells that a query was asked before.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cwli import duckdb_core as duckdb
from cwli.insights.source import EventSource, TimeRange, over, rows_within
from cwli.insights.sql import MessageValues
from cwli.insights.templates import Template
from cwli.insights.values import quoted
from onebox.logs.event_files import DIGEST, cursor, digest_of, has_digest, parquet_of
from onebox.logs.templates import REST, TEMPLATE

MOST_BYTES = 1024**3
"""The maximum size of the cache on the disk."""
WORTHWHILE_BYTES = 1024**2
"""The minimum size of a segment whose rows are kept."""
# A file stays this long after its last use, since a query may be about to read it. The time is the
# longest run of a query (AWS documentation, CloudWatch Logs quotas: query timeout).
_USED_SECONDS = 3600
_SUFFIX, _ASKED = ".parquet", ".asked"


@dataclass(frozen=True)
class StoredFiles:
    """Files of events that never change.

    Attributes
    ----------
    files : sequence of Path
        The files.
    select : callable
        Returns the SELECT of the events of some of them.
    has_templates : bool
        Whether that SELECT has the columns of `onebox.logs.templates`, too.
    """

    files: Sequence[Path]
    select: Callable[[Sequence[Path]], str]
    has_templates: bool

    @property
    def sql(self) -> str:
        """The SELECT of the events."""
        return self.select(self.files)

    def rows(self, values: MessageValues, connection: duckdb.DuckDBPyConnection) -> str:
        """Return the SELECT of the rows that a query takes from the events."""
        if self.has_templates:
            return rows_by_template(self.sql, values, connection)
        return over(self.sql, values.sql)

    def is_within(self, start: int | None, end: int | None) -> bool:
        """Tell whether a time window holds all events of the segment."""
        inside = rows_within(self.sql, (start, end))
        if inside == self.sql:
            return True
        with cursor() as connection:
            counts = f"(SELECT count(*) FROM ({inside})), (SELECT count(*) FROM ({self.sql}))"  # noqa: S608
            ((some, every),) = connection.execute(f"SELECT {counts}").fetchall()
        return bool(some == every)


class ValueCache:
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

    def is_asked_again(self, values: MessageValues) -> bool:
        """Note that a query is asked, and tell whether it was within the last hour or so."""
        name = hashlib.sha256(values.sql.encode()).hexdigest()
        asked = (self._folder / name).with_suffix(_ASKED)
        with suppress(OSError):
            if _touch(asked):
                return True
            self._folder.mkdir(parents=True, exist_ok=True)
            asked.touch()
        return False

    def rows(
        self,
        stored: StoredFiles,
        values: MessageValues,
        window: TimeRange,
        connection: duckdb.DuckDBPyConnection,
        *,
        keep: bool,
    ) -> dict[Path, str]:
        """Return the SELECT of the kept rows that a query takes from each file that has some.

        Parameters
        ----------
        stored : StoredFiles
            The files.
        values : MessageValues
            The rows over ``events``; each depends on one event only.
        window : tuple of int or None
            The first and last second of the query [s since 1970-01-01 UTC].
        connection : DuckDBPyConnection
            The connection of the query.
        keep : bool
            Whether to keep rows that are not there yet, if the window holds all events of the file.
        """
        rows = {}
        for file in self.worthwhile(stored.files):
            segment, kept = replace(stored, files=[file]), self._path(stored, file, values)
            # A query must succeed even with a read-only folder or a full disk.
            with suppress(OSError, duckdb.IOException):
                if keep and not self._has(kept) and segment.is_within(*window):
                    self._keep(kept, segment.rows(values, connection))
                if self._has(kept):
                    rows[file] = f"SELECT * FROM read_parquet({quoted(str(kept))})"  # noqa: S608
        return rows

    def _path(self, stored: StoredFiles, file: Path, values: MessageValues) -> Path:
        """Return the file with the rows that a query takes from a file."""
        status = file.stat()
        identity = f"{duckdb.__version__} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
        rows = over(stored.select([file]), values.sql)
        name = hashlib.sha256(f"{identity}\n{rows}".encode()).hexdigest()
        return self._folder / f"{name}{_SUFFIX}"

    def _has(self, file: Path) -> bool:
        """Tell whether a file exists and is as it was written, and note its use."""
        if not _touch(file):
            return False
        if file not in self._whole and has_digest(file):
            self._whole.add(file)
        return file in self._whole

    def _keep(self, path: Path, select: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        # A unique suffix marks the unfinished file: other processes may write the same rows.
        unfinished = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}")
        with parquet_of(select, unfinished, threads=os.cpu_count() or 1) as file:
            if self._has_room(file.stat().st_size):
                path.with_suffix(DIGEST).write_text(digest_of(file), encoding="utf-8")
                file.replace(path)
                self._whole.add(path)

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
    """The events of a store, with templates, and with a cache of rows that queries take from them.

    Attributes
    ----------
    stored : sequence of StoredFiles
        The files that never change.
    others : EventSource
        All other events.
    cache : ValueCache or None
        The cache.
    """

    stored: Sequence[StoredFiles]
    others: EventSource
    cache: ValueCache | None

    def message_values(
        self,
        values: MessageValues,
        start: int | None,
        end: int | None,
        connection: duckdb.DuckDBPyConnection,
    ) -> str:
        """Return the SELECT of the rows of a query, from the cache or by templates if possible."""
        cached = self.cache and any(self.cache.worthwhile(each.files) for each in self.stored)
        templated = any(each.has_templates for each in self.stored)
        if not (cached or templated) or not _depends_on_events_only(values.sql, connection):
            return values.sql
        keep = bool(self.cache and cached and self.cache.is_asked_again(values))
        window, rows = (start, end), [over(self.others.sql, values.sql)]
        for each in self.stored:
            kept = (
                self.cache.rows(each, values, window, connection, keep=keep) if self.cache else {}
            )
            rows += kept.values()
            if left := [file for file in each.files if file not in kept]:
                rows.append(replace(each, files=left).rows(values, connection))
        return rows_within(" UNION ALL BY NAME ".join(rows), window)


def _depends_on_events_only(select: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether a SELECT reads only ``events``, and not the time of the query."""
    return connection.get_table_names(select) == {"events"} and "getvariable(" not in select


def _touch(path: Path) -> bool:
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


# Each branch reads the files once more.
_MOST_BRANCHES = 8


def rows_by_template(
    events: str, values: MessageValues, connection: duckdb.DuckDBPyConnection
) -> str:
    """Return the SELECT of the rows that a query takes from events with templates.

    Parameters
    ----------
    events : str
        The SELECT of the events, also with the columns of `onebox.logs.templates`.
    values : MessageValues
        The rows over ``events``.
    connection : DuckDBPyConnection
        The connection of the query.
    """
    templates = f"SELECT DISTINCT {TEMPLATE} FROM ({events}) WHERE {TEMPLATE} IS NOT NULL"  # noqa: S608
    by_sql: dict[str, list[str]] = {}
    for (text,) in connection.execute(f"{templates} ORDER BY 1").fetchall():
        sql = values.for_template(Template(text))
        by_sql.setdefault(sql or "", []).append(quoted(text))
    if by_sql.keys() == {values.sql} or len(by_sql) > _MOST_BRANCHES:
        return over(events, values.sql)
    by_sql.pop("", None)  # the query keeps none of their events
    without = f"SELECT * REPLACE ({REST} AS message) FROM ({events}) WHERE {TEMPLATE} IS NULL"  # noqa: S608
    branches = [over(without, values.sql)]
    for sql, texts in by_sql.items():
        same = f"SELECT * FROM ({events}) WHERE {TEMPLATE} IN ({', '.join(texts)})"  # noqa: S608
        branches.append(over(same, sql))
    return " UNION ALL BY NAME ".join(branches)
