"""Collecting the rates of a test from its own log streams, once all of them have arrived."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from lambdas.aws import SERVICE_FAULTS, Bucket, LogQueries, QueryFailed, TooManyRows
from lambdas.collect import Logged, test_result
from lambdas.events import TrialEvent
from lambdas.observability import logger
from lambdas.rates import MetricRows, missing
from lambdas.results import Status, TaskResult
from lambdas.stored import read_plan
from lambdas.systems import system
from suites import keys
from suites.model import Frozen, Metric, Test

_QUERIES = Path(__file__).parent.parent / "queries" / "logs"
# The clocks of ECS and Step Functions may differ; streams, not times, tell trials apart.
_CLOCK_MARGIN = timedelta(minutes=1)
_LONGEST_WAIT_SECONDS = 30
# Of the 900 s that the function may run, for all its queries and for one.
_QUERYING_SECONDS = 840
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


class Collected(Frozen):
    """What an attempt to collect a test's rates came to."""

    complete: bool
    """Whether the result of the test is stored."""
    status: Status | None = None
    """That of the test, once it is."""
    wait_seconds: int = 0
    """How long to wait for its logs before the next attempt."""
    bytes_scanned: int
    """By the queries of this attempt and those before it."""


class _Search:
    """The log queries of one attempt."""

    def __init__(
        self, queries: LogQueries, log_group: str, event: CollectRatesEvent, test: Test
    ) -> None:
        self._queries = queries
        self._log_group = log_group
        self._patience_seconds = patience_seconds(test)
        self.window = event.started_at - _CLOCK_MARGIN, event.now + _CLOCK_MARGIN
        self.bytes_scanned = event.bytes_scanned

    def rows(self, query: str, log_group: str | None = None) -> list[dict[str, str]]:
        """Return the rows of a query of ours, over what the tasks logged if no group is named."""
        text = (_QUERIES / f"{query}.cwli").read_text(encoding="utf-8")
        start, end = (moment.timestamp() for moment in self.window)
        group = log_group or self._log_group
        answer = self._queries.run(text, group, start, end, self._patience_seconds)
        self.bytes_scanned += answer.bytes_scanned
        return answer.rows

    def usages(self, log_group: str | None) -> tuple[list[dict[str, str]], str]:
        """Return what Container Insights logged meanwhile, or why that is not known.

        It is never worth a measurement.
        """
        try:
            return self.rows("task_usage", log_group) if log_group else [], ""
        except (QueryFailed, TooManyRows, *SERVICE_FAULTS) as error:
            logger.warning(str(error))
            return [], str(error)

    def of(self, metric: Metric, streams: set[str]) -> MetricRows:
        """Return what the two queries of a metric gave."""
        return MetricRows(metric, self.rows(metric.query), self.rows(metric.samples), streams)


def collect(
    bucket: Bucket, queries: LogQueries, event: CollectRatesEvent, deadline_seconds: float
) -> Collected:
    """Store the result of a test, unless its logs may still come.

    ``deadline_seconds`` after its tasks they come no more [s].
    """
    plan = read_plan(bucket, event.run_id)
    test, where = plan.suite.test(event.test), system(plan.suite.name)
    search = _Search(queries, where.log_group, event, test)
    streams = {task.task_id: where.stream(task.task_id) for task in event.tasks if task.task_id}
    metrics = [search.of(metric, set(streams.values())) for metric in test.metrics]
    waited = (event.now - event.ended_at).total_seconds()
    if missing(metrics, event.tasks, streams, test.jobs) and waited < deadline_seconds:
        wait = min(2**event.attempt, _LONGEST_WAIT_SECONDS)
        return Collected(complete=False, wait_seconds=wait, bytes_scanned=search.bytes_scanned)
    some_failed = any(task.status != "ok" for task in event.tasks)
    usages, usages_unknown = search.usages(where.usage_log_group)
    logged = Logged(
        log_group=where.log_group,
        streams=streams,
        window=search.window,
        metrics=metrics,
        environments=search.rows("environment"),
        failures=search.rows("failures") if some_failed else [],
        usages=usages,
        usages_unknown=usages_unknown,
        bytes_scanned=search.bytes_scanned,
    )
    result = test_result(test, event.tasks, logged, event.started_at, event.ended_at)
    key = keys.measured(event.run_id, event.trial, event.test)
    bucket.write(key, result.model_dump_json().encode())
    return Collected(complete=True, status=result.status, bytes_scanned=search.bytes_scanned)


def patience_seconds(test: Test) -> float:
    """Return how long one query of a test may take [s]: each has its part of the function's time.

    A metric has two, and a test three more, of its environment, failures and usage.
    """
    return min(_LONGEST_QUERY_SECONDS, _QUERYING_SECONDS / (2 * len(test.metrics) + 3))
