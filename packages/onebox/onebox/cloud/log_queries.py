"""Logs Insights over the log store and our engine: queries, saved queries, fields and records.

The console and the data sources of Grafana call the operations that describe groups and events.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any
from uuid import uuid4

from moto.logs.exceptions import (
    InvalidParameterException,
    LogsClientError,
    ResourceNotFoundException,
)
from moto.logs.responses import LogsResponse

from cwli import insights
from cwli.cancellation import Cancellation, Cancelled, TimedOut
from cwli.insights.source import NoLogGroupError, chosen
from onebox.app import ACCOUNT, REGION
from onebox.cloud.replacements import KeptQuery, forget_read, refuse_unknown
from onebox.logs.store import LogStore, LogStoreError

MOST_ROWS = 10_000  # AWS documentation, StartQuery: limit
MOST_SECONDS = 3_600.0  # AWS documentation, CloudWatch Logs quotas: query timeout
LONGEST_ANSWER_SECONDS = 0.5
"""The longest wait of GetQueryResults for the end of a query [s].

Most queries end sooner. A client that finds its query running sleeps before it asks again, often
for longer than the query runs.
"""
_THREADS = 4
_GROUPS = ("logGroupName", "logGroupNames", "logGroupIdentifiers")
_START_QUERY = {*_GROUPS, "endTime", "limit", "queryLanguage", "queryString", "startTime"}

_DESCRIBE_QUERIES = {"logGroupName", "queryLanguage", "status"}
_UNFINISHED = {"Running", "Scheduled"}

_SEEN_EVENTS = 1_000
"""The newest events of a group whose fields are listed."""
_OF_EVERY_EVENT = ("@timestamp", "@message", "@logStream", "@log", "@ingestionTime")
_MOST_FIELDS = 100
SAVED: dict[str, dict[str, Any]] = {}
"""The query definitions by id, which stacks and clients saved, until the end."""

Request = Mapping[str, Any]
Answer = dict[str, Any]
_log = logging.getLogger(__name__)


def save(definition: Request, id_: str) -> None:
    """Save a query; raise QueryError if it is none."""
    insights.compile(definition["queryString"])
    SAVED[id_] = {
        "queryDefinitionId": id_,
        "name": definition["name"],
        "queryString": definition["queryString"],
        "queryLanguage": "CWLI",
        "logGroupNames": list(definition.get("logGroupNames") or ()),
        "lastModified": time.time_ns() // 1_000_000,
    }


class MalformedQueryException(LogsClientError):
    """A query that does not compile, with the position of the fault in the API's form."""

    def __init__(self, text: str, error: insights.QueryError) -> None:
        super().__init__("MalformedQueryException", str(error))
        before = "\n".join([*text.split("\n")[: error.line - 1], ""])
        start = len(before) + error.column - 1
        fault = {"message": str(error), "location": {"startCharOffset": start}}
        body = {"__type": self.error_type, "message": self.message, "queryCompileError": fault}
        self.description = json.dumps(body)


class _Query(KeptQuery[insights.QueryResult]):
    """One started query and its description for DescribeQueries."""

    def __init__(
        self,
        text: str,
        groups: list[str],
        result: Future[insights.QueryResult],
        cancellation: Cancellation,
    ) -> None:
        super().__init__(cancellation)
        self.await_result(result)
        self.id = str(uuid4())
        self.text = text
        self.groups = groups
        self._cancelled = False
        self._created_ms = time.time_ns() // 1_000_000

    @property
    def status(self) -> str:
        """The status of the query, by its name in the API."""
        if self._cancelled:
            return "Cancelled"
        if not self.result.done():
            return "Running" if self.result.running() else "Scheduled"
        error = self.result.exception()
        if isinstance(error, Cancelled):
            return "Cancelled"
        if isinstance(error, TimedOut):
            return "Timeout"
        return "Complete" if error is None else "Failed"

    def cancel(self) -> None:
        """Interrupt the query and discard its result, unless the query has ended."""
        if self.status in _UNFINISHED:
            self._cancelled = True
            self.result.cancel()
            self.cancellation.cancel()

    def description(self) -> Answer:
        """Return the query in the form of DescribeQueries."""
        return {
            "queryId": self.id,
            "queryLanguage": "CWLI",
            "queryString": self.text,
            "status": self.status,
            "createTime": self._created_ms,
            "logGroupName": self.groups[0],
        }


class LogQueries:
    """The started queries; each runs once, in a thread."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="log query")
        self._queries: dict[str, _Query] = {}
        self._lock = threading.Lock()

    def actions(self) -> dict[str, Callable[[LogsResponse], str]]:
        """Return the API's actions, named as moto names them."""
        actions: dict[str, Callable[[Request, Collection[str]], Answer]] = {
            "start_query": self._start,
            "get_query_results": self._results,
            "stop_query": self._stop,
            "describe_queries": self._describe,
            "get_log_group_fields": self._fields,
            "get_log_record": self._record,
            "list_log_groups": _list_groups,
            "describe_field_indexes": lambda _, __: {"fieldIndexes": []},
            "put_query_definition": _put,
            "describe_query_definitions": _described,
            "delete_query_definition": _delete,
        }
        return {name: _response_method(action) for name, action in actions.items()}

    def close(self) -> None:
        """Cancel the queries that have not ended."""
        for query in self._queries.values():
            query.cancel()
        self._threads.shutdown()

    def _start(self, request: Request, known: Collection[str]) -> Answer:
        _check_request(request)
        text = request["queryString"]
        try:
            compiled = insights.compile(text)
            sources = chosen(compiled.plan.named, ACCOUNT, known)
        except insights.QueryError as error:
            raise MalformedQueryException(text, error) from error
        except NoLogGroupError as error:
            raise ResourceNotFoundException(str(error)) from error
        for lookup in compiled.plan.lookups:
            raise ResourceNotFoundException(
                f"Lookup table '{lookup.table.name}' does not exist: one machine has no lookup "
                "tables."
            )
        groups = _groups(request, 0 if compiled.plan.sources else 1)
        for group in groups:
            if group not in known:
                raise ResourceNotFoundException(
                    f"Log group '{group}' does not exist for account ID '{ACCOUNT}'"
                )
        cancellation = Cancellation(MOST_SECONDS)
        result = self._submitted(compiled, groups, sources, request, cancellation)
        query = _Query(text, list(dict.fromkeys((*groups, *sources))), result, cancellation)
        with self._lock:
            forget_read(self._queries)
            self._queries[query.id] = query
        return {"queryId": query.id}

    def _submitted(
        self,
        compiled: insights.CompiledQuery,
        groups: Collection[str],
        sources: Collection[str],
        request: Request,
        cancellation: Cancellation,
    ) -> Future[insights.QueryResult]:
        """Start a query over the present events; return its future result."""
        try:
            events, named = self._store.events(groups), self._store.events(sources)
        except LogStoreError as error:
            _log_failure(error)
            failed: Future[insights.QueryResult] = Future()
            failed.set_exception(error)
            return failed
        return self._threads.submit(self._run, compiled, events, named, request, cancellation)

    def _run(
        self,
        compiled: insights.CompiledQuery,
        events: insights.EventSource,
        named: insights.EventSource,
        request: Request,
        cancellation: Cancellation,
    ) -> insights.QueryResult:
        """Run a query; log the reason if it fails, since the API shows only the status, as on AWS.

        The log entry comes before the status, so that a reader of the status finds the reason.
        """
        start, end, limit = request["startTime"], request["endTime"], request.get("limit")
        try:
            return insights.run(
                compiled, events, start, end, limit, named, cancellation=cancellation
            )
        except Cancelled:
            raise
        except insights.EventsError as error:
            _log_failure(self._store.damage() or error)
            raise
        except BaseException:
            _log.exception("A log query failed")
            raise

    def _results(self, request: Request, _: Container[str]) -> Answer:
        query = self._query(request)
        if query.status in _UNFINISHED:
            wait([query.result], LONGEST_ANSWER_SECONDS)
        answer = {"queryLanguage": "CWLI", "status": query.status}
        if answer["status"] != "Complete":
            return {**answer, "results": [], "statistics": {}}
        result = query.result.result()
        statistics = {**result.statistics, "logGroupsScanned": float(len(query.groups))}
        return {**answer, "results": result.rows, "statistics": statistics}

    def _stop(self, request: Request, _: Container[str]) -> Answer:
        query = self._query(request)
        if query.status not in _UNFINISHED:
            raise InvalidParameterException(
                f"Query {query.id} has already ended with status {query.status}."
            )
        query.cancel()
        return {"success": True}

    def _describe(self, request: Request, _: Container[str]) -> Answer:
        refuse_unknown("DescribeQueries", request, _DESCRIBE_QUERIES, InvalidParameterException)
        with self._lock:
            queries = [query.description() for query in self._queries.values()]
        return {"queries": [query for query in queries if request.items() <= query.items()]}

    def _fields(self, request: Request, known: Collection[str]) -> Answer:
        """Return the names of fields in the newest events, with their shares [%]."""
        group = _group(request.get("logGroupName") or request["logGroupIdentifier"])
        if group not in known:
            raise ResourceNotFoundException(f"The log group {group} does not exist.")
        query = f"fields @message | sort @timestamp desc | limit {_SEEN_EVENTS}"
        rows = insights.run(query, self._store.events([group])).rows
        messages = [row[0]["value"] for row in rows]
        found = Counter(name for message in messages for name in set(_names(message)))
        shares = {name: 100 for name in _OF_EVERY_EVENT if messages}
        shares |= {name: round(100 * count / len(messages)) for name, count in found.items()}
        most = sorted(shares.items(), key=lambda pair: -pair[1])[:_MOST_FIELDS]
        return {"logGroupFields": [{"name": name, "percent": share} for name, share in most]}

    def _record(self, request: Request, known: Collection[str]) -> Answer:
        """Return the event of an ``@ptr``."""
        pointer = request["logRecordPointer"]
        query = (
            "fields @timestamp, @message, @logStream, @log, @ingestionTime "
            f"| filter @ptr = {json.dumps(pointer)} | limit 1"
        )
        rows = insights.run(query, self._store.events(known)).rows
        if not rows:
            raise ResourceNotFoundException(f"No event has the logRecordPointer {pointer}.")
        return {"logRecord": {cell["field"]: cell["value"] for cell in rows[0]}}

    def _query(self, request: Request) -> _Query:
        with self._lock:
            query = self._queries.get(request["queryId"])
            if query is None:
                raise ResourceNotFoundException(f"Query {request['queryId']} does not exist.")
            query.hear()
        return query


def _list_groups(request: Request, known: Collection[str]) -> Answer:
    part = request.get("logGroupNamePattern", "")
    arn = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:"
    return {
        "logGroups": [
            {"logGroupName": name, "logGroupArn": f"{arn}{name}", "logGroupClass": "STANDARD"}
            for name in sorted(known)
            if part in name
        ]
    }


def _put(request: Request, _: Collection[str]) -> Answer:
    id_ = request.get("queryDefinitionId") or str(uuid4())
    if "queryDefinitionId" in request and id_ not in SAVED:
        raise ResourceNotFoundException(f"There is no query definition {id_}.")
    try:
        save(request, id_)
    except insights.QueryError as error:
        raise InvalidParameterException(f"queryString: {error}") from None
    return {"queryDefinitionId": id_}


def _described(request: Request, _: Collection[str]) -> Answer:
    prefix = request.get("queryDefinitionNamePrefix", "")
    found = (each for each in SAVED.values() if each["name"].startswith(prefix))
    return {"queryDefinitions": sorted(found, key=lambda each: str(each["name"]))}


def _delete(request: Request, _: Collection[str]) -> Answer:
    return {"success": SAVED.pop(request["queryDefinitionId"], None) is not None}


def _names(message: str) -> Iterator[str]:
    """Yield the names of the JSON fields in a message, with dots."""
    try:
        value = json.loads(message) if message.startswith("{") else None
    except (ValueError, RecursionError):
        return
    yield from _members(value, "")


def _members(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, f"{path}.{name}" if path else str(name))
    elif path:
        yield path


def _group(name: str) -> str:
    return name.rsplit(":log-group:", 1)[-1].removesuffix(":*")


def _response_method(
    action: Callable[[Request, Collection[str]], Answer],
) -> Callable[[LogsResponse], str]:
    return lambda response: json.dumps(
        action(json.loads(response.body), response.logs_backend.groups)
    )


def _check_request(request: Request) -> None:
    refuse_unknown("StartQuery", request, _START_QUERY, InvalidParameterException)
    if request.get("queryLanguage", "CWLI") != "CWLI":
        raise InvalidParameterException(
            f"queryLanguage is {request['queryLanguage']}; accepted: CWLI."
        )
    if not 1 <= request.get("limit", 1) <= MOST_ROWS:
        raise InvalidParameterException(f"limit is {request['limit']}; accepted: 1 to {MOST_ROWS}.")
    if request["endTime"] < request["startTime"]:
        raise InvalidParameterException("End time should not be earlier than start time.")


def _groups(request: Request, parameters: int) -> list[str]:
    """Return the names of a request's log groups; an identifier may be the ARN of a group.

    A query with SOURCE has no parameter for its groups, every other query has one.
    """
    values = [request[name] for name in _GROUPS if request.get(name)]
    if len(values) != parameters:
        raise InvalidParameterException(
            f"Exactly one of {', '.join(_GROUPS)} and SOURCE must be given; "
            f"{len(values) + 1 - parameters} are."
        )
    if not values:
        return []
    names = values[0] if isinstance(values[0], list) else values
    return list(map(_group, names))


def _log_failure(reason: object) -> None:
    _log.error("A log query failed: %s", reason)
