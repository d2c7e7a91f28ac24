"""The Logs Insights part of the CloudWatch Logs API, over the log store and our query engine."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Container, Mapping
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
from onebox.account import ACCOUNT
from onebox.cloud.replacements import refuse_unknown
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

_UNFINISHED = {"Running", "Scheduled"}

_log = logging.getLogger(__name__)


class MalformedQueryException(LogsClientError):
    """A query that does not compile, with the position of the fault in the API's form."""

    def __init__(self, text: str, error: insights.QueryError) -> None:
        super().__init__("MalformedQueryException", str(error))
        before = "\n".join([*text.split("\n")[: error.line - 1], ""])
        start = len(before) + error.column - 1
        fault = {"message": str(error), "location": {"startCharOffset": start}}
        body = {"__type": self.error_type, "message": self.message, "queryCompileError": fault}
        self.description = json.dumps(body)


class _Query:
    """One started query and its description for DescribeQueries."""

    def __init__(
        self,
        text: str,
        groups: list[str],
        result: Future[insights.QueryResult],
        cancellation: Cancellation,
    ) -> None:
        self.id = str(uuid4())
        self.text = text
        self.groups = groups
        self.result = result
        self.cancellation = cancellation
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

    def description(self) -> dict[str, Any]:
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
        return {
            "start_query": _response_method(self._start),
            "get_query_results": _response_method(self._results),
            "stop_query": _response_method(self._stop),
            "describe_queries": _response_method(self._describe),
        }

    def close(self) -> None:
        """Cancel the queries that have not ended."""
        for query in self._queries.values():
            query.cancel()
        self._threads.shutdown()

    def _start(self, request: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
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
            self._queries[query.id] = query
        return {"queryId": query.id}

    def _submitted(
        self,
        compiled: insights.CompiledQuery,
        groups: Collection[str],
        sources: Collection[str],
        request: Mapping[str, Any],
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
        request: Mapping[str, Any],
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

    def _results(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        query = self._query(request)
        query.cancellation.hear()
        if query.status in _UNFINISHED:
            wait([query.result], LONGEST_ANSWER_SECONDS)
        answer = {"queryLanguage": "CWLI", "status": query.status}
        if answer["status"] != "Complete":
            return {**answer, "results": [], "statistics": {}}
        result = query.result.result()
        statistics = {**result.statistics, "logGroupsScanned": float(len(query.groups))}
        return {**answer, "results": result.rows, "statistics": statistics}

    def _stop(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        query = self._query(request)
        if query.status not in _UNFINISHED:
            raise InvalidParameterException(
                f"Query {query.id} has already ended with status {query.status}."
            )
        query.cancel()
        return {"success": True}

    def _describe(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        _refuse_unknown("DescribeQueries", request, {"logGroupName", "queryLanguage", "status"})
        with self._lock:
            queries = [query.description() for query in self._queries.values()]
        return {"queries": [query for query in queries if request.items() <= query.items()]}

    def _query(self, request: Mapping[str, Any]) -> _Query:
        with self._lock:
            query = self._queries.get(request["queryId"])
        if query is None:
            raise ResourceNotFoundException(f"Query {request['queryId']} does not exist.")
        return query


def _response_method(
    action: Callable[[Mapping[str, Any], Collection[str]], dict[str, Any]],
) -> Callable[[LogsResponse], str]:
    def answer(response: LogsResponse) -> str:
        return json.dumps(action(json.loads(response.body), response.logs_backend.groups))

    return answer


def _check_request(request: Mapping[str, Any]) -> None:
    _refuse_unknown("StartQuery", request, _START_QUERY)
    if request.get("queryLanguage", "CWLI") != "CWLI":
        raise InvalidParameterException(
            f"queryLanguage is {request['queryLanguage']}; accepted: CWLI."
        )
    if not 1 <= request.get("limit", 1) <= MOST_ROWS:
        raise InvalidParameterException(f"limit is {request['limit']}; accepted: 1 to {MOST_ROWS}.")
    if request["endTime"] < request["startTime"]:
        raise InvalidParameterException("End time should not be earlier than start time.")


def _groups(request: Mapping[str, Any], parameters: int) -> list[str]:
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
    return [name.rsplit(":log-group:", 1)[-1] for name in names]


def _refuse_unknown(action: str, request: Mapping[str, Any], accepted: Collection[str]) -> None:
    refuse_unknown(action, request, accepted, InvalidParameterException)


def _log_failure(reason: object) -> None:
    _log.error("A log query failed: %s", reason)
