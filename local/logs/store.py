"""The events of log groups, in files that survive the process."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import time_ns
from urllib.parse import quote, unquote

from local.insights.source import EventSource, events_of
from local.insights.values import quoted

_SUFFIX = ".ndjson"
# What a file system takes as one name.
_MOST_BYTES = 255
_COLUMNS = (
    "{'id': 'VARCHAR', 'timestamp': 'BIGINT', 'ingestion_time': 'BIGINT', "
    "'log_stream': 'VARCHAR', 'message': 'VARCHAR'}"
)


@dataclass(frozen=True)
class LogEvent:
    """One event of a log stream; times in milliseconds since 1970-01-01 UTC."""

    id: str
    """Unique; ids of one stream sort as its events were written."""
    timestamp: int
    ingestion_time: int
    log_stream: str
    message: str


class LogStoreError(Exception):
    """A log group's name that cannot be stored, or a file that is damaged."""


class LogStore:
    """The events of log groups, kept in a folder.

    Any number of processes and threads may append and read at once: each store writes files of its
    own and only adds to them, and a reader leaves out a last line that is not complete.

    Parameters
    ----------
    folder : Path
        Where the events are kept; made when the first is appended.
    account : str
        What ``@log`` names before the group.
    """

    def __init__(self, folder: Path, account: str = "local") -> None:
        self._folder = folder
        self._account = account
        self._lock = threading.Lock()
        self._begin_files()

    def append(
        self, group: str, stream: str, events: Iterable[tuple[int, str]], ingestion_time: int
    ) -> None:
        """Add events to a log stream.

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
            lines = [
                _line(f"{self._name}-{next(self._numbers):09d}", stream, event, ingestion_time)
                for event in events
            ]
            if not lines:
                return
            folder.mkdir(parents=True, exist_ok=True)
            try:
                with (folder / f"{self._name}{_SUFFIX}").open("ab") as file:
                    file.write(b"".join(lines))
            except OSError:
                # A line may be cut off; nothing may follow it.
                self._begin_files()
                raise

    def groups(self) -> list[str]:
        """Return the log groups that have events, sorted."""
        if not self._folder.is_dir():
            return []
        return sorted(unquote(folder.name) for folder in self._folder.iterdir())

    def streams(self, group: str) -> list[str]:
        """Return the streams of a log group that have events, sorted."""
        return sorted({event.log_stream for event in self._stored(group)})

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
        found = (
            event
            for event in self._stored(group)
            if (stream is None or event.log_stream == stream)
            and (start is None or event.timestamp >= start)
            and (end is None or event.timestamp <= end)
        )
        return sorted(found, key=lambda event: (event.timestamp, event.id))

    def events(self, groups: Iterable[str]) -> EventSource:
        """Return the events that log groups have now, for queries."""
        return EventSource.union(
            self._source(group, files) for group in groups if (files := self._files(group))
        )

    def _begin_files(self) -> None:
        """Let further events go to new files, which no other store and no earlier process has."""
        self._process = os.getpid()
        self._name = f"{time_ns():020d}-{self._process}-{os.urandom(4).hex()}"
        self._numbers = count()

    def _source(self, group: str, files: list[Path]) -> EventSource:
        names = ", ".join(quoted(str(file)) for file in files)
        # Ignoring errors is for a last line that is cut off, or being written.
        rows = (
            f"read_json([{names}], format = 'newline_delimited', columns = {_COLUMNS}, "
            "ignore_errors = TRUE) WHERE timestamp IS NOT NULL"
        )
        return events_of(
            rows,
            timestamp="timestamp",
            ingestion_time="ingestion_time",
            log=quoted(f"{self._account}:{group}"),
            log_stream="log_stream",
            message="message",
            ptr="id",
        )

    def _stored(self, group: str) -> Iterator[LogEvent]:
        for file in self._files(group):
            *lines, _cut_off = file.read_bytes().split(b"\n")
            for number, line in enumerate(lines, 1):
                try:
                    yield LogEvent(**json.loads(line))
                except (ValueError, TypeError) as error:
                    raise LogStoreError(f"{file}, line {number}: not an event") from error

    def _files(self, group: str) -> list[Path]:
        return sorted(self._group_folder(group).glob(f"*{_SUFFIX}"))

    def _group_folder(self, group: str) -> Path:
        # quote leaves dots alone, and a name of dots is another folder.
        name = quote(group, safe="").replace(".", "%2E")
        if not 0 < len(name) <= _MOST_BYTES:
            raise LogStoreError(
                f"log group {group!r}: a name has 1 to {_MOST_BYTES} characters when quoted"
            )
        return self._folder / name


def _line(id_: str, stream: str, event: tuple[int, str], ingestion_time: int) -> bytes:
    timestamp, message = event
    stored = {
        "id": id_,
        "timestamp": timestamp,
        "ingestion_time": ingestion_time,
        "log_stream": stream,
        # Half of a surrogate pair is no text, and DuckDB would not read the line.
        "message": message.encode(errors="replace").decode(),
    }
    return json.dumps(stored).encode() + b"\n"
