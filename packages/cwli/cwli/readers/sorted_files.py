"""Sorted log files: the part with the events of a time range, found by a few of the events."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cwli import duckdb_core as duckdb
from cwli.insights.source import TimeRange
from cwli.readers.clocks import Clock, own_beginning
from cwli.readers.folders import LogFilesError
from cwli.readers.lines import UTF16
from cwli.readers.log_file import Form, LogFile, inspect
from cwli.readers.packing import Packing

SLACK_SECONDS = 60
"""How much earlier an event may be than one before it [s], as threads that write to one log leave
them."""
_CHUNK = 1024 * 1024
_REACHES = (64 * 1024, 4 * 1024 * 1024)


class NotSortedError(LogFilesError):
    """A file whose events are not in the order of their times."""


class SortedFiles(NamedTuple):
    """Files whose events are in the order of their times.

    Attributes
    ----------
    range : tuple of int or None
        The first and the last second of the events to read [s since 1970-01-01 UTC].
    clock : Clock or None
        The clock of each file; None if its first lines choose one.
    least_bytes : int
        The size from which a file is read in part [B].
    samples : int
        The number of events that tell whether a file is sorted.
    probes : int
        The number of events that are looked at in each step of the search for the part.
    near : int
        The bytes between the two places at which a search ends [B].
    """

    range: TimeRange
    clock: Clock | None = None
    least_bytes: int = 0
    samples: int = 100
    probes: int = 16
    near: int = 128 * 1024

    def parts(self, places: Mapping[Path, Path]) -> dict[Path, Path]:
        """Copy the part of each file to its place, and return these places.

        A file has none if it cannot be read or copied, is packed, small, in UTF-16, no text, or
        without times, if its first line names columns, if the part is more than half of it, or if
        the first lines of the part choose another clock.

        Raises
        ------
        NotSortedError
            If an event that was looked at is earlier than one before it by more than the slack.
        """
        with duckdb.connect() as connection:
            parts = {file: self._part_of(file, connection) for file in places}
        return {
            file: places[file]
            for file, part in parts.items()
            if part and self._copied(part, places[file])
        }

    def _part_of(self, path: Path, connection: duckdb.DuckDBPyConnection) -> _Part | None:
        """Return the part of a file, None if the file itself is to be read."""
        try:
            log = inspect(path, path, self.clock, is_joined=False)
            is_plain = log.form is Form.TEXT and log.packing is Packing.NONE
            is_whole = not is_plain or log.encoding == UTF16 or log.headers
            if is_whole or not (log.clock and log.is_timed) or log.size < self.least_bytes:
                return None
            with path.open("rb") as file:
                times = _Times(file, log, log.clock, connection)
                begin, end = self._bounds(times)
        except (LogFilesError, OSError):
            return None  # a reading of the file tells more
        times.check_order(path)
        return _Part(log, begin, end) if end - begin <= log.size // 2 else None

    def _copied(self, part: _Part, place: Path) -> bool:
        """Copy a part, unless this fails or the copy would be read in another way; tell whether."""
        try:
            part.copy(place)
            copy = inspect(place, place, self.clock, is_joined=False)
        except (LogFilesError, OSError):  # such as of a full disk
            copy = None
        is_alike = copy is not None and copy.clock == part.log.clock
        if not is_alike:
            with suppress(OSError):
                place.unlink()
        return is_alike

    def _bounds(self, times: _Times) -> tuple[int, int]:
        """Return the begin and the end of the part."""
        times.look(range(0, times.size, max(1, times.size // self.samples)))
        times.look([max(0, times.size - self.near)])
        first, last = self.range
        begin, end = 0, times.size
        if first is not None:
            begin, _ = self._around(times, (first - SLACK_SECONDS) * 1000)
        if last is not None:
            _, end = self._around(times, (last + SLACK_SECONDS + 1) * 1000)
        return begin, end

    def _around(self, times: _Times, time: int) -> tuple[int, int]:
        """Return the places before a time and from it on, at most ``near`` bytes apart.

        At the first begins the last event before the time that was looked at, at the second the
        first other one.
        """
        low, high = times.around(time)
        while high - low > self.near:
            step = max(1, (high - low) // self.probes)
            times.look(range(low + step, high, step))
            closer = times.around(time)
            if closer == (low, high):
                break
            low, high = closer
        return low, high


class _Part(NamedTuple):
    """A part of a file."""

    log: LogFile
    begin: int
    end: int

    def copy(self, place: Path) -> None:
        """Write a copy, which has the time of the file's last change; raise OSError if it fails."""
        place.parent.mkdir(parents=True, exist_ok=True)
        left = self.end - self.begin
        with self.log.path.open("rb") as file, place.open("wb") as copy:
            file.seek(self.begin)
            while left and (chunk := file.read(min(left, _CHUNK))):
                copy.write(chunk)
                left -= len(chunk)
        if left:
            raise OSError(errno.EIO, "the file was truncated", str(self.log.path))
        # Times without a year depend on it.
        os.utime(place, ns=(0, self.log.change_time * 1_000_000))


class _Times:
    """The times of the sampled events of a file."""

    def __init__(
        self, file: BinaryIO, log: LogFile, clock: Clock, connection: duckdb.DuckDBPyConnection
    ) -> None:
        self.size = log.size
        self._file = file
        self._begins = re.compile(own_beginning(clock)).search
        self._connection = connection
        time = clock.sql("line", str(log.change_time))
        self._select = f"SELECT {time} FROM (SELECT unnest(?) AS line)"  # noqa: S608
        self._known: dict[int, int] = {}

    def look(self, places: Iterable[int]) -> None:
        """Look at the next events after places."""
        events = dict(filter(None, map(self._event_after, places)))
        rows = self._connection.execute(self._select, [list(events.values())]).fetchall()
        times = ((begin, time) for begin, (time,) in zip(events, rows, strict=True))
        self._known |= {begin: time for begin, time in times if time is not None}

    def around(self, time: int) -> tuple[int, int]:
        """Return the places of the last sampled event before a time [ms], and of the next one.

        Only events that were looked at count; without one it is the begin or the end of the file.
        """
        before = (place for place, each in self._known.items() if each < time)
        after = (place for place, each in self._known.items() if each >= time)
        return max(before, default=0), min(after, default=self.size)

    def _event_after(self, place: int) -> tuple[int, str] | None:
        """Return the begin and the first line of the next event, None if it is not near."""
        for reach in _REACHES:
            self._file.seek(place)
            rest, *lines = self._file.read(reach).split(b"\n")
            begin = place + len(rest) + 1
            for line in lines[:-1]:
                if self._begins(line):
                    return begin, line.decode(errors="replace")
                begin += len(line) + 1
        return None

    def check_order(self, path: Path) -> None:
        """Raise NotSortedError if an event is earlier than one before it by more than the slack."""
        events = sorted(self._known.items())
        latest = accumulate((time for _, time in events), max)
        for (begin, time), before in zip(events, latest, strict=True):
            if time < before - SLACK_SECONDS * 1000:
                raise NotSortedError(
                    f"{path}: the event at byte {begin:,} is {(before - time) / 1000:,.0f} seconds "
                    "earlier than one before it"
                )
