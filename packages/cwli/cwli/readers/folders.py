"""The log files below a folder, and the folders of log groups, with percent-encoded names.

A folder of fetched events has a file for each hour of a log group. The file of an hour that is over
is written once, whole, and read from then on. An interrupted fetch therefore goes on with the hours
that are missing.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

SUFFIXES = (".log", ".txt", ".json", ".jsonl", ".ndjson", ".gz", ".bz2", ".zst")
"""The suffixes of log files in a folder; files without a suffix are logs, too."""
# CreateExportTask writes it to find out whether it may (AWS documentation, CloudWatch Logs: export
# log data to Amazon S3).
_WRITE_TEST = "aws-logs-write-test"
# Endings that rotations give the name of a log: app.log.1, app.log-20240602, app.log.2024-06-02.
_ROTATED = re.compile(r"\.(?:log|txt|json|jsonl|ndjson)[.-][0-9][0-9.T_-]*$")
# FilteredLogEvent and OutputLogEvent (AWS documentation, CloudWatch Logs API).
EVENT_FIELDS = {
    "timestamp": "BIGINT",
    "message": "VARCHAR",
    "ingestionTime": "BIGINT",
    "logStreamName": "VARCHAR",
    "eventId": "VARCHAR",
}
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


class LogFilesError(Exception):
    """A path without logs, or a file that cannot be read."""


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield once each file that `log_files` reads.

    Raises
    ------
    LogFilesError
        If a folder holds no logs.
    """
    seen = set()
    for path in paths:
        below = logs_below(path) if path.is_dir() else [path]
        if not below:
            suffixes = ", ".join(SUFFIXES)
            raise LogFilesError(f"{path}: this folder holds no logs; a log ends in {suffixes}")
        for file in below:
            if file not in seen:
                seen.add(file)
                yield file


def logs_below(folder: Path) -> list[Path]:
    """Return the log files below a folder."""
    return _files_below(folder, _is_log, lambda _: None)


def _files_below(
    folder: Path, is_wanted: Callable[[str], bool], unread: Callable[[OSError], object]
) -> list[Path]:
    """Return the files below a folder with a wanted name, in the order of their paths.

    ``unread`` takes the error of each folder without access.
    """
    paths = (
        os.path.join(parent, name)  # noqa: PTH118
        for parent, _, names in os.walk(folder, onerror=unread)
        for name in filter(is_wanted, names)
    )
    files = filter(os.path.isfile, paths)  # Path.is_file raises without access
    return list(map(Path, sorted(files, key=lambda path: path.split("/"))))


def is_rotated(path: Path, log: Path) -> bool:
    """Tell whether a rotation may have made a file of a log: app.log.1 of app.log."""
    rest = path.name.removeprefix(log.name)
    return path.parent == log.parent and path.name != rest and rest[:1] in (".", "-")


def _is_log(name: str) -> bool:
    """Tell whether a file in a folder is a log by its name."""
    if name.startswith(".") or name == _WRITE_TEST:
        return False
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 (a folder may have many files)
    return suffix in ("", ".", *SUFFIXES) or _ROTATED.search(name) is not None


def skipped_below(folder: Path) -> list[Path]:
    """Return the files below a folder that no query reads, and the folders without access."""
    unread: list[Path] = []
    skipped = _files_below(
        folder,
        lambda name: not _is_log(name) and name != _WRITE_TEST,
        lambda error: unread.append(Path(error.filename)),
    )
    return sorted(skipped + unread)


def folder_name(group: str) -> str:
    """Return the name of the folder of a log group."""
    # quote keeps dots, and a name of dots would be another folder.
    return quote(group, safe="").replace(".", "%2E")


def group_name(folder: str) -> str:
    """Return the name of the log group of a folder."""
    return unquote(folder)


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
