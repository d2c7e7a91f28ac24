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
from lambdas.systems import System, system
from suites import keys
from suites.model import Metric

QUERIES = Path(__file__).parent.parent / "queries" / "logs"
# The clocks of ECS and Step Functions may differ; streams, not times, tell trials apart.
_CLOCK_MARGIN = timedelta(minutes=1)
_LONGEST_WAIT_SECONDS = 30


class CollectRatesEvent(TrialEvent):
    """One test whose tasks have ended, and how often its logs were read before."""

    test: str
    tasks: list[TaskResult]
    started_at: datetime
    ended_at: datetime
    now: datetime
    attempt: int


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent)
def handler(event: CollectRatesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return whether the test is complete, and its status or how long to wait for its logs [s]."""
    plan = read_plan(aws.bucket(), event.run_id)
    test, where = plan.suite.test(event.test), system(plan.suite.name)
    streams = {task.task_id: where.stream(task.task_id) for task in event.tasks if task.task_id}
    rows = [_metric_rows(metric, where, event, set(streams.values())) for metric in test.metrics]
    waited = (event.now - event.ended_at).total_seconds()
    if missing(rows, event.tasks, streams, test.jobs) and waited < _deadline_seconds():
        wait = min(2**event.attempt, _LONGEST_WAIT_SECONDS)
        return {"complete": False, "wait_seconds": wait, "status": None}
    result = test_result(
        test,
        event.tasks,
        rows,
        _rows("environment", where, event),
        _failure_rows(where, event),
        streams,
        started_at=event.started_at,
        ended_at=event.ended_at,
        window=_window(event),
    )
    key = keys.measured(event.run_id, event.trial, event.test)
    aws.bucket().write(key, result.model_dump_json().encode())
    return {"complete": True, "wait_seconds": 0, "status": result.status}


def _failure_rows(where: System, event: CollectRatesEvent) -> list[dict[str, str]]:
    if all(task.status == "ok" for task in event.tasks):
        return []
    return _rows("failures", where, event)


def _metric_rows(
    metric: Metric, where: System, event: CollectRatesEvent, streams: set[str]
) -> MetricRows:
    rates, samples = _rows(metric.query, where, event), _rows(metric.samples, where, event)
    return MetricRows(metric, rates, samples, streams)


def _rows(query: str, where: System, event: CollectRatesEvent) -> list[dict[str, str]]:
    text = (QUERIES / f"{query}.cwli").read_text(encoding="utf-8")
    start, end = _window(event)
    return aws.log_queries().run(text, where.log_group, start.timestamp(), end.timestamp())


def _window(event: CollectRatesEvent) -> tuple[datetime, datetime]:
    return event.started_at - _CLOCK_MARGIN, event.now + _CLOCK_MARGIN


def _deadline_seconds() -> float:
    return float(os.environ["LOGS_DEADLINE_SECONDS"])
