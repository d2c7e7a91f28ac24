"""The Logs Insights part of the CloudWatch Logs API, over the log store and our query engine."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Container, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from moto.logs.exceptions import (
    InvalidParameterException,
    LogsClientError,
    ResourceNotFoundException,
)
from moto.logs.responses import LogsResponse

from local import insights
from local.account import ACCOUNT
from local.cloud.unsupported import not_honoured
from local.insights.sources import NoLogGroupError, chosen
from local.logs.store import LogStore

MOST_ROWS = 10_000  # AWS documentation, StartQuery: limit
_THREADS = 4
_GROUPS = ("logGroupName", "logGroupNames", "logGroupIdentifiers")
_START_QUERY = {*_GROUPS, "endTime", "limit", "queryLanguage", "queryString", "startTime"}

_log = logging.getLogger(__name__)


class MalformedQueryException(LogsClientError):
    """A query that does not compile, with the place of the fault as the API tells it."""

    def __init__(self, text: str, error: insights.QueryError) -> None:
        super().__init__("MalformedQueryException", str(error))
        before = "\n".join([*text.split("\n")[: error.line - 1], ""])
        start = len(before) + error.column - 1
        fault = {"message": str(error), "location": {"startCharOffset": start}}
        body = {"__type": self.error_type, "message": self.message, "queryCompileError": fault}
        self.description = json.dumps(body)


class _Query:
    """One started query and what DescribeQueries tells of it."""

    def __init__(self, text: str, groups: list[str], result: Future[insights.QueryResult]) -> None:
        self.id = str(uuid4())
        self.text = text
        self.groups = groups
        self.result = result
        self.cancelled = False
        self._created_ms = time.time_ns() // 1_000_000

    @property
    def status(self) -> str:
        """The status as the API names it."""
        if self.cancelled:
            return "Cancelled"
        if not self.result.done():
            return "Running" if self.result.running() else "Scheduled"
        return "Complete" if self.result.exception() is None else "Failed"

    def described(self) -> dict[str, Any]:
        """Return the query as DescribeQueries does."""
        return {
            "queryId": self.id,
            "queryLanguage": "CWLI",
            "queryString": self.text,
            "status": self.status,
            "createTime": self._created_ms,
            "logGroupName": self.groups[0],
        }


class LogQueries:
    """The queries that were started, each run once in a thread."""

    def __init__(self, store: LogStore) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="log query")
        self._queries: dict[str, _Query] = {}
        self._lock = threading.Lock()

    def actions(self) -> dict[str, Callable[[LogsResponse], str]]:
        """Return the API's actions, named as moto names them."""
        return {
            "start_query": _answering(self._start),
            "get_query_results": _answering(self._results),
            "stop_query": _answering(self._stop),
            "describe_queries": _answering(self._describe),
        }

    def close(self) -> None:
        """Wait for the queries that run; those that do not run yet are dropped."""
        self._threads.shutdown(cancel_futures=True)

    def _start(self, request: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
        _check_request(request)
        text = request["queryString"]
        try:
            compiled = insights.compile(text)
            named = chosen(compiled.named, ACCOUNT, known)
        except insights.QueryError as error:
            raise MalformedQueryException(text, error) from error
        except NoLogGroupError as error:
            raise ResourceNotFoundException(str(error)) from error
        for lookup in compiled.lookups:
            raise ResourceNotFoundException(
                f"Lookup table '{lookup.table}' does not exist: one machine keeps none."
            )
        groups = _groups(request, 0 if compiled.sources else 1)
        for group in groups:
            if group not in known:
                raise ResourceNotFoundException(
                    f"Log group '{group}' does not exist for account ID '{ACCOUNT}'"
                )
        result = self._threads.submit(
            _run,
            compiled,
            self._store.events(groups),
            request["startTime"],
            request["endTime"],
            request.get("limit"),
            self._store.events(named),
        )
        query = _Query(text, list(dict.fromkeys((*groups, *named))), result)
        with self._lock:
            self._queries[query.id] = query
        return {"queryId": query.id}

    def _results(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        query = self._found(request)
        answer = {"queryLanguage": "CWLI", "status": query.status}
        if answer["status"] != "Complete":
            return {**answer, "results": [], "statistics": {}}
        result = query.result.result()
        statistics = {**result.statistics, "logGroupsScanned": float(len(query.groups))}
        return {**answer, "results": result.rows, "statistics": statistics}

    def _stop(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        query = self._found(request)
        if query.status not in {"Running", "Scheduled"}:
            raise InvalidParameterException(
                f"Query {query.id} has already ended with status {query.status}."
            )
        query.cancelled = True
        query.result.cancel()
        return {"success": True}

    def _describe(self, request: Mapping[str, Any], _: Container[str]) -> dict[str, Any]:
        _refuse_unknown("DescribeQueries", request, {"logGroupName", "queryLanguage", "status"})
        with self._lock:
            queries = [query.described() for query in self._queries.values()]
        return {"queries": [query for query in queries if request.items() <= query.items()]}

    def _found(self, request: Mapping[str, Any]) -> _Query:
        with self._lock:
            query = self._queries.get(request["queryId"])
        if query is None:
            raise ResourceNotFoundException(f"Query {request['queryId']} does not exist.")
        return query


def _answering(
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
    """Return the log groups' names; a group is given by its name or, as identifier, its ARN.

    A query that names its groups by SOURCE has no parameter for them, every other has one.
    """
    given = [request[name] for name in _GROUPS if request.get(name)]
    if len(given) != parameters:
        raise InvalidParameterException(
            f"Exactly one of {', '.join(_GROUPS)} and SOURCE must be given; "
            f"{len(given) + 1 - parameters} are."
        )
    if not given:
        return []
    names = given[0] if isinstance(given[0], list) else given
    return [name.rsplit(":log-group:", 1)[-1] for name in names]


def _refuse_unknown(action: str, request: Mapping[str, Any], accepted: Collection[str]) -> None:
    for name, value in request.items():
        if name not in accepted:
            known = ", ".join(sorted(accepted))
            raise InvalidParameterException(not_honoured(action, name, value, known))


def _run(
    compiled: insights.CompiledQuery,
    events: insights.EventSource,
    start: int,
    end: int,
    limit: int | None,
    named: insights.EventSource,
) -> insights.QueryResult:
    """Run a query; log why it failed, since the API, like that of AWS, tells only that it did.

    It is logged before the query counts as failed: whoever sees the status finds the reason.
    """
    try:
        return insights.run(compiled, events, start, end, limit, named)
    except BaseException:
        _log.exception("A log query failed")
        raise
