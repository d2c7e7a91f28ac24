"""The result of a test, from its tasks and the rows of its log queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from tidemark.figures import rates
from tidemark.figures.query_rows import MetricRows
from tidemark.figures.task_logs import (
    Environment,
    different,
    environments_by_stream,
    last_lines,
    other_version,
    usages,
    with_cpu,
)
from tidemark.model.load import LoadCourse
from tidemark.model.results import (
    CLOUD,
    MeasuredSeries,
    Rate,
    Sample,
    Status,
    TaskResult,
    TestResult,
    span_seconds,
)
from tidemark.model.run_size import most_values
from tidemark.model.sentences import searched, shortened
from tidemark.model.suite import Test
from tidemark.model.task import Kept

# A sentence names a few reasons; each task keeps its own.
_MOST_REASONS = 5
_LONGEST_WORDS = 1_000  # [B]; a task may log a text of any length


class Logged(NamedTuple):
    """The answers of a test's log queries."""

    log_group: str
    streams: Mapping[str, str]
    """The log stream of each task's id."""
    window: tuple[datetime, datetime]
    """The searched time."""
    metrics: Sequence[MetricRows]
    grown: bool
    """Whether the last attempt to read the logs found more lines than the one before."""
    version: str | None
    """The version that the tasks were to measure; None if it names a build, not a release."""
    environments: Sequence[Mapping[str, str]]
    failures: Sequence[Mapping[str, str]]
    usages: Sequence[Mapping[str, str]]
    usages_unknown: str
    """The reason why usages could not be read, '' if they could."""
    series: Sequence[MeasuredSeries]
    stopped_by: str
    """The step without tasks that failed, with the reason; '' if none did."""
    kept: Kept
    """The files that the tasks left."""
    bytes_scanned: int
    """The bytes that all queries scanned, queries that came too early included."""
    last_lines: Sequence[Mapping[str, str]] = ()
    """The last lines of services that ended before the test, the last one first."""
    load: LoadCourse | None = None
    """The levels of the test's load, None without a load."""
    in_round: bool = False
    """Whether the lines are of one of the versions that took turns in the tasks."""


def test_result(
    test: Test,
    tasks: Sequence[TaskResult],
    logged: Logged,
    started_at: datetime,
    ended_at: datetime,
) -> TestResult:
    """Return the result of a test whose logs are complete, or whose deadline for logs is over."""
    rows, streams = logged.metrics, logged.streams
    machines = environments_by_stream(logged.environments)
    # Without its service a task fails, too: the cause comes first.
    causes = sorted(tasks, key=lambda task: not task.service)
    failed = [_failure(task, logged, streams) for task in causes if task.status == "failed"]
    failed += [logged.stopped_by] if logged.stopped_by else []
    failed += _others(tasks, streams, machines, logged.version)
    lacking = rates.missing(rows, tasks, streams, test.jobs)
    if logged.grown:
        lacking.append("more lines arrived until the end of the time for logs")
    wrong = rates.surplus(rows, tasks, streams, test.jobs)
    wrong += [text for metric in rows for text in rates.impossible(metric, tasks, streams)]
    wrong += logged.kept.missing
    # Figures of partial logs differ, and other sentences say why.
    if not (failed or lacking or wrong):
        wrong = [text for metric in rows for text in rates.differing(metric)]
    whole = not (failed or lacking or wrong)
    measured = [
        rate
        for metric in rows
        for rate in _rates(metric, test, tasks, whole=whole, in_round=logged.in_round)
    ]
    if lacking:
        # A task with a wrong clock logs outside of the searched time.
        lacking = [f"{_first(lacking)}; {searched(logged.window)}"]
    status, reason = _status(failed, [*lacking, *wrong], measured)
    used = usages(logged.usages, streams.keys())
    return TestResult(
        test=test.name,
        status=status,
        reason=reason,
        started_at=started_at,
        ended_at=max(started_at, ended_at),  # the clock may have gone back
        tasks=tuple(_placed(task, streams, machines) for task in tasks),
        rates=tuple(measured),
        samples=tuple(_kept(rows, test, tasks)),
        usages=used,
        usages_unknown=logged.usages_unknown,
        series=tuple(logged.series),
        artefacts=tuple(logged.kept.files),
        artefact_notes=tuple(logged.kept.notes),
        load=_with_cpu(logged, tasks),
        environments=tuple(different(machines.values())),
        log_group=logged.log_group,
        insights_bytes=logged.bytes_scanned,
    )


def _with_cpu(logged: Logged, tasks: Sequence[TaskResult]) -> LoadCourse | None:
    """Return the load of a test with the CPU that its services and the local cloud used."""
    used = usages(logged.usages, {*logged.streams, CLOUD})
    return with_cpu(logged.load, used, tasks) if logged.load else None


def _rates(
    rows: MetricRows, test: Test, tasks: Sequence[TaskResult], *, whole: bool, in_round: bool
) -> list[Rate]:
    own = test.tasks_of(rows.metric.step, tasks)
    each = rows.metric.values_of(test.jobs)
    expected = len(rows.began) if rows.metric.began else len(own) * each
    seconds = span_seconds(own)
    return rates.rates(rows, expected=expected, whole=whole, seconds=seconds, in_round=in_round)


def _kept(rows: Sequence[MetricRows], test: Test, tasks: Sequence[TaskResult]) -> Iterator[Sample]:
    """Yield the samples that are kept: no flood of lines, which fails its test, fills a table."""
    for metric in rows:
        own = test.tasks_of(metric.metric.step, tasks)
        yield from islice(metric.samples, most_values(metric.metric, test, len(own)))


def _others(
    tasks: Sequence[TaskResult],
    streams: Mapping[str, str],
    machines: Mapping[str, Environment],
    asked: str | None,
) -> list[str]:
    """Return a sentence for each task that ended well, but measured another version."""
    if asked is None:
        return []
    ended = [task for task in tasks if task.status == "ok"]
    said = [
        other_version(machines.get(streams.get(task.task_id or "", ""), {}), asked)
        for task in ended
    ]
    return [f"task {task.index}: it {text}" for task, text in zip(ended, said, strict=True) if text]


def _placed(
    task: TaskResult, streams: Mapping[str, str], machines: Mapping[str, Environment]
) -> TaskResult:
    """Return a task with its log stream and the machine that it logged."""
    stream = streams.get(task.task_id or "")
    logged = machines.get(stream or "", {})
    machine: Environment = {
        name: str(logged[name]) for name in ("host", "cpu_model") if name in logged
    }
    return replace(task, log_stream=stream, **machine)


def _failure(task: TaskResult, logged: Logged, streams: Mapping[str, str]) -> str:
    """Return why a task failed, with its step and what it logged last, if anything."""
    stream, rows = streams.get(task.task_id or ""), logged.failures
    if task.service:
        return f"{task.reason}{last_lines(logged.last_lines, stream or '')}"
    failures = [row["failure"] for row in rows if row["@logStream"] == stream and "failure" in row]
    reason = f"step {task.step}: {task.reason}" if task.step else task.reason
    if not failures or task.stop_category == "timeout":  # whose log says the same
        return reason
    return f"{reason}: {shortened(failures[0], _LONGEST_WORDS)}"


def _first(reasons: Sequence[str]) -> str:
    """Return the first few reasons of the tasks, and the number of the others."""
    more = len(reasons) - _MOST_REASONS
    listed = "; ".join(reasons[:_MOST_REASONS])
    return f"{listed}; and {more} more" if more > 0 else listed


def _status(
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
                f"{rate.not_finite} values of {rate.name} are not positive, finite numbers",
            )
        if rate.value is None:
            others = f"not {rate.expected}" if rate.expected else "which give no figure"
            return "incomplete", f"{rate.samples} values of {rate.name}, {others}"
    return "ok", ""
