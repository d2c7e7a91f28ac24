"""Log files as events of queries: text, gzip and the output of the AWS CLI."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

from local.insights.source import EventSource, events_of, quoted_path
from local.insights.values import quoted
from local.logs.boundaries import LIMITS, Harm, Limits, LineTooLongError
from local.logs.clocks import S3_EXPORT, Clock, clock_of, field_clock
from local.logs.packing import PackingError, is_gzip, unpacked

SUFFIXES = (".log", ".txt", ".json", ".jsonl", ".ndjson", ".gz")
"""The suffixes of log files in a folder; files without a suffix are logs, too."""
# What rotations append to the name of a log: app.log.1, app.log-20240602, app.log.2024-06-02.
_ROTATED = re.compile(r"\.(?:log|txt|json|jsonl|ndjson)[.-][0-9][0-9.T_-]*$")

_PEEKED_BYTES = 2 * 1024 * 1024
_CLOCK_PEEKED = 64 * 1024
# Code points that no text has (Unicode, section 23.7: noncharacters).
_SEPARATOR = "\U0010ffff"
_NULL = "\U0010fffe"
# FilteredLogEvent and OutputLogEvent (AWS documentation, CloudWatch Logs API).
_FIELDS = {
    "timestamp": "BIGINT",
    "message": "VARCHAR",
    "ingestionTime": "BIGINT",
    "logStreamName": "VARCHAR",
    "eventId": "VARCHAR",
}
_ANSWER = re.compile(r'\s*\{\s*"events"\s*:\s*\[')
# AWS documentation, CloudTrail: log file examples.
_RECORDS = re.compile(r'\s*\{\s*"Records"\s*:\s*\[\s*\{\s*"eventVersion"')


# An export to S3 has a folder for each log stream (AWS documentation, CloudWatch Logs).
_EXPORTED = re.compile(r"[0-9]{6}(?:\.gz)?")


class LogFilesError(Exception):
    """A path without logs, or a file that cannot be read."""


class _Form(Enum):
    TEXT = "lines of text"
    EVENTS = "an event of CloudWatch Logs as a JSON object on each line"
    ANSWER = "what aws logs filter-log-events or get-log-events prints"
    RECORDS = "a file of CloudTrail"


@dataclass(frozen=True)
class _LogFile:
    original: Path
    """The file that the user names."""
    path: Path
    """The file to read: the original, or a copy."""
    form: _Form
    size: int
    change_time: int
    """The time of the last change [ms since 1970-01-01 UTC]."""
    clock: Clock | None
    """The form of the times in lines of text; None if the lines have none that is known."""
    gzip: bool
    """Whether the file is packed by gzip."""


def log_files(
    paths: Iterable[Path],
    limits: Limits = LIMITS,
    time_field: str | None = None,
    copies: Mapping[Path, Path | None] | None = None,
) -> EventSource:
    """Return the lines or log events of files as events of queries.

    A line of text ends at a line feed, a carriage return or both. An empty line is not an event,
    since PutLogEvents refuses empty messages. The time of a line is that of the file's clock, else
    the time of the file's last change. ``@log`` is the path
    of the file and ``@logStream`` its name, unless the event names its stream.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders. A folder stands for every file below it with one of ``SUFFIXES``, with
        none, or with the suffix of a rotation. Files that gzip packed are unpacked.
    limits : Limits, optional
        The sizes by which text is read.
    time_field : str, optional
        The JSON field that holds the time of each line; by default `clock_of` chooses the clock.
    copies : dict of Path to Path or None, optional
        The copies to read in place of some files; None leaves a file out.

    Raises
    ------
    LogFilesError
        If a path does not exist, cannot be read or is a folder without logs, or if a line of text
        is too long.
    """
    files = list(_inspected(paths, time_field, copies or {}))
    alike: dict[tuple[_Form, Clock | None, bool], list[_LogFile]] = {}
    for file in files:
        alike.setdefault((file.form, file.clock, file.gzip), []).append(file)
    return EventSource.union(
        (
            _source(form, group, f"{place}-", limits)
            for place, ((form, *_), group) in enumerate(alike.items())
        ),
        sum(file.size for file in files),
    )


def clocks_of(
    paths: Iterable[Path],
    time_field: str | None = None,
    copies: Mapping[Path, Path | None] | None = None,
) -> dict[Path, Clock | None]:
    """Return the clock of each file of text, None for a file without a known one."""
    files = _inspected(paths, time_field, copies or {})
    return {file.original: file.clock for file in files if file.form is _Form.TEXT}


def _inspected(
    paths: Iterable[Path], time_field: str | None, copies: Mapping[Path, Path | None]
) -> Iterator[_LogFile]:
    for original in files_of(paths):
        if path := copies.get(original, original):
            yield _inspect(original, path, time_field)


def _source(form: _Form, files: Sequence[_LogFile], prefix: str, limits: Limits) -> EventSource:
    if form is _Form.TEXT:
        return _lines(files, prefix, limits)
    sources = {_Form.EVENTS: _events, _Form.ANSWER: _answers, _Form.RECORDS: _records}
    return sources[form](files, prefix)


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield once each file that `log_files` reads.

    Raises
    ------
    LogFilesError
        If a folder holds no logs.
    """
    seen = set()
    for path in paths:
        below = _below(path) if path.is_dir() else [path]
        for file in below:
            if file not in seen:
                seen.add(file)
                yield file


def _below(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if _is_log(path) and path.is_file())
    if not files:
        raise LogFilesError(
            f"{folder}: this folder holds no logs; a log ends in {', '.join(SUFFIXES)}"
        )
    return files


def _is_log(path: Path) -> bool:
    hidden = path.name.startswith(".")
    return not hidden and (path.suffix in ("", *SUFFIXES) or _ROTATED.search(path.name) is not None)


def skipped_below(folder: Path) -> list[Path]:
    """Return the files below a folder that `log_files` does not read."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not _is_log(path))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its unpacked bytes.

    Raises
    ------
    LogFilesError
        If the file cannot be opened or read.
    """
    try:
        with unpacked(path) as file:
            yield file
    except (OSError, EOFError, zlib.error, PackingError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LogFilesError(f"{path}: this file cannot be read: {reason}") from None


def _inspect(original: Path, path: Path, time_field: str | None) -> _LogFile:
    with _opened(path) as file:
        status = original.stat()
        begin = file.read(_PEEKED_BYTES).decode(errors="replace").removeprefix("\ufeff")
    form = _form(begin)
    clock = field_clock(time_field) if time_field else clock_of(begin[:_CLOCK_PEEKED].splitlines())
    change_time = status.st_mtime_ns // 1_000_000
    if _EXPORTED.fullmatch(original.name) and any(map(S3_EXPORT.fits, begin.splitlines()[:1])):
        clock = S3_EXPORT
    if form is not _Form.TEXT:
        clock = None
    return _LogFile(original, path, form, status.st_size, change_time, clock, is_gzip(path))


def _form(begin: str) -> _Form:
    for pattern, form in ((_ANSWER, _Form.ANSWER), (_RECORDS, _Form.RECORDS)):
        if pattern.match(begin):
            return form
    first = begin.lstrip().partition("\n")[0]
    try:
        event = json.loads(first) if first.startswith("{") else None
    except ValueError:
        event = None
    # JSON lines of an application have other fields, or a time that is a text.
    is_event = (
        isinstance(event, dict)
        and event.keys() <= _FIELDS.keys()
        and isinstance(event.get("timestamp"), int)
        and isinstance(event.get("message"), str)
    )
    return _Form.EVENTS if is_event else _Form.TEXT


def _lines(files: Sequence[_LogFile], prefix: str, limits: Limits) -> EventSource:
    buffer, harm = _buffer(files, limits)
    # DuckDB's CSV reader reads text in parallel and in bounded memory: here as one column, with a
    # separator that no text has. Its lax mode accepts any mixture of line ends.
    read = (
        f"read_csv({_files(files)}, columns = {{'line': 'VARCHAR', 'rest': 'VARCHAR'}}, "
        f"delim = '{_SEPARATOR}', nullstr = '{_NULL}', quote = '', escape = '', comment = '', "
        "header = FALSE, auto_detect = FALSE, strict_mode = FALSE, null_padding = TRUE, "
        f"new_line = '\\n', max_line_size = {limits.line}, "
        f"buffer_size = {buffer}, parallel = {harm is Harm.NONE}, filename = TRUE)"
    )
    refusal = quoted("a line holds U+10FFFF, which is not a character")
    message = f"CASE WHEN rest IS NULL THEN line ELSE error({refusal}) END"
    rows = (
        f"(SELECT {message} AS line, filename, row_number() OVER () AS number "  # noqa: S608
        f"FROM {read})"
    )
    change_time = _change_times(files)
    clock = files[0].clock
    time = clock.sql("line", change_time) if clock else "NULL"
    stream = clock.stream("line") if clock else "NULL"
    return events_of(
        rows,
        timestamp=f"coalesce({time}, {change_time})",
        ingestion_time=change_time,
        log=_log(files),
        log_stream=f"coalesce({stream}, {_stream(files)})",
        message=clock.message("line") if clock else "line",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _buffer(files: Sequence[_LogFile], limits: Limits) -> tuple[int, Harm]:
    """Return the best buffer size that loses no line of the files, and its harm."""
    for buffer in limits.buffers:
        harms = {_harm(file, limits, buffer) for file in files}
        if Harm.LOST not in harms:
            return buffer, Harm.TWICE if Harm.TWICE in harms else Harm.NONE
    raise LogFilesError(
        f"{files[0].path}: the last line of this file, or of another file of the query, would be "
        "lost; end it with a line feed"
    )


def _harm(file: _LogFile, limits: Limits, buffer: int) -> Harm:
    try:
        with _opened(file.path) as opened:
            return limits.harm(opened, buffer)
    except LineTooLongError as error:
        raise LogFilesError(
            f"{file.path}: the line that begins at byte {error.args[0]:,} has more than "
            f"{limits.line:,} bytes, the maximum of an event"
        ) from None


def _events(files: Sequence[_LogFile], prefix: str) -> EventSource:
    read = (
        f"read_json({_files(files)}, format = 'newline_delimited', columns = {_columns()}, "
        "filename = TRUE)"
    )
    return _logged(f"FROM {read}", prefix, files)


def _answers(files: Sequence[_LogFile], prefix: str) -> EventSource:
    members = ", ".join(f"{name} {type_}" for name, type_ in _FIELDS.items())
    read = (
        f"read_json({_files(files)}, columns = {{'events': 'STRUCT({members})[]'}}, "
        f"maximum_object_size = {_largest(files) + 1}, filename = TRUE)"
    )
    return _logged(
        f"SELECT filename, unnest(events, recursive := TRUE) FROM {read}",  # noqa: S608
        prefix,
        files,
    )


def _records(files: Sequence[_LogFile], prefix: str) -> EventSource:
    read = (
        f"read_json({_files(files)}, columns = {{'Records': 'JSON[]'}}, "
        f"maximum_object_size = {_largest(files) + 1}, filename = TRUE)"
    )
    change_time = _change_times(files)
    time = field_clock("eventTime").sql("record", change_time)
    return events_of(
        f"(SELECT *, row_number() OVER () AS number FROM "  # noqa: S608
        f"(SELECT filename, CAST(unnest(Records) AS VARCHAR) AS record FROM {read}))",
        timestamp=f"coalesce({time}, {change_time})",
        ingestion_time=change_time,
        log=_log(files),
        log_stream=_stream(files),
        message="record",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _largest(files: Sequence[_LogFile]) -> int:
    """Return the unpacked size of the largest file [B]."""
    sizes = []
    for file in files:
        with _opened(file.path) as opened:
            sizes.append(opened.seek(0, SEEK_END))
    return max(sizes)


def _logged(select: str, prefix: str, files: Sequence[_LogFile]) -> EventSource:
    change_time = _change_times(files)
    return events_of(
        f"(SELECT *, row_number() OVER () AS number FROM ({select}))",  # noqa: S608
        timestamp=f"coalesce(timestamp, {change_time})",
        ingestion_time=f"coalesce(ingestionTime, timestamp, {change_time})",
        log=_log(files),
        log_stream=f"coalesce(logStreamName, parse_filename({_log(files)}))",
        message="coalesce(message, '')",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _files(files: Sequence[_LogFile]) -> str:
    """Return the first arguments of a DuckDB reader: files that are packed alike."""
    names = ", ".join(quoted_path(file.path) for file in files)
    return f"[{names}], compression = '{'gzip' if files[0].gzip else 'none'}'"


def _log(files: Sequence[_LogFile]) -> str:
    """Return SQL for the path of the original file."""
    if all(file.path == file.original for file in files):
        return "filename"
    pairs = (f"{quoted(str(file.path))}: {quoted(str(file.original))}" for file in files)
    return f"(MAP {{{', '.join(pairs)}}})[filename]"


def _stream(files: Sequence[_LogFile]) -> str:
    """Return SQL for the log stream of a file: its name, or the folder of an export to S3."""
    if files[0].clock is S3_EXPORT:
        return f"parse_path({_log(files)})[-2]"
    return f"parse_filename({_log(files)})"


def _columns() -> str:
    return "{" + ", ".join(f"'{name}': '{type_}'" for name, type_ in _FIELDS.items()) + "}"


def _change_times(files: Sequence[_LogFile]) -> str:
    times = {file.change_time for file in files}
    if len(times) == 1:
        return f"{times.pop()}::BIGINT"
    pairs = ", ".join(f"{quoted(str(file.path))}: {file.change_time}" for file in files)
    return f"(MAP {{{pairs}}})[filename]::BIGINT"
