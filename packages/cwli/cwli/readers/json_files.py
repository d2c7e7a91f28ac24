"""Events in JSON files: output of the AWS CLI, records of CloudTrail, and any objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from cwli.insights.source import EventSource, events_of
from cwli.readers.clocks import field_clock
from cwli.readers.folders import LogFilesError
from cwli.readers.log_file import (
    EVENT_FIELDS,
    LOGGED_FIELDS,
    LogFile,
    change_times_of,
    largest_of,
    list_begin,
    log_of,
    source_of,
    stream_of,
)
from cwli.readers.timing import Untimed, timed

MOST_AT_ONCE = 64 * 1024 * 1024
"""The size of a JSON document up to which it is read at once, in several times this memory [B]."""
_MOST_OBJECT = 16 * 1024 * 1024
_CHUNK = 1024 * 1024
_BETWEEN = re.compile(r"[\s,]*")


def events(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events in files of the AWS CLI's output, one event on each line."""
    return _events(files, prefix, "format = 'newline_delimited'")


def listed(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events in files of one array of such events."""
    return _events(files, prefix, f"format = 'array', maximum_object_size = {_most_object(files)}")


def _events(files: Sequence[LogFile], prefix: str, options: str) -> EventSource:
    columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in LOGGED_FIELDS.items())
    read = f"read_json({source_of(files)}, {options}, columns = {{{columns}}}, filename = TRUE)"
    return _logged(f"FROM {read}", prefix, files, log='"@log"')


def answers(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events that `aws logs filter-log-events` and `get-log-events` print."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in EVENT_FIELDS.items())
    read = (
        f"read_json({source_of(files)}, columns = {{'events': 'STRUCT({columns})[]'}}, "
        f"maximum_object_size = {_size_of_one(files)}, filename = TRUE)"
    )
    return _logged(
        f"SELECT filename, unnest(events, recursive := TRUE) FROM {read}",  # noqa: S608
        prefix,
        files,
    )


def deliveries(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events that subscriptions deliver, without the checks of their destinations."""
    event = "STRUCT(timestamp BIGINT, message VARCHAR)[]"
    read = (
        f"read_json({source_of(files)}, columns = {{'messageType': 'VARCHAR', 'owner': 'VARCHAR', "
        f"'logGroup': 'VARCHAR', 'logStream': 'VARCHAR', 'logEvents': '{event}'}}, "
        f"maximum_object_size = {_most_object(files)}, filename = TRUE)"
    )
    return _logged(
        "SELECT filename, owner, logGroup, logStream AS logStreamName, "  # noqa: S608
        "NULL::BIGINT AS ingestionTime, unnest(logEvents, recursive := TRUE) "
        f"FROM {read} WHERE messageType = 'DATA_MESSAGE'",
        prefix,
        files,
        log="owner || ':' || logGroup",
    )


def records(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events in files of CloudTrail."""
    change_time = change_times_of(files)
    time = field_clock("eventTime").sql("record", change_time)
    rows = _records(files, "{'Records': 'JSON[]'}", "unnest(Records)", _size_of_one(files))
    return _recorded(rows, f"coalesce({time}, {change_time})", prefix, files)


def objects(files: Sequence[LogFile], prefix: str, untimed: Untimed) -> EventSource:
    """Return the events in files of JSON objects, in an array or one after the other."""
    rows = _records(files, "{'json': 'JSON'}", "json", _most_object(files), ", records = FALSE")
    return _recorded(*timed(files, rows, "record", untimed), prefix, files)


def _records(
    files: Sequence[LogFile], columns: str, record: str, most_object: int, option: str = ""
) -> str:
    """Return the rows of JSON documents, each with the text of a ``record`` of them."""
    read = (
        f"read_json({source_of(files)}, columns = {columns}{option}, "
        f"maximum_object_size = {most_object}, filename = TRUE)"
    )
    return (
        "(SELECT *, row_number() OVER () AS number FROM "  # noqa: S608
        f"(SELECT filename, CAST({record} AS VARCHAR) AS record FROM {read}))"
    )


def _most_object(files: Sequence[LogFile]) -> int:
    """Return the most bytes of an object in files of many: a small file may be a single one."""
    largest = largest_of(files)
    return largest + 1 if largest <= MOST_AT_ONCE else _MOST_OBJECT


def _size_of_one(files: Sequence[LogFile]) -> int:
    """Return the most bytes of files of one object each.

    Raises
    ------
    LogFilesError
        If a file is too large to be read at once; `members` reads it in parts.
    """
    largest = largest_of(files)
    if largest > MOST_AT_ONCE:
        raise LogFilesError(f"{files[0].path}: its JSON has more than {MOST_AT_ONCE:,} bytes")
    return largest + 1


def members(text: TextIO) -> Iterator[object]:
    """Yield the events or records of a document, which is read in parts.

    Raises
    ------
    ValueError, RecursionError
        If the text is not JSON, ends early, or has a member that is too large.
    """
    decode, size = json.JSONDecoder().raw_decode, _CHUNK
    part = text.read(2 * _CHUNK)
    place = list_begin(part)
    while True:
        between = _BETWEEN.match(part, place)
        place = between.end() if between else place
        if part.startswith("]", place):
            return
        try:
            value, place = decode(part, place)
        except ValueError:
            more = text.read(size) if len(part) - place < _MOST_OBJECT else ""
            if not more:
                raise
            # A large member is decoded anew each time that it was cut, which doubles take once.
            part, place, size = part[place:] + more, 0, 2 * size
            continue
        size = _CHUNK
        yield value


def _recorded(rows: str, time: str, prefix: str, files: Sequence[LogFile]) -> EventSource:
    return events_of(
        rows,
        timestamp=time,
        ingestion_time=change_times_of(files),
        log=log_of(files),
        log_stream=stream_of(files),
        message="record",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _logged(select: str, prefix: str, files: Sequence[LogFile], log: str = "NULL") -> EventSource:
    """Return events as CloudWatch Logs has them; ``log`` is SQL for their own ``@log``, or null."""
    change_time = change_times_of(files)
    return events_of(
        f"(SELECT *, row_number() OVER () AS number FROM ({select}))",  # noqa: S608
        timestamp=f"coalesce(timestamp, {change_time})",
        ingestion_time=f"coalesce(ingestionTime, timestamp, {change_time})",
        log=f"coalesce({log}, {log_of(files)})",
        log_stream=f"coalesce(logStreamName, parse_filename({log_of(files)}))",
        message="coalesce(message, '')",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )
