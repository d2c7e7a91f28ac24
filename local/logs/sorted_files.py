"""Sorted log files: the part with the events of a time range, found by a few of the events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from shutil import copystat
from typing import BinaryIO, NamedTuple

from local import duckdb_core as duckdb
from local.insights.source import TimeRange
from local.logs.clocks import Clock, own_beginning
from local.logs.folders import LogFilesError
from local.logs.log_file import Form, LogFile, inspect, opened
from local.logs.packing import Packing

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

        A file has none if it is packed, small, no text or without times, or if the part is more
        than half of it.

        Raises
        ------
        NotSortedError
            If an event that was looked at is earlier than one before it by more than the slack.
        LogFilesError
            If a file cannot be read.
        """
        with duckdb.connect() as connection:
            return {
                file: place
                for file, place in places.items()
                if self._copied(file, place, connection)
            }

    def _copied(self, path: Path, place: Path, connection: duckdb.DuckDBPyConnection) -> bool:
        """Copy the part of a file, unless the file itself is to be read; tell whether."""
        log = inspect(path, path, self.clock, is_joined=False)
        is_plain = log.form is Form.TEXT and log.packing is Packing.NONE
        is_whole = not is_plain or log.encoding.startswith("utf-16") or log.headers
        if is_whole or log.clock is None or not log.is_timed or log.size < self.least_bytes:
            return False
        with opened(path) as file:
            times = _Times(file, log, log.clock, connection)
            begin, end = self._part(times)
            times.check_order(path)
            if end - begin > log.size // 2:
                return False
            _copy(file, begin, end, place)
        copystat(path, place)
        # The first lines of the part choose its clock.
        return inspect(place, place, self.clock, is_joined=False).clock == log.clock

    def _part(self, times: _Times) -> tuple[int, int]:
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
        """Return the begins of the last event before a time and of the first other one, nearly."""
        low, high = times.around(time)
        while high - low > self.near:
            step = max(1, (high - low) // self.probes)
            times.look(range(low + step, high, step))
            closer = times.around(time)
            if closer == (low, high):
                break
            low, high = closer
        return low, high


class _Times:
    """The times of events in a file, of those that were looked at."""

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
        """Return the begins of the last event before a time and of the first other one.

        Parameters
        ----------
        time : int
            The time [ms since 1970-01-01 UTC].
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


def _copy(file: BinaryIO, begin: int, end: int, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file.seek(begin)
    left = end - begin
    with path.open("wb") as copy:
        while left and (chunk := file.read(min(left, _CHUNK))):
            copy.write(chunk)
            left -= len(chunk)
