"""Log files as events of queries: lines of text, and exports of AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cwli.insights.source import EventSource, events_of
from cwli.insights.values import quoted
from cwli.readers import json_files
from cwli.readers.clocks import Clock
from cwli.readers.folders import LogFilesError, files_of
from cwli.readers.lines import LIMITS, Harm, Limits, LineTooLongError, first_line, whole
from cwli.readers.log_file import (
    TABLES,
    Form,
    LogFile,
    change_times_of,
    inspect,
    log_of,
    opened,
    source_of,
    stream_of,
)
from cwli.readers.packing import Packing
from cwli.readers.timing import Untimed, timed

# Code points that no text has (Unicode, section 23.7: noncharacters).
_SEPARATOR = "\U0010ffff"
_NULL = "\U0010fffe"
_NO_TEXT = quoted("a line holds U+10FFFF, which is not a character")
_NO_TIME = quoted("a line without a time belongs to the event before")


def log_files(
    paths: Iterable[Path],
    limits: Limits = LIMITS,
    clock: Clock | None = None,
    copies: Mapping[Path, Path | None] | None = None,
    *,
    untimed: Untimed = Untimed.REFUSED,
    name_of: Callable[[Path], str] = str,
) -> EventSource:
    """Return the lines or log events of files as events of queries.

    A line of text ends at a line feed, with or without carriage returns before it. An empty line is
    not an event, since PutLogEvents refuses empty messages. The file's clock reads the time of a
    line; without a clock it is the time of the file's last change. ``@log`` is the path of the file
    and ``@logStream`` its name, unless the event names its stream. Prefixes of exports are no part
    of messages.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders. A folder stands for every file below it with one of
        `SUFFIXES`, with none, or with the suffix of a rotation. Files that gzip
        packed are unpacked.
    limits : Limits, optional
        The sizes by which text is read.
    clock : Clock, optional
        The clock of each file; by default its first lines choose it.
    copies : dict of Path to Path or None, optional
        The files to read in place of some, or these themselves, with an event on each line; None
        leaves a file out.
    untimed : Untimed, optional
        What becomes of an event whose time the clock of its file cannot read. By default a query
        that needs it fails, as `cwli.readers.timing.untimed_event` tells.
    name_of : callable, optional
        Returns the ``@log`` of a file; by default its path.

    Raises
    ------
    LogFilesError
        If a path does not exist, cannot be read or is a folder without logs, or if a line of text
        is too long.
    """
    return events_in(inspected(paths, clock, copies, name_of), limits, untimed)


def events_in(
    files: Sequence[LogFile], limits: Limits = LIMITS, untimed: Untimed = Untimed.REFUSED
) -> EventSource:
    """Return the events in files, as `log_files` does."""
    alike: dict[tuple[Form, *tuple[object, ...]], list[LogFile]] = {}
    for file in files:
        alike.setdefault((file.form, *file.kind), []).append(file)
    events = EventSource.union(
        (
            _source(form, group, f"{place}-", limits, untimed)
            for place, ((form, *_), group) in enumerate(alike.items())
        ),
        sum(file.size for file in files),
    )
    return replace(events, notes=tuple(_notes(files)))


def _notes(files: Iterable[LogFile]) -> Iterator[str]:
    """Yield a sentence for each kind of note, with the name of the first file."""
    named: dict[str, list[str]] = {}
    for file in files:
        if file.note:
            named.setdefault(file.note, []).append(file.name)
    for note, (first, *others) in named.items():
        yield f"{first}: {note}" + (f"; other such files: {len(others):,}" if others else "")


def name_groups(files: Iterable[LogFile]) -> bool:
    """Tell whether events in some of the files name their log groups, as their ``@log``."""
    return any(file.form in (Form.DELIVERY, *TABLES) for file in files)


def inspected(
    paths: Iterable[Path],
    clock: Clock | None = None,
    copies: Mapping[Path, Path | None] | None = None,
    name_of: Callable[[Path], str] = str,
) -> list[LogFile]:
    """Return the files that `log_files` reads, by the same parameters, without reading them whole.

    Raises
    ------
    LogFilesError
        If a file cannot be read, or a folder holds no logs.
    """
    copies, files, before = copies or {}, list[LogFile](), None
    for original in files_of(paths):
        if path := copies.get(original, original):
            is_joined, name = original in copies, name_of(original)
            file = inspect(original, path, clock, is_joined=is_joined, name=name, before=before)
            before = file.clock or before
            files.append(file)
    return files


def _source(
    form: Form, files: Sequence[LogFile], prefix: str, limits: Limits, untimed: Untimed
) -> EventSource:
    if form is Form.TEXT:
        return _lines(files, prefix, limits, untimed)
    if form in TABLES:
        limit = f"{json_files.MOST_AT_ONCE:,} bytes"
        raise LogFilesError(f"{files[0].path}: its rows are not a whole CSV, or JSON of {limit}")
    if form is Form.OBJECTS:
        return json_files.objects(files, prefix, untimed)
    sources = {
        Form.EVENTS: json_files.events,
        Form.LISTED: json_files.listed,
        Form.ANSWER: json_files.answers,
        Form.RECORDS: json_files.records,
        Form.DELIVERY: json_files.deliveries,
    }
    return sources[form](files, prefix)


def _lines(files: Sequence[LogFile], prefix: str, limits: Limits, untimed: Untimed) -> EventSource:
    buffer, harm = _buffer(files, limits)
    if files[0].returns:
        for file in files:
            file.check_returns()
    # DuckDB's CSV reader reads text in parallel and in bounded memory: here as one column, with a
    # separator that no text has. In its strict mode a carriage return is an error, and else a line
    # end, which only those before line feeds are.
    read = (
        f"read_csv({source_of(files)}, columns = {{'line': 'VARCHAR', 'rest': 'VARCHAR'}}, "
        f"delim = '{_SEPARATOR}', nullstr = '{_NULL}', quote = '', escape = '', comment = '', "
        f"header = FALSE, skip = {files[0].headers}, auto_detect = FALSE, "
        f"strict_mode = {not files[0].returns}, null_padding = TRUE, new_line = '\\n', "
        f"max_line_size = {limits.line}, buffer_size = {buffer}, "
        f"parallel = {harm is Harm.NONE}, filename = TRUE)"
    )
    rows = (
        f"(SELECT line, filename, row_number() OVER () AS number FROM {read} "  # noqa: S608
        f"WHERE {_is_event(files[0])})"
    )
    change_time = change_times_of(files)
    clock = files[0].clock
    first, message = "line", clock.message("line") if clock else "line"
    if any(file.has_marks() for file in files):
        rows = f"(SELECT *, {first_line('line')} AS first FROM {rows})"  # noqa: S608
        first, message = "first", whole(message)
    rows, time = timed(files, rows, first, untimed)
    stream = clock.stream(first) if clock else "NULL"
    return events_of(
        rows,
        timestamp=time,
        ingestion_time=change_time,
        log=log_of(files),
        log_stream=f"coalesce({stream}, {stream_of(files)})",
        message=message,
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _is_event(file: LogFile) -> str:
    """Return SQL that is true for a line, and an error for a line that needs a copy."""
    # DuckDB evaluates a condition with error() before the filters of the query.
    begins = "TRUE" if file.clock is None or file.is_joined else file.clock.begins("line")
    return (
        f"CASE WHEN rest IS NOT NULL THEN error({_NO_TEXT}) WHEN {begins} THEN TRUE "
        f"ELSE error({_NO_TIME}) END"
    )


def _buffer(files: Sequence[LogFile], limits: Limits) -> tuple[int, Harm]:
    """Return the best buffer size that loses no line of the files, and its harm."""
    for buffer in limits.buffers:
        harms = {_harm(file, limits, buffer) for file in files}
        if Harm.LOST not in harms:
            return buffer, Harm.TWICE if Harm.TWICE in harms else Harm.NONE
    raise LogFilesError(
        f"{files[0].path}: the last line of this file, or of another file of the query, would be "
        "lost; end it with a line feed"
    )


def _harm(file: LogFile, limits: Limits, buffer: int) -> Harm:
    is_plain = file.packing is Packing.NONE and file.path == file.original
    if is_plain and file.size <= buffer:
        return Harm.NONE
    try:
        with opened(file.path) as content:
            return limits.harm(content, buffer)
    except LineTooLongError as error:
        raise LogFilesError(
            f"{file.path}: the line that begins at byte {error.args[0]:,} has more than "
            f"{limits.line:,} bytes, the maximum of an event"
        ) from None
