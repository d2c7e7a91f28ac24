"""The events of log groups, in files that survive the process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from time import time_ns
from urllib.parse import quote, unquote

from local.insights.source import EventSource, events_of
from local.insights.values import quoted
from local.logs.parsed import ParsedCache, Segment, StoredEvents
from local.logs.segments import (
    SEGMENT_EVENTS,
    LogEvent,
    LogStoreError,
    OpenSegment,
    Segments,
    select_folded,
)

__all__ = ["LogEvent", "LogStore", "LogStoreError"]

# What a file system takes as one name.
_MOST_BYTES = 255
_log = logging.getLogger(__name__)
_FIRST, _LAST = -(2**63), 2**63 - 1


class LogStore:
    """The events of log groups, kept in a folder.

    Any number of processes and threads may append, read and fold at once. An event that was
    appended is there exactly once, whatever is killed; only the machine may lose it, if its power
    fails before the operating system wrote the file.

    Parameters
    ----------
    folder : Path
        Where the events are kept; made when the first is appended.
    account : str
        What ``@log`` names before the group.
    segment_events : int
        How many events of a group a file takes before they are folded into Parquet.
    cache : ParsedCache, optional
        What queries took from the events is kept there.
    """

    def __init__(
        self,
        folder: Path,
        account: str = "local",
        segment_events: int = SEGMENT_EVENTS,
        cache: ParsedCache | None = None,
    ) -> None:
        self._cache = cache
        self._folder = folder
        self._account = account
        self._segment_events = segment_events
        self._lock = threading.Lock()
        self._folding = threading.Lock()
        self._begin_files()

    def append(
        self, group: str, stream: str, events: Iterable[tuple[int, str]], ingestion_time: int
    ) -> None:
        """Add events to a log stream; when this returns, the operating system has them.

        Parameters
        ----------
        group, stream : str
            The log group and stream; they need not exist.
        events : iterable of (int, str)
            Times [ms since 1970-01-01 UTC] and messages.
        ingestion_time : int
            When the events arrived [ms since 1970-01-01 UTC].

        Raises
        ------
        LogStoreError
            If the group's name cannot be stored.
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
                    # Half of a surrogate pair is no text, and DuckDB would not read the line.
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
                # A line may be cut off; nothing may follow it.
                self._begin_files()
                raise
            if segment.events >= self._segment_events:
                self._open.pop(folder).close()
                threading.Thread(target=self._try_to_fold, args=(group,), daemon=True).start()

    def fold(self) -> None:
        """Write the events of every file that no process appends to any more as Parquet.

        Where there are many small Parquet files, they become one.

        Raises
        ------
        LogStoreError
            If a line of a file is no event.
        """
        for group in self.groups():
            self._fold(group)

    def close(self) -> None:
        """Append no more to the files at hand, and fold them; what is damaged stays as it is."""
        with self._lock:
            self._begin_files()
        for group in self.groups():
            self._try_to_fold(group)

    def groups(self) -> list[str]:
        """Return the log groups that have events, sorted."""
        if not self._folder.is_dir():
            return []
        return sorted(unquote(folder.name) for folder in self._folder.iterdir())

    def streams(self, group: str) -> list[str]:
        """Return the streams of a log group that have events, sorted."""
        return Segments(self._group_folder(group)).streams()

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
            The log group; one without events has none.
        stream : str, optional
            The log stream; all of the group otherwise.
        start, end : int, optional
            The first and the last time [ms since 1970-01-01 UTC], both inclusive.

        Raises
        ------
        LogStoreError
            If a complete line of a file is no event.
        """
        found = Segments(self._group_folder(group)).read(
            stream, _FIRST if start is None else start, _LAST if end is None else end
        )
        return sorted(found, key=lambda event: (event.timestamp, event.id))

    def events(self, groups: Iterable[str]) -> EventSource:
        """Return the events that log groups have now, for queries."""
        listed = [(group, Segments(self._group_folder(group))) for group in groups]
        events = self._union((group, segments.select()) for group, segments in listed)
        if self._cache is None:
            return events
        worth = {group: self._cache.worth(segments.folded()) for group, segments in listed}
        kept = tuple(
            Segment(file, self._of(group, select_folded([file])).sql)
            for group, files in worth.items()
            for file in files
        )
        others = self._union(
            (group, segments.select(without=worth[group])) for group, segments in listed
        )
        return StoredEvents(events.sql, kept, others, self._cache)

    def _union(self, selects: Iterable[tuple[str, str | None]]) -> EventSource:
        return EventSource.union(self._of(group, select) for group, select in selects if select)

    def _of(self, group: str, select: str) -> EventSource:
        return events_of(
            f"({select})",
            timestamp="timestamp",
            ingestion_time="ingestion_time",
            log=quoted(f"{self._account}:{group}"),
            log_stream="log_stream",
            message="message",
            ptr="id",
            size="size",
        )

    def _begin_files(self) -> None:
        """Let further events go to new files, which no other store and no earlier process has."""
        self._process = os.getpid()
        self._name = f"{time_ns():020d}-{self._process}-{os.urandom(4).hex()}"
        self._numbers = count()
        self._open: dict[Path, OpenSegment] = {}

    def _segment(self, folder: Path) -> OpenSegment:
        if folder not in self._open:
            folder.mkdir(parents=True, exist_ok=True)
            self._open[folder] = OpenSegment(folder, f"{self._name}-{next(self._numbers):09d}")
        return self._open[folder]

    def _try_to_fold(self, group: str) -> None:
        try:
            self._fold(group)
        except LogStoreError as error:
            # Whoever asks for the events is told so; who adds others need not stop.
            _log.warning("%s", error)

    def _fold(self, group: str) -> None:
        with self._folding:
            Segments(self._group_folder(group)).fold(group)
            Segments(self._group_folder(group)).merge(self._segment_events)

    def _group_folder(self, group: str) -> Path:
        # quote leaves dots alone, and a name of dots is another folder.
        name = quote(group, safe="").replace(".", "%2E")
        if not 0 < len(name) <= _MOST_BYTES:
            raise LogStoreError(
                f"log group {group!r}: a name has 1 to {_MOST_BYTES} characters when quoted"
            )
        return self._folder / name
