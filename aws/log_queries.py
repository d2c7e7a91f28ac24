"""Queries of CloudWatch Logs Insights."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aws.service_errors import SERVICE_ERRORS
from tidemark.model.sentences import shortened
from tidemark.run.ports import Answer, QueryFailed, TooManyRows

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient

# The most rows that one StartQuery returns; a result of this length may be incomplete.
MOST_ROWS = 10_000
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
        return SERVICE_ERRORS

    def run(
        self, query: str, log_group: str, start: float, end: float, patience_seconds: float
    ) -> Answer:
        """Return the answer to a query over [start, end], epoch seconds.

        Raises
        ------
        QueryFailed
            If the query does not end as Complete, or not in time.
        TooManyRows
            If the query may have more rows than it returned.

        """
        started = self._client.start_query(
            logGroupName=log_group,
            startTime=int(start),
            endTime=int(end) + 1,
            queryString=query,
            limit=MOST_ROWS,
        )
        pause = _FIRST_POLL_SECONDS
        deadline = time.monotonic() + patience_seconds
        while True:
            answer = self._client.get_query_results(queryId=started["queryId"])
            status = answer["status"]
            if status == "Complete":
                break
            # A Running answer holds only some of the rows, so only Complete is read.
            if status not in _UNFINISHED or time.monotonic() > deadline:
                text = shortened(query, _LONGEST_QUERY_SHOWN)
                raise QueryFailed(f"the query over {log_group} ended as {status}: {text}")
            time.sleep(pause)
            pause = min(2 * pause, _SLOWEST_POLL_SECONDS)
        rows = [{cell["field"]: cell["value"] for cell in row} for row in answer["results"]]
        if len(rows) >= MOST_ROWS:
            raise TooManyRows(
                f"the query over {log_group} has {MOST_ROWS} rows or more, so some may be missing"
            )
        return Answer(rows, int(answer["statistics"]["bytesScanned"]))
