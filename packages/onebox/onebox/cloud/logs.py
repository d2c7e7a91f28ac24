"""CloudWatch Logs on one machine: moto's log groups and streams over the log store.

moto keeps the groups and answers the API. The store keeps the events, so that they outlive the
cloud. Metrics in the embedded format become CloudWatch metrics when their line arrives. The
deletion of a log group hides its events but leaves them stored.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from moto.core.utils import unix_time_millis
from moto.logs.exceptions import InvalidParameterException, LogsClientError
from moto.logs.models import LogEvent, LogGroup, LogsBackend, LogStream, logs_backends
from moto.logs.responses import LogsResponse
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_pascal

from onebox.app import ACCOUNT, REGION
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.log_queries import LogQueries
from onebox.cloud.replacements import Replacements
from onebox.logs.store import LogEvent as StoredEvent
from onebox.logs.store import LogStore, LogStoreError

if TYPE_CHECKING:
    from _collections_abc import dict_items


_MARK = '"_aws"'


class _Member(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, frozen=True)


class _Metric(_Member):
    name: str
    unit: str = "None"
    storage_resolution: int = 60


class _Directive(_Member):
    namespace: str
    dimensions: list[list[str]] = [[]]
    metrics: list[_Metric] = []


class _Metadata(_Member):
    timestamp: int
    cloud_watch_metrics: list[_Directive]


def metrics_of(message: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (namespace, datum) for each value in a log line, as PutMetricData takes it.

    A line that is not in the format, and a metric or dimension set that refers to a missing
    member, yield nothing: the specification ignores them, and the line stays a log line.
    """
    if _MARK not in message:
        return
    try:
        document = json.loads(message)
        metadata = _Metadata.model_validate(document["_aws"])
    except (ValueError, TypeError, KeyError, ValidationError):
        return
    when = datetime.fromtimestamp(metadata.timestamp / 1000, UTC)
    for directive in metadata.cloud_watch_metrics:
        for datum in _data(directive, document):
            yield directive.namespace, {**datum, "Timestamp": when}


def _data(directive: _Directive, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for names in directive.dimensions:
        if not all(name in document for name in names):
            continue
        dimensions = [{"Name": name, "Value": str(document[name])} for name in names]
        for metric in directive.metrics:
            for value in _numbers(document.get(metric.name)):
                yield {
                    "MetricName": metric.name,
                    "Dimensions": dimensions,
                    "Unit": metric.unit,
                    "StorageResolution": metric.storage_resolution,
                    "Value": value,
                }


def _numbers(target: object) -> list[float]:
    values = target if isinstance(target, list) else [target]
    return [
        float(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


_log = logging.getLogger(__name__)
# The filter patterns that moto matches correctly: words that all occur, or one quoted phrase.
_FILTER_PATTERN = re.compile(r'[A-Za-z][\w ]*|"[^"]*"|')
_NOT_OVER_THE_STORE = (
    "create_export_task", "delete_log_stream", "put_metric_filter", "put_subscription_filter",
    "start_live_tail",
)  # fmt: skip


class CloudWatchLogs:
    """moto's log groups over a log store, until they are closed."""

    def __init__(self, store: LogStore, endpoint: Endpoint) -> None:
        self._store = store
        self._endpoint = endpoint
        self._queries = LogQueries(store)
        self._lock = threading.Lock()
        self._replacements = Replacements()
        self._replace_methods()

    def has_group(self, name: str) -> bool:
        """Tell whether a log group exists."""
        return name in _backend().groups

    def create_group(self, name: str) -> None:
        """Create a log group unless it exists, as Lambda does for its functions."""
        _backend().ensure_log_group(name)

    def write(self, group: str, stream: str, lines: Sequence[str]) -> None:
        """Store new output lines of a program; create the stream if it does not exist."""
        with self._lock:  # a program's output and the lines about it may coincide
            _backend().ensure_log_stream(group, stream)
        now = _now_ms()
        self._store_events(group, stream, [(now, line) for line in lines])

    def close(self) -> None:
        """End the queries, and restore moto's own methods."""
        self._queries.close()
        self._replacements.restore()

    def _replace_methods(self) -> None:
        """Put the store behind moto's Logs API."""
        store, replacements = self._store, self._replacements

        def init(group: LogGroup, account: str, region: str, name: str, **more: str) -> None:
            original_init(group, account, region, name, **more)
            group.streams = _Streams()
            try:
                for stream in store.streams(name):
                    group.streams[stream] = LogStream(group, stream)
            except LogStoreError as error:
                # New lines can still be written, and the queries of other groups answered.
                _log.warning("%s", error)

        def put(stream: LogStream, events: list[dict[str, Any]]) -> str:
            lines = [(event["timestamp"], event["message"]) for event in events]
            self._store_events(stream.log_group.name, stream.log_stream_name, lines)
            return ""  # sequence tokens are no longer used (AWS documentation, PutLogEvents)

        def describe(stream: LogStream) -> dict[str, Any]:
            return _describe(stream, stream.events)

        def filter_events(backend: LogsBackend, *arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            _check_filter_pattern(more.get("filter_pattern", arguments[6]))
            return original_filter(backend, *arguments, **more)

        original_init = replacements.set(LogGroup, "__init__", init)
        replacements.set(LogStream, "events", property(_events_in(store), _ignore))
        replacements.set(LogStream, "put_log_events", put)
        replacements.set(LogStream, "to_describe_dict", describe)
        original_filter = replacements.set(LogsBackend, "filter_log_events", filter_events)
        for name, action in self._queries.actions().items():
            replacements.set(LogsResponse, name, action)
        replacements.refuse(LogsResponse, _NOT_OVER_THE_STORE)

    def _store_events(self, group: str, stream: str, events: Sequence[tuple[int, str]]) -> None:
        self._store.append(group, stream, events, _now_ms())
        self._put_metrics(message for _, message in events)

    def _put_metrics(self, messages: Iterable[str]) -> None:
        by_namespace: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for message in messages:
            for namespace, datum in metrics_of(message):
                by_namespace[namespace].append(datum)
        for namespace, data in by_namespace.items():
            self._endpoint.client("cloudwatch").put_metric_data(
                Namespace=namespace, MetricData=data
            )


class _Streams(dict[str, LogStream]):
    """Log streams that a client may list while a function or a task adds one."""

    def items(self) -> dict_items[str, LogStream]:
        return self.copy().items()


def _backend() -> LogsBackend:
    backend: LogsBackend = logs_backends[ACCOUNT][REGION]
    return backend


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _events_in(store: LogStore) -> Callable[[LogStream], list[LogEvent]]:
    def events(stream: LogStream) -> list[LogEvent]:
        try:
            stored = store.read(stream.log_group.name, stream.log_stream_name)
        except LogStoreError as error:
            raise LogsClientError("ServiceUnavailableException", str(error)) from None
        return [_moto_event(event) for event in stored]

    return events


def _moto_event(event: StoredEvent) -> LogEvent:
    content = {"timestamp": event.timestamp, "message": event.message}
    moto_event = LogEvent(event.ingestion_time, content)
    # moto would give the event a new id at each read, but finds the start of a page by the id.
    moto_event.event_id = event.id  # type: ignore[assignment]
    return moto_event


def _ignore(_: LogStream, __: list[LogEvent]) -> None:
    """Ignore the empty list that moto sets as a new stream's events."""


def _describe(stream: LogStream, events: Sequence[LogEvent]) -> dict[str, Any]:
    description = {
        "arn": stream.arn,
        "creationTime": int(unix_time_millis(stream.creation_time)),
        "logStreamName": stream.log_stream_name,
        "storedBytes": 0,  # no longer reported per stream (AWS documentation, LogStream)
    }
    if events:
        timestamps = [event.timestamp for event in events]
        description |= {
            "firstEventTimestamp": min(timestamps),
            "lastEventTimestamp": max(timestamps),
            "lastIngestionTime": max(event.ingestion_time for event in events),
        }
    return description


def _check_filter_pattern(pattern: str | None) -> None:
    if not _FILTER_PATTERN.fullmatch(pattern or ""):
        raise InvalidParameterException(
            f"filterPattern {pattern} is not supported on one machine; accepted: words, or one "
            "phrase in double quotes."
        )
