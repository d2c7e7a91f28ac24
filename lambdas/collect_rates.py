"""CollectRates: read a test's rates from its own log streams, once all of them have arrived."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.collect import test_result
from lambdas.events import TrialEvent
from lambdas.observability import logger
from lambdas.rates import MetricRows, missing
from lambdas.results import TaskResult
from lambdas.stored import read_plan
from lambdas.systems import system
from suites import keys
from suites.model import Metric, Test

QUERIES = Path(__file__).parent.parent / "queries" / "logs"
# The clocks of ECS and Step Functions may differ; streams, not times, tell trials apart.
_CLOCK_MARGIN = timedelta(minutes=1)
_LONGEST_WAIT_SECONDS = 30
# Of the 900 s that the function may run, for all its queries and for one.
QUERYING_SECONDS = 840
_LONGEST_QUERY_SECONDS = 60


class CollectRatesEvent(TrialEvent):
    """One test whose tasks have ended, and how often its logs were read before."""

    test: str
    tasks: list[TaskResult]
    started_at: datetime
    ended_at: datetime
    now: datetime
    attempt: int
    bytes_scanned: int
    """By the queries of the attempts before this one."""


class _Logs:
    """The log queries of one attempt."""

    def __init__(self, log_group: str, event: CollectRatesEvent, test: Test) -> None:
        self._log_group = log_group
        self._patience_seconds = patience_seconds(test)
        self.window = event.started_at - _CLOCK_MARGIN, event.now + _CLOCK_MARGIN
        self.bytes_scanned = event.bytes_scanned

    def rows(self, query: str) -> list[dict[str, str]]:
        """Return the rows of a query of ours."""
        text = (QUERIES / f"{query}.cwli").read_text(encoding="utf-8")
        start, end = (moment.timestamp() for moment in self.window)
        answer = aws.log_queries().run(text, self._log_group, start, end, self._patience_seconds)
        self.bytes_scanned += answer.bytes_scanned
        return answer.rows

    def of(self, metric: Metric, streams: set[str]) -> MetricRows:
        """Return what the two queries of a metric gave."""
        return MetricRows(metric, self.rows(metric.query), self.rows(metric.samples), streams)


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent)
def handler(event: CollectRatesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return whether the test is complete, and its status or how long to wait for its logs [s]."""
    plan = read_plan(aws.bucket(), event.run_id)
    test, where = plan.suite.test(event.test), system(plan.suite.name)
    logs = _Logs(where.log_group, event, test)
    streams = {task.task_id: where.stream(task.task_id) for task in event.tasks if task.task_id}
    rows = [logs.of(metric, set(streams.values())) for metric in test.metrics]
    waited = (event.now - event.ended_at).total_seconds()
    if missing(rows, event.tasks, streams, test.jobs) and waited < _deadline_seconds():
        wait = min(2**event.attempt, _LONGEST_WAIT_SECONDS)
        return _answer(logs, wait_seconds=wait)
    environments = logs.rows("environment")
    failures = logs.rows("failures") if any(task.status != "ok" for task in event.tasks) else []
    result = test_result(
        test,
        event.tasks,
        rows,
        environments,
        failures,
        streams,
        log_group=where.log_group,
        insights_bytes=logs.bytes_scanned,
        started_at=event.started_at,
        ended_at=event.ended_at,
        window=logs.window,
    )
    key = keys.measured(event.run_id, event.trial, event.test)
    aws.bucket().write(key, result.model_dump_json().encode())
    return _answer(logs, status=result.status)


def _answer(logs: _Logs, *, wait_seconds: int = 0, status: str | None = None) -> dict[str, Any]:
    return {
        "complete": status is not None,
        "wait_seconds": wait_seconds,
        "status": status,
        "bytes_scanned": logs.bytes_scanned,
    }


def patience_seconds(test: Test) -> float:
    """Return how long one query of a test may take [s]: each has its part of the function's time.

    A metric has two, and a test two more, of its environment and its failures.
    """
    return min(_LONGEST_QUERY_SECONDS, QUERYING_SECONDS / (2 * len(test.metrics) + 2))


def _deadline_seconds() -> float:
    return float(os.environ["LOGS_DEADLINE_SECONDS"])
