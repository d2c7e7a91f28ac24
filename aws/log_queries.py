"""Queries of CloudWatch Logs Insights.

A throttled or failed query is an error here. The state machine retries the function that asked it:
``log query`` in ``cdk/retriers.json``, for the states of ``cdk/trial.asl.json``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from aws import CLIENT_ERRORS
from tidemark.model.sentences import shortened
from tidemark.run.ports import Answer, QueryFailed, TooManyRows

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_logs.type_defs import GetQueryResultsResponseTypeDef

# The most rows that one StartQuery returns; a result of this length may be incomplete.
MOST_ROWS = 10_000
_LONGEST_TEXT = 10_000  # characters (AWS documentation, StartQuery: queryString)
# A filter of a value list on @logStream, which CloudWatch Logs indexes in every log group, reads
# those streams alone (AWS documentation, field indexes). The comment of a query may follow it.
_OF_STREAMS = "filter @logStream in [{}] |\n"
_STREAM = re.compile(r"[\w./-]+", re.ASCII)
_UNFINISHED = {"Scheduled", "Running", "Unknown"}
_FIRST_POLL_SECONDS = 0.05
_SLOWEST_POLL_SECONDS = 1.0
_LONGEST_QUERY_SHOWN = 200  # bytes


class InsightsQueries:
    """Logs Insights."""

    def __init__(self, client: CloudWatchLogsClient) -> None:
        self._client = client

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        """The errors of the service itself."""
        return CLIENT_ERRORS

    def run(
        self,
        query: str,
        log_group: str,
        start: float,
        end: float,
        patience_seconds: float,
        streams: Collection[str] | None = None,
    ) -> Answer:
        """Return the answer to a query over [start, end], epoch seconds, and over some log streams.

        As many queries run as the names of the streams need; their rows come one after the other.

        Raises
        ------
        QueryFailed
            If a query does not end as Complete, or not in time.
        TooManyRows
            If a query may have more rows than it returned.

        """
        deadline = time.monotonic() + patience_seconds
        filters = [""] if streams is None else _filters(streams, _LONGEST_TEXT - len(query))
        answers = [self._answer(own, query, log_group, start, end, deadline) for own in filters]
        return Answer(
            [row for answer in answers for row in answer.rows],
            sum(answer.bytes_scanned for answer in answers),
        )

    def _answer(
        self, own: str, query: str, log_group: str, start: float, end: float, deadline: float
    ) -> Answer:
        started = self._client.start_query(
            logGroupName=log_group,
            startTime=int(start),
            endTime=int(end) + 1,
            queryString=own + query,
            limit=MOST_ROWS,
        )
        answer = self._await(started["queryId"], deadline)
        # A Running answer holds only some of the rows, so only Complete is read.
        if answer["status"] != "Complete":
            shown = shortened(query, _LONGEST_QUERY_SHOWN)
            raise QueryFailed(f"the query over {log_group} {_ending(answer)}: {shown}")
        rows = [{cell["field"]: cell["value"] for cell in row} for row in answer["results"]]
        if len(rows) >= MOST_ROWS:
            raise TooManyRows(
                f"the query over {log_group} has {MOST_ROWS} rows or more, so some may be missing"
            )
        return Answer(rows, int(answer["statistics"]["bytesScanned"]))

    def _await(self, query_id: str, deadline: float) -> GetQueryResultsResponseTypeDef:
        """Return the last answer of a query; stop the query at the deadline."""
        pause = _FIRST_POLL_SECONDS
        while True:
            answer = self._client.get_query_results(queryId=query_id)
            if answer["status"] not in _UNFINISHED:
                return answer
            if time.monotonic() > deadline:
                # The query would go on without its client, unless it has just ended.
                with suppress(*CLIENT_ERRORS):
                    self._client.stop_query(queryId=query_id)
                return answer
            time.sleep(pause)
            pause = min(2 * pause, _SLOWEST_POLL_SECONDS)


def _ending(answer: GetQueryResultsResponseTypeDef) -> str:
    if answer["status"] in _UNFINISHED:
        return "did not end in time and was stopped"
    return f"ended as {answer['status']}"


def _filters(streams: Collection[str], longest: int) -> list[str]:
    """Return filters of at most ``longest`` characters that select each stream once in all."""
    names = [f"'{_checked(stream)}'" for stream in sorted(streams)]
    room = longest - len(_OF_STREAMS)
    most = max(1, room // (max(map(len, names), default=0) + len(", ")))
    groups = [names[first : first + most] for first in range(0, len(names), most)]
    return [_OF_STREAMS.format(", ".join(group)) for group in groups]


def _checked(stream: str) -> str:
    """Return a stream's name; the names of ECS, all that a query may hold, need no quoting."""
    if not _STREAM.fullmatch(stream):
        raise ValueError(
            f"log stream {stream!r} is not accepted; expected letters, digits and ._/-"
        )
    return stream
