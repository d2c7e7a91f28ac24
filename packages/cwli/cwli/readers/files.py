"""Log files as events of queries: lines of text, JSON, and exports of AWS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from io import SEEK_END
from pathlib import Path

from cwli.insights.engine import EventsError
from cwli.insights.source import EventSource, events_of, quoted_path
from cwli.insights.values import quoted
from cwli.readers import log_file
from cwli.readers.clocks import S3_EXPORT, Clock, field_clock, once
from cwli.readers.folders import EVENT_FIELDS, LogFilesError, files_of
from cwli.readers.lines import LIMITS, UTF16, Harm, Limits, LineTooLongError, first_line, whole
from cwli.readers.log_file import (
    LOGGED_FIELDS,
    TABLES,
    Form,
    LogFile,
    inspect,
    opened,
)
from cwli.readers.packing import Packing

# Code points that no text has (Unicode, section 23.7: noncharacters).
_SEPARATOR = "\U0010ffff"
_NULL = "\U0010fffe"
_MARK = "\ufeff"
"""The byte order mark, which is not part of a text."""
_NO_TEXT = quoted("a line holds U+10FFFF, which is not a character")
_NO_TIME = quoted("a line without a time belongs to the event before")
_UNPACKED = {Packing.NONE: "none", Packing.GZIP: "gzip"}
"""The packings that DuckDB reads itself, by its names."""
_UNTIMED = "an event without a time: "
# DuckDB's CSV reader takes 0.3 ms for each file. DuckDB reads many files whole in a sixth of that,
# 2,048 at once in each thread, which bounds their size.
_MANY, _SMALL_BYTES = 16, 32 * 1024
# DuckDB streams this, so that a query takes no more memory for it.
_BORROWED = (
    "last_value(list_transform([{}], lambda t: CASE WHEN t IS NOT NULL THEN "
    "{{'file': filename, 'time': t}} END)[1] IGNORE NULLS) "
    "OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
)


class Untimed(Enum):
    """The treatment of an event whose time the clock of its file cannot read."""

    REFUSED = auto()
    """A query that needs its time fails."""
    OTHER_FORM = auto()
    """It has its time in another form; without one, a query that needs it fails."""
    BORROWED = auto()
    """It has its time in another form, or else the time of the event before."""


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
    and ``@logStream`` its name, unless the event names its stream. Prefixes of exports are not part
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
        that needs it fails, as `cwli.readers.log_file.untimed_event` tells.
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
    alike: dict[tuple[Form, bool, *tuple[object, ...]], list[LogFile]] = {}
    are_many = sum(map(_is_small, files)) >= _MANY
    for file in files:
        alike.setdefault((file.form, are_many and _is_small(file), *file.kind), []).append(file)
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
    if form in (Form.RECORDS, Form.OBJECTS):
        return _recorded(form, files, prefix, untimed)
    if form is Form.EVENTS:
        return _events(files, prefix, "format = 'newline_delimited'")
    if form is Form.LISTED:
        return _events(files, prefix, f"format = 'array', {_objects(files)}")
    if form is Form.ANSWER:
        return _answers(files, prefix)
    if form is Form.DELIVERY:
        return _deliveries(files, prefix)
    limit = f"{log_file.MOST_AT_ONCE:,} bytes"
    raise LogFilesError(f"{files[0].path}: its rows are not a whole CSV, or JSON of {limit}")


def _is_small(file: LogFile) -> bool:
    return file.packing is Packing.NONE and file.size <= _SMALL_BYTES


def _lines(files: Sequence[LogFile], prefix: str, limits: Limits, untimed: Untimed) -> EventSource:
    if files[0].returns:
        for file in files:
            file.check_returns()
    is_whole = len(files) >= _MANY and all(map(_is_small, files))
    read = _whole(files) if is_whole else _in_buffers(files, limits)
    rows = (
        f"(SELECT line, filename, row_number() OVER () AS number FROM {read} "  # noqa: S608
        f"WHERE {_is_event(files[0])})"
    )
    change_time = _change_times_of(files)
    clock = files[0].clock
    first, message = "line", clock.message("line") if clock else "line"
    if any(file.has_marks() for file in files):
        rows = f"(SELECT *, {first_line('line')} AS first FROM {rows})"  # noqa: S608
        first, message = "first", whole(message)
    rows, time = _timed(files, rows, first, untimed)
    stream = clock.stream(first) if clock else "NULL"
    return events_of(
        rows,
        timestamp=time,
        ingestion_time=change_time,
        log=_log_of(files),
        log_stream=f"coalesce({stream}, {_stream_of(files)})",
        message=message,
        ptr=_pointer(prefix),
    )


def _whole(files: Sequence[LogFile]) -> str:
    """Return the operand of FROM for the lines of small files; each file is read whole."""
    text = f"CASE WHEN starts_with(content, '{_MARK}') THEN content[2:] ELSE content END"
    line = "rtrim(l, chr(13))" if files[0].returns else "l"
    lines = f"string_split({text}, chr(10))[{files[0].headers + 1}:]"
    lines = f"list_filter({lines}, lambda l: {line} <> '')"
    lines = f"list_transform({lines}, lambda l: {line})" if files[0].returns else lines
    names = ", ".join(quoted_path(file.path) for file in files)
    read = f"SELECT unnest({lines}) AS line, filename FROM read_text([{names}])"  # noqa: S608
    return f"(SELECT *, nullif(contains(line, '{_SEPARATOR}'), FALSE) AS rest FROM ({read}))"  # noqa: S608


def _in_buffers(files: Sequence[LogFile], limits: Limits) -> str:
    """Return the operand of FROM for the lines of files that are read in buffers.

    DuckDB's CSV reader reads text in parallel and in bounded memory: here as one column, with a
    separator that no text has. In its strict mode a carriage return is an error, and else a line
    end, which only those before line feeds are.
    """
    buffer, harm = _buffer(files, limits)
    return (
        f"read_csv({_source_of(files)}, columns = {{'line': 'VARCHAR', 'rest': 'VARCHAR'}}, "
        f"delim = '{_SEPARATOR}', nullstr = '{_NULL}', quote = '', escape = '', comment = '', "
        f"header = FALSE, skip = {files[0].headers}, auto_detect = FALSE, "
        f"strict_mode = {not files[0].returns}, null_padding = TRUE, new_line = '\\n', "
        f"max_line_size = {limits.line}, buffer_size = {buffer}, "
        f"parallel = {harm is Harm.NONE}, filename = TRUE)"
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


def _events(files: Sequence[LogFile], prefix: str, layout: str) -> EventSource:
    """Return events of CloudWatch Logs, each on a line or all in one array."""
    columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in LOGGED_FIELDS.items())
    read = _read_json(files, f"{{{columns}}}", layout)
    return _logged(f"FROM {read}", prefix, files, log='"@log"')


def _answers(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events that `aws logs filter-log-events` and `get-log-events` print."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in EVENT_FIELDS.items())
    read = _read_json(files, f"{{'events': 'STRUCT({columns})[]'}}", _one_object(files))
    return _logged(
        f"SELECT filename, unnest(events, recursive := TRUE) FROM {read}",  # noqa: S608
        prefix,
        files,
    )


def _deliveries(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events that subscriptions deliver, without the checks of their destinations."""
    columns = (
        "{'messageType': 'VARCHAR', 'owner': 'VARCHAR', 'logGroup': 'VARCHAR', "
        "'logStream': 'VARCHAR', 'logEvents': 'STRUCT(timestamp BIGINT, message VARCHAR)[]'}"
    )
    return _logged(
        "SELECT filename, owner, logGroup, logStream AS logStreamName, "  # noqa: S608
        "NULL::BIGINT AS ingestionTime, unnest(logEvents, recursive := TRUE) "
        f"FROM {_read_json(files, columns, _objects(files))} WHERE messageType = 'DATA_MESSAGE'",
        prefix,
        files,
        log="owner || ':' || logGroup",
    )


def _logged(select: str, prefix: str, files: Sequence[LogFile], log: str = "NULL") -> EventSource:
    """Return events as CloudWatch Logs has them; ``log`` is SQL for their own ``@log``, or null."""
    change_time = _change_times_of(files)
    return events_of(
        f"(SELECT *, row_number() OVER () AS number FROM ({select}))",  # noqa: S608
        timestamp=f"coalesce(timestamp, {change_time})",
        ingestion_time=f"coalesce(ingestionTime, timestamp, {change_time})",
        log=f"coalesce({log}, {_log_of(files)})",
        log_stream=f"coalesce(logStreamName, parse_filename({_log_of(files)}))",
        message="coalesce(message, '')",
        ptr=_pointer(prefix),
    )


def _recorded(form: Form, files: Sequence[LogFile], prefix: str, untimed: Untimed) -> EventSource:
    """Return the records in files of CloudTrail, or any objects, as events."""
    is_trail = form is Form.RECORDS
    record = "unnest(Records)" if is_trail else "json"
    read = (
        _read_json(files, "{'Records': 'JSON[]'}", _one_object(files))
        if is_trail
        else _read_json(files, "{'json': 'JSON'}", f"records = FALSE, {_objects(files)}")
    )
    rows = (
        "(SELECT *, row_number() OVER () AS number FROM "  # noqa: S608
        f"(SELECT filename, CAST({record} AS VARCHAR) AS record FROM {read}))"
    )
    change_time = _change_times_of(files)
    time = f"coalesce({field_clock('eventTime').sql('record', change_time)}, {change_time})"
    if not is_trail:
        rows, time = _timed(files, rows, "record", untimed)
    return events_of(
        rows,
        timestamp=time,
        ingestion_time=change_time,
        log=_log_of(files),
        log_stream=_stream_of(files),
        message="record",
        ptr=_pointer(prefix),
    )


def _pointer(prefix: str) -> str:
    return f"'{prefix}' || lpad(number::VARCHAR, 12, '0')"


def _read_json(files: Sequence[LogFile], columns: str, options: str) -> str:
    return f"read_json({_source_of(files)}, columns = {columns}, {options}, filename = TRUE)"


def _objects(files: Sequence[LogFile]) -> str:
    """Return the option of files with many objects: a small file may be a single one."""
    largest = _largest_of(files)
    most = largest + 1 if largest <= log_file.MOST_AT_ONCE else log_file.MOST_OBJECT
    return f"maximum_object_size = {most}"


def _one_object(files: Sequence[LogFile]) -> str:
    """Return the option of files with one object each.

    Raises
    ------
    LogFilesError
        If a file is too large to be read at once; a copy reads it in parts.
    """
    largest, most = _largest_of(files), log_file.MOST_AT_ONCE
    if largest > most:
        raise LogFilesError(f"{files[0].path}: its JSON has more than {most:,} bytes")
    return f"maximum_object_size = {largest + 1}"


def _source_of(files: Sequence[LogFile]) -> str:
    """Return the first arguments of a DuckDB reader: files that are packed alike.

    Raises
    ------
    LogFilesError
        If DuckDB does not unpack them, or reads no text in their encoding.
    """
    packing = files[0].packing
    if files[0].encoding == UTF16:
        raise LogFilesError(f"{files[0].path}: DuckDB reads no text in UTF-16")
    if packing not in _UNPACKED:
        raise LogFilesError(f"{files[0].path}: DuckDB does not unpack {packing.name.lower()}")
    names = ", ".join(quoted_path(file.path) for file in files)
    return f"[{names}], compression = {quoted(_UNPACKED[packing])}"


def _log_of(files: Sequence[LogFile]) -> str:
    """Return SQL for the name of the file."""
    if all(str(file.path) == file.name for file in files):
        return "filename"
    return _of_each(files, [quoted(file.name) for file in files])


def _stream_of(files: Sequence[LogFile]) -> str:
    """Return SQL for the log stream of a file: its name, or the folder of an export to S3."""
    if files[0].clock is S3_EXPORT:
        return f"parse_path({_log_of(files)})[-2]"
    return f"parse_filename({_log_of(files)})"


def _largest_of(files: Sequence[LogFile]) -> int:
    """Return the unpacked size of the largest file [B]."""
    sizes = []
    for file in files:
        with opened(file.path) as content:
            sizes.append(content.seek(0, SEEK_END))
    return max(sizes)


def _change_times_of(files: Sequence[LogFile]) -> str:
    """Return SQL for the time of the last change of a file [ms since 1970-01-01 UTC]."""
    return f"{_of_each(files, [str(file.change_time) for file in files])}::BIGINT"


def _timed_later_of(files: Sequence[LogFile]) -> str:
    """Return SQL for the first line of a file with a time, '' if it is the first of all."""
    return _of_each(files, [quoted(file.timed_later) for file in files])


def _of_each(files: Sequence[LogFile], values: Sequence[str]) -> str:
    """Return SQL for the value of a file."""
    if len(set(values)) == 1:
        return values[0]
    pairs = zip((quoted(str(file.path)) for file in files), values, strict=True)
    return f"(MAP {{{', '.join(map(': '.join, pairs))}}})[filename]"


def _timed(files: Sequence[LogFile], rows: str, text: str, untimed: Untimed) -> tuple[str, str]:
    """Return rows of events that are alike, and SQL for the time of each [ms since 1970].

    ``rows`` is the operand of FROM, with the column ``filename``, in the order of the events, and
    ``text`` is SQL for the text that has the time.
    """
    clock, change_time = files[0].clock, _change_times_of(files)
    time = clock.sql(text, change_time) if clock else "NULL"
    if clock and untimed is not Untimed.REFUSED:
        time = f"coalesce({time}, {clock.other_sql(text, change_time)})"
    if clock and files[0].is_timed and untimed is Untimed.BORROWED:
        rows = f"(SELECT *, {_BORROWED.format(time)} AS borrowed FROM {rows})"  # noqa: S608
        time = "CASE WHEN borrowed.file = filename THEN borrowed.time END"
        if any(file.timed_later for file in files):
            first = once(_timed_later_of(files), clock.sql("t", change_time))
            time = f"coalesce({time}, {first})"
    elif files[0].is_timed:
        event = f"{_log_of(files)} || ': ' || left({text}, 60)"
        return rows, f"coalesce({time}, error('{_UNTIMED}' || {event}))"
    return rows, f"coalesce({time}, {change_time})"


def untimed_event(error: EventsError) -> str | None:
    """Return the file and the text of the event whose lack of a time is an error, else None."""
    _, found, event = str(error).partition(_UNTIMED)
    return event if found else None
