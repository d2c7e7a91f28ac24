"""What one test gave: from its tasks and the rows of the log queries to its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lambdas import rates
from lambdas.failure import shortened
from lambdas.rates import MetricRows
from lambdas.results import Rate, Status, TaskResult, TestResult
from lambdas.usages import usages
from suites.model import Test

# Each task's own reason stands beside it; a sentence names some of them.
_MOST_REASONS = 5
_LONGEST_WORDS = 1_000  # [B] of what a task logged, which may be any length


@dataclass(frozen=True)
class Logged:
    """What the log queries of a test gave."""

    log_group: str
    streams: Mapping[str, str]
    """The log stream of each task's id."""
    window: tuple[datetime, datetime]
    """The time that was searched."""
    metrics: Sequence[MetricRows]
    environments: Sequence[Mapping[str, str]]
    failures: Sequence[Mapping[str, str]]
    usages: Sequence[Mapping[str, str]]
    usages_unknown: str
    """Why there are none, '' if they were there to be read."""
    bytes_scanned: int
    """By all queries, those that came too early among them."""


def test_result(
    test: Test,
    tasks: Sequence[TaskResult],
    logged: Logged,
    started_at: datetime,
    ended_at: datetime,
) -> TestResult:
    """Return the result of a test whose logs will not get any more complete."""
    rows, streams = logged.metrics, logged.streams
    failed = [
        _in_its_words(task, logged.failures, streams) for task in tasks if task.status == "failed"
    ]
    lacking = rates.missing(rows, tasks, streams, test.jobs)
    wrong = rates.surplus(rows, tasks, streams, test.jobs)
    wrong += [said for metric in rows for said in rates.impossible(metric, tasks, streams)]
    whole = not (failed or lacking or wrong)
    measured = [rates.rate(metric, expected=len(tasks) * test.jobs, whole=whole) for metric in rows]
    if lacking:
        # A log whose clock is off is not there, either.
        searched = " to ".join(f"{moment:%Y-%m-%d %H:%M:%S}" for moment in logged.window)
        lacking = [f"{_first(lacking)}; searched from {searched} UTC"]
    status, reason = _judged(failed, [*lacking, *wrong], measured)
    environments = rates.environments(logged.environments, streams.values())
    return TestResult(
        test=test.name,
        status=status,
        reason=reason,
        started_at=started_at,
        ended_at=ended_at,
        tasks=tuple(_placed(task, streams, environments) for task in tasks),
        rates=tuple(measured),
        samples=tuple(sample for metric in rows for sample in rates.samples(metric)),
        usages=usages(logged.usages, streams.keys()),
        usages_unknown=logged.usages_unknown,
        environments=tuple(rates.different(environments.values())),
        log_group=logged.log_group,
        insights_bytes=logged.bytes_scanned,
    )


def _placed(
    task: TaskResult, streams: Mapping[str, str], environments: Mapping[str, Mapping[str, Any]]
) -> TaskResult:
    """Return a task with where it logged and what it logged of its machine."""
    stream = streams.get(task.task_id or "")
    logged = environments.get(stream or "", {})
    said = {name: str(logged[name]) for name in ("host", "cpu_model") if name in logged}
    return task.model_copy(update={"log_stream": stream, **said})


def _in_its_words(
    task: TaskResult, rows: Sequence[Mapping[str, str]], streams: Mapping[str, str]
) -> str:
    """Return why a task failed, with what it logged of it last, if it did."""
    stream = streams.get(task.task_id or "")
    said = [row["failure"] for row in rows if row["@logStream"] == stream and "failure" in row]
    return f"{task.reason}: {shortened(said[0], _LONGEST_WORDS)}" if said else task.reason


def _first(reasons: Sequence[str]) -> str:
    """Return a few of the tasks' reasons, and how many there are beside them."""
    more = len(reasons) - _MOST_REASONS
    listed = "; ".join(reasons[:_MOST_REASONS])
    return f"{listed}; and {more} more" if more > 0 else listed


def _judged(
    failed: Sequence[str], lacking: Sequence[str], measured: Sequence[Rate]
) -> tuple[Status, str]:
    if failed:
        return "failed", _first(failed)
    if lacking:
        return "incomplete", _first(lacking)
    for rate in measured:
        if rate.not_finite:
            return (
                "incomplete",
                f"{rate.not_finite} values of {rate.metric} are no positive, finite number",
            )
        if rate.value is None:
            return "incomplete", f"{rate.samples} values of {rate.metric}, not {rate.expected}"
    return "ok", ""
