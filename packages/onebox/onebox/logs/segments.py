"""Segments: the files with the events of a log group, first JSON lines, then Parquet.

One process appends to a segment, ``<name>.ndjson``, and holds its lock meanwhile. After the process
has ended or begun another segment, the events are written again as ``<name>.parquet``, sorted by
time. The rename that gives the Parquet file its name also makes it count instead of the JSON lines.
The JSON lines stay for a while, since a reader in any process may have listed them before.

Many small Parquet segments are merged into one. A merge writes a list of the sources, then the
merged segment. The rename that gives the merged segment its name also makes it count instead of its
sources, which stay for a while, too. The list stays longer, so that a reader of a source and of the
merged segment knows that both hold the same events.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cwli import duckdb_core as duckdb
from cwli.insights.values import quoted
from onebox.disk import read_regular, sync_folder, write_synced
from onebox.logs.event_files import (
    DIGEST,
    DOCTOR,
    ROW_GROUP,
    CheckedFiles,
    CheckedLines,
    LogEvent,
    LogStoreError,
    check,
    cursor,
    event_of,
    line_of,
    parquet_of,
    problem_of,
    publish,
)
from onebox.logs.templates import sorted_events

SEGMENT_EVENTS = 4 * ROW_GROUP
"""The number of events after which a new segment begins."""
MIN_FILES = 8
"""The minimum number of small segments for a merge."""
# The longest run of a query (AWS documentation, CloudWatch Logs quotas: query timeout).
_RETENTION_SECONDS = 3600
_LINES, _PARQUET, _UNFINISHED, _MERGED = ".ndjson", ".parquet", ".tmp", "-merged"
SOURCES = ".sources"
_COLUMNS = (
    "{'id': 'VARCHAR', 'timestamp': 'BIGINT', 'ingestion_time': 'BIGINT', "
    "'log_stream': 'VARCHAR', 'message': 'VARCHAR'}"
)


class OpenSegment:
    """A segment that this process appends to.

    Parameters
    ----------
    folder : Path
        The existing folder of the log group.
    name : str
        The unique name of the segment.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.events = 0
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        self._file = os.open(folder / f"{name}{_LINES}", flags, 0o644)
        self._closing = weakref.finalize(self, os.close, self._file)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def append(self, events: list[LogEvent]) -> None:
        """Write events to the operating system, so that they outlive this process."""
        lines = memoryview(b"".join(map(line_of, events)))
        while lines:
            lines = lines[os.write(self._file, lines) :]
        self.events += len(events)

    def close(self) -> None:
        """Release the lock, as the end of the process does; nothing may be appended afterwards."""
        self._closing()


class Segments:
    """The segments of one log group.

    Parameters
    ----------
    folder : Path
        The folder of the group's files.
    checked : CheckedFiles
        The Parquet files of any group that need not be compared with their digests again.
    checked_lines : CheckedLines
        The JSON lines of any group that need not be compared with their checksums again.
    """

    def __init__(self, folder: Path, checked: CheckedFiles, checked_lines: CheckedLines) -> None:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        self._folder, self._checked, self._checked_lines = folder, checked, checked_lines
        parquet = [file for file in files if file.suffix == _PARQUET]
        superseded = {source for file in parquet for source in superseded_by(file)}
        self._parquet = [file for file in parquet if file not in superseded]
        self._lines = [file for file in files if file.suffix == _LINES]
        folded = {file.stem for file in parquet}
        self._unfolded = [file for file in self._lines if file.stem not in folded]

    def select(self, *, without: Collection[Path] = ()) -> str | None:
        """Return the SELECT of all events outside the files ``without``, None if no file is left.

        The columns are the fields of `LogEvent` and ``size``, the bytes of the message. Every line
        must be an event. In a file that a process still appends to, the last line may be cut off,
        and damage is found only when the file is folded.

        Raises
        ------
        LogStoreError
            If a Parquet file does not have its digest, or a line its checksum.
        """
        selects = []
        self._checked.check(self._parquet)
        for file in self._unfolded:
            self._checked_lines.check(file)
        if parquet := [file for file in self._parquet if file not in without]:
            selects.append(select_folded(parquet))
        growing = [file for file in self._unfolded if not _is_complete(file)]
        complete = [file for file in self._unfolded if file not in growing]
        if complete:
            selects.append(_select_lines(complete))
        if growing:
            selects.append(_select_lines(growing, cut_off=True))
        return " UNION ALL BY NAME ".join(selects) or None

    def folded(self) -> list[Path]:
        """Return the Parquet files, which never change."""
        return self._parquet

    def streams(self) -> list[str]:
        """Return the log streams that have events, sorted."""
        names = {event.log_stream for event in self._unfolded_events()}
        names.update(stream for (stream,) in self._query_parquet("SELECT DISTINCT log_stream"))
        return sorted(names)

    def read(self, stream: str | None, start: int, end: int) -> Iterator[LogEvent]:
        """Yield the events of a stream, or of all streams, between two times, in no order.

        Raises
        ------
        LogStoreError
            If a line of a file is not an event, or a Parquet file does not have its digest.
        """
        for event in self._unfolded_events():
            if stream in {None, event.log_stream} and start <= event.timestamp <= end:
                yield event
        rows = self._query_parquet(
            f"SELECT {', '.join(LogEvent._fields)}",
            "WHERE log_stream = coalesce(?, log_stream) AND timestamp BETWEEN ? AND ?",
            [stream, start, end],
        )
        yield from map(LogEvent._make, rows)

    def _unfolded_events(self) -> Iterator[LogEvent]:
        """Yield the events that are not in Parquet yet."""
        for file in self._unfolded:
            *lines, _cut_off = read_regular(file).split(b"\n")
            for number, line in enumerate(lines, 1):
                try:
                    yield event_of(line)
                except ValueError as error:
                    problem = f"{file}, line {number}: not an event"
                    raise LogStoreError(f"{problem}; {DOCTOR}") from error

    def _query_parquet(
        self, select: str, where: str = "", values: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        if not self._parquet:
            return []
        self._checked.check(self._parquet)
        files = f"read_parquet({_names(self._parquet)})"
        with self._naming_damage(), cursor() as connection:
            return connection.execute(f"{select} FROM {files} {where}", values).fetchall()

    def damage(self) -> str | None:
        """Return a sentence about the first file that cannot be read, None if all can."""
        for file in self._parquet:
            if problem := problem_of(file):
                return f"{file} is damaged: {problem}; {DOCTOR}"
        try:
            deque(self._unfolded_events(), maxlen=0)
        except LogStoreError as error:
            return str(error)
        return None

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise LogStoreError(self.damage() or str(error)) from error

    def fold(self, group: str, templated_bytes: int) -> None:
        """Write every complete segment as Parquet, and remove JSON lines that were folded long ago.

        A segment of at least ``templated_bytes`` gets templates.

        Raises
        ------
        LogStoreError
            If a line of a segment is not an event; the segment stays unchanged.
        """
        for file in self._unfolded:
            _fold(file, group, self._checked_lines, templated_bytes)
        for file in self._lines:
            parquet = file.with_suffix(_PARQUET)
            if parquet in self._parquet and _age(parquet) > _RETENTION_SECONDS:
                file.unlink(missing_ok=True)

    def merge(self, most_events: int, templated_bytes: int) -> None:
        """Merge small Parquet files into one of at most ``most_events``, and remove old sources.

        The events of at least ``templated_bytes`` get templates.
        """
        if not self._parquet:
            return
        _clear(self._folder)
        # JSON lines that still exist would count again without their Parquet file.
        lines = {file.stem for file in self._lines}
        files = [file for file in self._parquet if file.stem not in lines]
        with self._naming_damage():
            _merge_small(self._folder, files, most_events, templated_bytes)


def _fold(file: Path, group: str, checked: CheckedLines, templated_bytes: int) -> None:
    with _completeness(file) as complete:
        # Another process may have folded the file since the folder was listed.
        if complete and not file.with_suffix(_PARQUET).exists():
            checked.check(file)
            _write_parquet(file, group, templated_bytes)


def _is_complete(file: Path) -> bool:
    with _completeness(file) as complete:
        return complete


@contextmanager
def _completeness(file: Path) -> Iterator[bool]:
    """Try to lock a file, and yield whether it is complete: no process appends to it any more.

    The cut-off last line of a complete file is removed: its append never returned.
    """
    try:
        descriptor = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        yield False  # another process folded and removed the file
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The process that created an empty file may be about to lock it.
        size = os.fstat(descriptor).st_size
        if size:
            _cut(file, descriptor, size)
        yield size > 0
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _cut(file: Path, descriptor: int, size: int) -> None:
    if os.pread(descriptor, 1, size - 1) != b"\n":
        os.ftruncate(descriptor, file.read_bytes().rfind(b"\n") + 1)


def _write_parquet(file: Path, group: str, templated_bytes: int) -> None:
    events = f"SELECT {quoted(group)} AS log_group, * FROM ({_select_lines([file])})"  # noqa: S608 (texts are quoted)
    try:
        select = sorted_events(events, file.stat().st_size, templated_bytes)
        with parquet_of(select, file.with_suffix(_UNFINISHED), threads=1) as unfinished:
            publish(unfinished, file.with_suffix(_PARQUET))
    except duckdb.InvalidInputException as error:
        raise LogStoreError(f"{file}: {str(error).partition(chr(10))[0]}") from error


def _select_lines(files: list[Path], *, cut_off: bool = False) -> str:
    lines = (
        f"read_json({_names(files)}, format = 'newline_delimited', columns = {_COLUMNS}, "
        f"ignore_errors = {cut_off}, filename = TRUE)"
    )
    if cut_off:
        lines += " WHERE timestamp IS NOT NULL"
    columns = (
        f"coalesce({name}, error(filename || ': a line is not an event')) AS {name}"
        for name in LogEvent._fields
    )
    return f"SELECT {', '.join(columns)}, strlen(message) AS size FROM {lines}"  # noqa: S608


def select_folded(files: Sequence[Path], others: Iterable[str] = ()) -> str:
    """Return the SELECT of the events of Parquet files, with ``others`` of their columns."""
    columns = ", ".join((*LogEvent._fields, "size", *others))
    return f"SELECT {columns} FROM read_parquet({_names(files)})"  # noqa: S608


def _names(files: Sequence[Path]) -> str:
    return f"[{', '.join(quoted(str(file)) for file in files)}]"


def superseded_by(file: Path) -> list[Path]:
    """Return the sources of a merged segment, none for any other Parquet segment.

    Raises
    ------
    LogStoreError
        If their list is damaged.
    """
    if not file.stem.endswith(_MERGED):
        return []
    listed = file.with_suffix(SOURCES)
    try:
        return [file.with_name(name) for name in json.loads(listed.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []  # the list was removed, long after the last source
    except (ValueError, TypeError):
        problem = f"{listed} is damaged: it is not a list of segments"
        raise LogStoreError(f"{problem}; {DOCTOR}") from None


def write_sources(merged: Path, sources: Sequence[Path]) -> None:
    """Write the list of the sources of a merged segment; its content is then on the disk."""
    write_synced(merged.with_suffix(SOURCES), json.dumps([source.name for source in sources]))


def _merge_small(
    folder: Path, files: Sequence[Path], most_events: int, templated_bytes: int
) -> None:
    """Merge small files if there are many. Each file counts; no other one has its events."""
    with _merge_lock(folder) as free:
        # Another process may have merged some files since the caller listed them.
        merges = folder.glob(f"*{_MERGED}.parquet")
        excluded = {file for merged in merges for file in _with_sources(merged)}
        candidates = [file for file in files if file.exists() and file not in excluded]
        if free and len(candidates) >= MIN_FILES:
            sources = _small(candidates, most_events)
            if len(sources) >= MIN_FILES:
                _merge(folder, sources, templated_bytes)


def _clear(folder: Path) -> None:
    """Remove the sources of merges, and the files that killed processes left, once they are old."""
    for path in folder.glob(f"*{SOURCES}"):
        _clear_sources(path)
    leftovers = [*folder.glob(f"*{_UNFINISHED}"), *filter(_is_alone, folder.glob(f"*{DIGEST}"))]
    for path in leftovers:
        if _age(path) > _RETENTION_SECONDS:
            path.unlink(missing_ok=True)


def _clear_sources(path: Path) -> None:
    """Remove the sources of a merged segment, and later their list."""
    merged = path.with_suffix(_PARQUET)
    if not merged.exists():
        if _age(path) > _RETENTION_SECONDS:
            path.unlink(missing_ok=True)
        return
    sources = [source for source in superseded_by(merged) if source.exists()]
    if _age(merged) > _RETENTION_SECONDS:
        for source in sources:
            source.unlink(missing_ok=True)
    if not sources and _age(merged) > 2 * _RETENTION_SECONDS:
        path.unlink(missing_ok=True)


def _is_alone(digest: Path) -> bool:
    return not digest.with_suffix(_PARQUET).exists()


def _with_sources(merged: Path) -> list[Path]:
    """Return a merged segment and its sources, nothing if it has no sources."""
    sources = superseded_by(merged)
    return [merged, *sources] if sources else []


def _small(files: Sequence[Path], most_events: int) -> list[Path]:
    """Return the oldest small segments that fit into one merged segment."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT file_name, num_rows FROM parquet_file_metadata({_names(files)})"  # noqa: S608
        ).fetchall()
    events = {Path(name): count for name, count in rows}
    small: list[Path] = []
    total = 0
    for file in files:
        total += events[file] if events[file] < most_events / 2 else 0
        if total > most_events:
            break
        if events[file] < most_events / 2:
            small.append(file)
    return small


def _merge(folder: Path, sources: Sequence[Path], templated_bytes: int) -> None:
    for source in sources:
        check(source)  # the digest of the merged segment would hide the damage
    name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}{_MERGED}"
    merged = folder / f"{name}.parquet"
    # Templates are of one file: another one may have other constants.
    columns = f"log_group, {', '.join(LogEvent._fields)}, size"
    events = f"SELECT {columns} FROM read_parquet({_names(sources)})"  # noqa: S608
    size = sum(source.stat().st_size for source in sources)
    select = sorted_events(events, size, templated_bytes)
    with parquet_of(select, merged.with_suffix(_UNFINISHED), threads=1) as unfinished:
        write_sources(merged, sources)
        # Without its list a merged segment would count beside its sources.
        sync_folder(folder)
        publish(unfinished, merged)


@contextmanager
def _merge_lock(folder: Path) -> Iterator[bool]:
    """Try to lock a folder for a merge, and yield whether this process has the lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _age(path: Path) -> float:
    """Return the seconds since a file was written, 0 if another process has removed it."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
