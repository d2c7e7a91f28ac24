"""Events in files of JSON: those of the AWS CLI and of CloudTrail, and any objects."""

from __future__ import annotations

from collections.abc import Sequence

from local.insights.source import EventSource, events_of
from local.logs.clocks import field_clock
from local.logs.log_file import (
    EVENT_FIELDS,
    LogFile,
    change_times_of,
    largest_of,
    log_of,
    source_of,
    stream_of,
)
from local.logs.timing import timed


def events(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events in files of what the AWS CLI prints as one event on each line."""
    read = (
        f"read_json({source_of(files)}, format = 'newline_delimited', columns = {_columns()}, "
        "filename = TRUE)"
    )
    return _logged(f"FROM {read}", prefix, files)


def answers(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events that `aws logs filter-log-events` and `get-log-events` print."""
    members = ", ".join(f"{name} {type_}" for name, type_ in EVENT_FIELDS.items())
    read = (
        f"read_json({source_of(files)}, columns = {{'events': 'STRUCT({members})[]'}}, "
        f"maximum_object_size = {largest_of(files) + 1}, filename = TRUE)"
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
        f"read_json({source_of(files)}, columns = {{'messageType': 'VARCHAR', "
        f"'logStream': 'VARCHAR', 'logEvents': '{event}'}}, "
        f"maximum_object_size = {largest_of(files) + 1}, filename = TRUE)"
    )
    return _logged(
        "SELECT filename, logStream AS logStreamName, NULL::BIGINT AS ingestionTime, "  # noqa: S608
        f"unnest(logEvents, recursive := TRUE) FROM {read} WHERE messageType = 'DATA_MESSAGE'",
        prefix,
        files,
    )


def records(files: Sequence[LogFile], prefix: str) -> EventSource:
    """Return the events in files of CloudTrail."""
    change_time = change_times_of(files)
    time = field_clock("eventTime").sql("record", change_time)
    rows = _records(files, "{'Records': 'JSON[]'}", "unnest(Records)")
    return _recorded(rows, f"coalesce({time}, {change_time})", prefix, files)


def objects(files: Sequence[LogFile], prefix: str, *, borrowing: bool) -> EventSource:
    """Return the events in files of JSON objects, in an array or one after the other."""
    rows = _records(files, "{'json': 'JSON'}", "json", ", records = FALSE")
    return _recorded(*timed(files, rows, "record", borrowing=borrowing), prefix, files)


def _records(files: Sequence[LogFile], columns: str, record: str, option: str = "") -> str:
    """Return the rows of JSON documents, each with the text of a ``record`` of them."""
    read = (
        f"read_json({source_of(files)}, columns = {columns}{option}, "
        f"maximum_object_size = {largest_of(files) + 1}, filename = TRUE)"
    )
    return (
        "(SELECT *, row_number() OVER () AS number FROM "  # noqa: S608
        f"(SELECT filename, CAST({record} AS VARCHAR) AS record FROM {read}))"
    )


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


def _logged(select: str, prefix: str, files: Sequence[LogFile]) -> EventSource:
    change_time = change_times_of(files)
    return events_of(
        f"(SELECT *, row_number() OVER () AS number FROM ({select}))",  # noqa: S608
        timestamp=f"coalesce(timestamp, {change_time})",
        ingestion_time=f"coalesce(ingestionTime, timestamp, {change_time})",
        log=log_of(files),
        log_stream=f"coalesce(logStreamName, parse_filename({log_of(files)}))",
        message="coalesce(message, '')",
        ptr=f"'{prefix}' || lpad(number::VARCHAR, 12, '0')",
    )


def _columns() -> str:
    return "{" + ", ".join(f"'{name}': '{type_}'" for name, type_ in EVENT_FIELDS.items()) + "}"
