"""Log events that were fetched from an account, an hour of a log group in each file.

The file of an hour that is over is written once, whole, and read from then on. An interrupted fetch
therefore goes on with the hours that are missing.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cwli.readers.folders import LogFilesError, folder_name, group_name
from cwli.readers.log_file import EVENT_FIELDS

Range = tuple[int, int]
"""A first and a last second [s since 1970-01-01 UTC]."""
Fetch = Callable[[str, int, int], Iterable[Mapping[str, Any]]]
"""Returns the events of a log group between two times [ms since 1970-01-01 UTC], inclusive."""
_HOUR = 3600
# A year. An hour takes a call or more, and AWS accepts 5 to 10 in a second.
_MOST_HOURS = 366 * 24
_LONGEST_NAME = 255
_FOLDER, _SUFFIX = "fetched", ".jsonl.gz"
_FILE = re.compile(rf"\b{_FOLDER}/([0-9]{{12}})/[a-z0-9-]+/([^/]+)/[-T0-9]+(?:\.part)?{_SUFFIX}$")
# Events may arrive late: AWS documents no bound; most agents send a batch within seconds.
_SETTLED_SECONDS = 900


def folder_of(state: Path, account: str, region: str) -> Path:
    """Return the folder of the fetched events of an account, below a state folder."""
    return state / _FOLDER / account / region


def log_of(file: str) -> str | None:
    """Return the ``@log`` of a fetched file, ``account:group``; None for another file."""
    found = _FILE.search(file)
    return f"{found[1]}:{group_name(found[2])}" if found else None


class FetchedLogs:
    """The fetched events of log groups.

    Parameters
    ----------
    folder : Path
        The folder of the files, created with the first.
    fetch : callable
        Fetches events.
    now : int
        The present time [s since 1970-01-01 UTC].
    oldest : int, optional
        A time before which there are no events [s since 1970-01-01 UTC].
    """

    def __init__(self, folder: Path, fetch: Fetch, now: int, oldest: int = 0) -> None:
        self._folder = folder
        self._fetch = fetch
        self._now = now
        self._oldest = oldest
        self.fetched = 0
        """The number of hours that were fetched now."""

    def files(self, group: str, *ranges: Range) -> list[Path]:
        """Return the files with the events of time ranges; fetch those missing.

        Raises
        ------
        LogFilesError
            If the ranges have more hours than are fetched, or the name is too long for a folder.
        """
        folder = self._folder / _name(group)
        hours = sorted({hour for each in ranges for hour in self._hours(*each)})
        if len(hours) > _MOST_HOURS:
            raise LogFilesError(
                f"{group}: the query reads {len(hours):,} hours of this log group; at most "
                f"{_MOST_HOURS:,} are fetched"
            )
        files = [self._file(group, folder, hour) for hour in hours]
        return [file for file in files if file.stat().st_size]

    def _hours(self, start: int, end: int) -> range:
        first = max(start, self._oldest)
        return range(first // _HOUR * _HOUR, min(end, self._now) + 1, _HOUR)

    def _file(self, group: str, folder: Path, hour: int) -> Path:
        name = f"{datetime.fromtimestamp(hour, UTC):%Y-%m-%dT%H}"
        whole = folder / f"{name}{_SUFFIX}"
        if whole.exists():
            return whole
        self.fetched += 1
        is_over = hour + _HOUR + _SETTLED_SECONDS <= self._now
        part = folder / f"{name}.part{_SUFFIX}"
        folder.mkdir(parents=True, exist_ok=True)
        self._write(part, self._fetch(group, hour * 1000, (hour + _HOUR) * 1000 - 1))
        return part.replace(whole) if is_over else part

    def _write(self, file: Path, events: Iterable[Mapping[str, Any]]) -> None:
        """Write events as lines of JSON, an empty file for none."""
        file.write_bytes(b"")
        lines = (json.dumps({name: event.get(name) for name in EVENT_FIELDS}) for event in events)
        first = next(lines, None)
        if first is None:
            return
        with gzip.open(file, "wt", encoding="utf-8") as packed:
            packed.write(f"{first}\n")
            packed.writelines(f"{line}\n" for line in lines)


def _name(group: str) -> str:
    name = folder_name(group)
    if len(name) > _LONGEST_NAME:
        raise LogFilesError(f"{group}: this name is too long for a folder")
    return name
