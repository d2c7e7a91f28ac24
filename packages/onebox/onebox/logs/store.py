"""The events of log groups, in files that survive the process."""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from time import time_ns

from cwli import duckdb_core as duckdb
from cwli.insights.source import EventSource, events_of
from cwli.insights.values import quoted
from cwli.readers.folders import folder_name, group_name
from onebox.app import ACCOUNT
from onebox.logs.event_files import CheckedFiles, CheckedLines, LogEvent, LogStoreError
from onebox.logs.segments import (
    SEGMENT_EVENTS,
    OpenSegment,
    Segments,
    select_folded,
)
from onebox.logs.templates import COLUMNS, LEAST_BYTES, TemplatedFiles
from onebox.logs.value_cache import StoredEvents, StoredFiles, ValueCache

__all__ = ["LogEvent", "LogStore", "LogStoreError"]

# The longest file name that a file system accepts.
_MAX_NAME_BYTES = 255
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_log = logging.getLogger(__name__)
_FIRST, _LAST = -(2**63), 2**63 - 1


class LogStore:
    """The events of log groups, stored in a folder.

    Any number of processes and threads may append, read and fold at once. Every appended event is
    stored exactly once, whichever process is killed. It is lost only if the power of the machine
    fails before the operating system writes the file.

    Parameters
    ----------
    folder : Path
        The folder of the events, created with the first event.
    account : str
        The account that ``@log`` names before the group.
    segment_events : int
        The number of events of a group after which a file is folded into Parquet.
    cache : ValueCache, optional
        The cache of the rows that queries take from the events.
    templated_bytes : int
        The minimum size of a file whose events get templates.
    """

    def __init__(
        self,
        folder: Path,
        account: str = ACCOUNT,
        segment_events: int = SEGMENT_EVENTS,
        cache: ValueCache | None = None,
        templated_bytes: int = LEAST_BYTES,
    ) -> None:
        self._cache = cache
        self._templated = TemplatedFiles(templated_bytes)
        self._checked, self._checked_lines = CheckedFiles(), CheckedLines()
        self._folder = folder
        self._account = account
        self._segment_events = segment_events
        self._lock = threading.Lock()
        self._folding = threading.Lock()
        self._begin_files()

    def append(
        self, group: str, stream: str, events: Iterable[tuple[int, str]], ingestion_time: int
    ) -> None:
        """Append events to a log stream, and return when the operating system has them.

        Parameters
        ----------
        group, stream : str
            The log group and stream; they need not exist.
        events : iterable of (int, str)
            The times [ms since 1970-01-01 UTC] and messages of the events.
        ingestion_time : int
            The time at which the events arrived [ms since 1970-01-01 UTC].

        Raises
        ------
        LogStoreError
            If the name of the group cannot be stored.
        """
        folder = self._group_folder(group)
        with self._lock:
            if self._process != os.getpid():
                self._begin_files()
            rows = [
                LogEvent(
                    f"{self._name}-{next(self._numbers):09d}",
                    timestamp,
                    ingestion_time,
                    stream,
                    # DuckDB would refuse a line with half of a surrogate pair.
                    message.encode(errors="replace").decode(),
                )
                for timestamp, message in events
            ]
            if not rows:
                return
            try:
                segment = self._segment(folder)
                segment.append(rows)
            except OSError:
                # The last line may be cut off, and no line may follow it.
                self._begin_files()
                raise
            if segment.events >= self._segment_events:
                self._open.pop(folder).close()
                threading.Thread(target=self._try_to_fold, args=(group,), daemon=True).start()

    def fold(self) -> None:
        """Write every file that no process appends to any more as Parquet.

        Many small Parquet files of a group are merged into one.

        Raises
        ------
        LogStoreError
            If a line of a file is not an event.
        """
        for group in self.groups():
            self._fold(group)

    def close(self) -> None:
        """Close the open files and fold them; a damaged file stays unchanged."""
        with self._lock:
            self._begin_files()
        for group in self.groups():
            if self._try_to_fold(group) in _NO_ROOM:
                return  # the other groups find no room, either, and one warning is enough

    def groups(self) -> list[str]:
        """Return the log groups that have events, sorted."""
        if not self._folder.is_dir():
            return []
        return sorted(group_name(folder.name) for folder in self._folder.iterdir())

    def damage(self) -> str | None:
        """Return a sentence about the first damaged file of events, None if all can be read."""
        found = (self._segments(group).damage() for group in self.groups())
        try:
            return next(filter(None, found), None)
        except LogStoreError as error:
            return str(error)

    def streams(self, group: str) -> list[str]:
        """Return the streams of a log group that have events, sorted.

        Raises
        ------
        LogStoreError
            If a file is damaged.
        """
        return self._segments(group).streams()

    def read(
        self,
        group: str,
        stream: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> list[LogEvent]:
        """Return events, oldest first.

        Parameters
        ----------
        group : str
            The log group; it need not exist.
        stream : str, optional
            The log stream; all streams of the group by default.
        start, end : int, optional
            The first and the last time [ms since 1970-01-01 UTC], both inclusive.

        Raises
        ------
        LogStoreError
            If a complete line of a file is not an event.
        """
        events = self._segments(group).read(
            stream, _FIRST if start is None else start, _LAST if end is None else end
        )
        return sorted(events, key=lambda event: (event.timestamp, event.id))

    def events(self, groups: Iterable[str]) -> EventSource:
        """Return the present events of log groups for queries.

        Raises
        ------
        LogStoreError
            If a file is damaged.
        """
        listing = {group: self._segments(group) for group in groups}
        events = self._union((group, segments.select()) for group, segments in listing.items())
        stored: list[StoredFiles] = []
        others: list[tuple[str, str | None]] = []
        for group, segments in listing.items():
            files = segments.folded()
            templated = self._templated.among(files)
            plain = [file for file in files if file not in templated]
            stored += [self._stored(group, templated, COLUMNS)] if templated else []
            stored += [self._stored(group, plain)] if plain else []
            others.append((group, segments.select(without=files)))
        return StoredEvents(events.sql, stored, self._union(others), self._cache)

    def _union(self, selects: Iterable[tuple[str, str | None]]) -> EventSource:
        return EventSource.union(self._source(group, select) for group, select in selects if select)

    def _stored(
        self, group: str, files: Sequence[Path], columns: Sequence[str] = ()
    ) -> StoredFiles:
        def select(some: Sequence[Path]) -> str:
            return self._source(group, select_folded(some, columns), columns).sql

        return StoredFiles(files, select, has_templates=bool(columns))

    def _source(self, group: str, select: str, others: Iterable[str] = ()) -> EventSource:
        return events_of(
            f"({select})",
            timestamp="timestamp",
            ingestion_time="ingestion_time",
            log=quoted(f"{self._account}:{group}"),
            log_stream="log_stream",
            message="message",
            ptr="id",
            size="size",
            others=others,
        )

    def _begin_files(self) -> None:
        """Direct further events to new files, which no other store or process uses."""
        self._process = os.getpid()
        self._name = f"{time_ns():020d}-{self._process}-{os.urandom(4).hex()}"
        self._numbers = count()
        self._open: dict[Path, OpenSegment] = {}

    def _segment(self, folder: Path) -> OpenSegment:
        if folder not in self._open:
            folder.mkdir(parents=True, exist_ok=True)
            self._open[folder] = OpenSegment(folder, f"{self._name}-{next(self._numbers):09d}")
        return self._open[folder]

    def _try_to_fold(self, group: str) -> int | None:
        """Fold the lines of a group, or warn; return the number of an error of the disk."""
        try:
            self._fold(group)
        except LogStoreError as error:
            # A reader of the events gets this error; a writer of other events need not stop.
            _log.warning("%s", error)
        except duckdb.Error as error:
            _log.warning("The lines of %s stay unfolded: %s", group, error)
        except OSError as error:  # the disk is full, or fails
            _log.warning("The lines of %s stay unfolded: %s", group, error)
            return error.errno
        return None

    def _fold(self, group: str) -> None:
        with self._folding:
            least = self._templated.least_bytes
            self._segments(group).fold(group, least)
            self._segments(group).merge(self._segment_events, least)

    def _segments(self, group: str) -> Segments:
        return Segments(self._group_folder(group), self._checked, self._checked_lines)

    def _group_folder(self, group: str) -> Path:
        name = folder_name(group)
        if not 0 < len(name) <= _MAX_NAME_BYTES:
            raise LogStoreError(
                f"log group {group!r}: its percent-encoded name must have 1 to {_MAX_NAME_BYTES} "
                "characters"
            )
        return self._folder / name
