"""The rows of Athena's tables, one JSON object per line, from the trials of a run."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from tidemark.model.labels import canonical, figure_title
from tidemark.model.metric import Metric
from tidemark.model.parameters import Combination
from tidemark.model.plan import Plan, Resume
from tidemark.model.results import (
    NO_EXCLUSIONS,
    Exclusions,
    Rate,
    TestResult,
    TrialResult,
    Usage,
    joined,
    no_rate,
    span_seconds,
)
from tidemark.model.suite import Test
from tidemark.money.run_cost import insights_bytes, run_cost, task_seconds
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.columns import SCHEMA, timestamp

Row = dict[str, Any]
_USAGE = [field.name for field in fields(Usage)]


def rate_rows(
    plan: Plan, trials: Iterable[TrialResult], exclusions: Exclusions = NO_EXCLUSIONS
) -> Iterator[Row]:
    """Yield the rows of ``rates``: one for each figure of a trial.

    A metric without a figure has a row for each of its statistics, with no label but the axes.
    """
    for trial in trials:
        for result in trial.tests:
            test, of_result = plan.suite.test(result.test), _of_result(plan, trial, result)
            excluded = exclusions.reason(trial.trial) is not None
            for metric, rate in _figures(test, result, trial.axes):
                key = _key(trial, result, rate.metric, rate.labels)
                figure = result.test, rate.metric, rate.statistic, key["labels"], rate.unit
                yield {
                    **key,
                    "statistic": rate.statistic,
                    "unit": rate.unit,
                    "direction": rate.direction,
                    "value": rate.value,
                    "value_text": rate.value_text,
                    "samples": rate.samples,
                    "expected": rate.expected,
                    "not_finite": rate.not_finite,
                    "stddev": rate.stddev,
                    "min": rate.min,
                    "max": rate.max,
                    "records": rate.records,
                    "span_seconds": span_seconds(test.tasks_of(metric.step, result.tasks)),
                    "excluded": excluded,
                    "title": figure_title(*figure),
                    **of_result,
                }


def _of_result(plan: Plan, trial: TrialResult, result: TestResult) -> Row:
    """Return the columns that all figures of a test's result have in common."""
    return {
        "version": trial.version,
        "version_order": plan.version_order(trial.version),
        "repetition": trial.repetition,
        "status": result.status,
        "reason": result.reason,
        "started_at": _time(result.started_at),
        "ended_at": _time(result.ended_at),
        **_environment(result),
        "package": trial.package,
        "provenance": "imported" if plan.imported else "measured",
        "source": plan.imported.text if plan.imported else None,
        "schema": SCHEMA,
        "warm_up": False,
        "image_digest": result.image_digest,
    }


def _figures(test: Test, result: TestResult, axes: Combination) -> Iterator[tuple[Metric, Rate]]:
    """Yield the figures of a test's metrics, and an empty one for each that was not measured."""
    measured: defaultdict[tuple[str, str], list[Rate]] = defaultdict(list)
    for rate in result.rates:
        measured[rate.metric, rate.statistic].append(rate)
    for metric, statistic in test.figures():
        for rate in measured[metric.name, statistic] or [no_rate(metric, statistic, axes)]:
            yield metric, rate


def sample_rows(
    trials: Iterable[TrialResult], exclusions: Exclusions = NO_EXCLUSIONS
) -> Iterator[Row]:
    """Yield the rows of ``task_rates``: one for each rate line of each task."""
    for trial in trials:
        for result in trial.tests:
            tasks = {task.task_id: task for task in result.tasks}
            for line, sample in enumerate(result.samples, start=1):
                task = tasks[sample.task_id]
                yield {
                    **_key(trial, result, sample.metric, sample.labels),
                    "log_stream": sample.log_stream,
                    "logged_at": sample.logged_at,
                    "line": line,
                    "version": trial.version,
                    "task_id": task.task_id,
                    "job": sample.job,
                    "value": sample.value,
                    "value_text": sample.value_text,
                    "records": sample.records,
                    "seconds": task.seconds,
                    "exit_code": task.exit_code,
                    "stop_category": task.stop_category,
                    "excluded": exclusions.reason(trial.trial) is not None,
                    "schema": SCHEMA,
                    "recomputed": sample.recomputed,
                    "host": task.host,
                    "cpu_model": task.cpu_model,
                    "zone": task.zone,
                }


def usage_rows(
    trials: Iterable[TrialResult], exclusions: Exclusions = NO_EXCLUSIONS
) -> Iterator[Row]:
    """Yield the rows of ``task_usage``: one for each logged usage of a task."""
    for trial in trials:
        for result in trial.tests:
            seconds = result.seconds(usage.logged_at for usage in result.usages)
            for usage, second in zip(result.usages, seconds, strict=True):
                yield {
                    "run_id": trial.run_id,
                    "trial": trial.trial,
                    "test": result.test,
                    "version": trial.version,
                    "second": second,
                    **{name: getattr(usage, name) for name in _USAGE},
                    "excluded": exclusions.reason(trial.trial) is not None,
                    "schema": SCHEMA,
                }


def run_row(
    plan: Plan,
    trials: Sequence[TrialResult],
    status: str,
    reason: str,
    ended: datetime,
    resumes: Iterable[Resume] = (),
    profiled: Sequence[TrialResult] = (),
) -> Row:
    """Return the row of ``runs``; its times and costs include the profiled trials."""
    measured = (*trials, *profiled)
    request, cost = plan.request, run_cost(plan, measured)
    return {
        "run_id": plan.run_id,
        "status": status,
        "reason": reason,
        "trigger": request.trigger,
        "note": request.note,
        "started_at": _time(plan.started_at),
        "ended_at": _time(ended),
        "input": request.model_dump_json(),
        "versions": list(request.versions),
        "baseline": request.baseline,
        "repetitions": request.repetitions,
        "tasks": request.parameters.get("tasks"),
        "records": request.parameters.get("records"),
        "trials_planned": len(plan.trials),
        "trials_done": sum(trial.status == "ok" for trial in trials),
        "seed": plan.seed,
        "task_seconds": task_seconds(measured),
        "execution_arn": plan.execution_arn,
        "suite_digest": plan.suite_digest,
        "schema": SCHEMA,
        "cost_usd": cost.total if cost else None,
        "insights_bytes": insights_bytes(measured),
        "athena_bytes": None,
        "tidemark_version": plan.tidemark_version,
        "resumes": [
            json.dumps(
                {
                    "started_at": _time(resume.started_at),
                    "trigger": resume.trigger,
                    "note": resume.note,
                },
                ensure_ascii=False,
            )
            for resume in resumes
        ],
        "parameters": request.other_parameters,
    }


def packed(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as gzipped JSON lines; the same rows give the same bytes."""
    gzip = zlib.compressobj(level=9, wbits=31)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return b"".join(gzip.compress(line.encode()) for line in lines) + gzip.flush()


def _key(trial: TrialResult, result: TestResult, metric: str, labels: Mapping[str, str]) -> Row:
    return {
        "run_id": trial.run_id,
        "trial": trial.trial,
        "test": result.test,
        "metric": metric,
        "labels": canonical(labels),
    }


def _environment(result: TestResult) -> Row:
    """Return the machine's columns; the columns of different machines are joined."""
    text = json.dumps(result.environments, sort_keys=True)
    return {
        "environment": hashlib.sha256(text.encode()).hexdigest() if result.environments else None,
        "cpu_model": joined(machine.get("cpu_model") for machine in result.environments),
        "arch": joined(machine.get("arch") for machine in result.environments),
    }


def _time(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment else None


def keep_latest(bucket: Bucket, table: str, suite: str, run_id: str, rows: bytes) -> None:
    """Replace the rows of older runs in a table; keep the rows of a newer run.

    The run is part of the key, so that a writer that is late or dies half-way never replaces a
    newer run by an older one. It leaves at most one extra object, which queries skip and the
    suite's next run deletes.
    """
    key = keys.table(table, suite, run_id)
    stored = list(bucket.keys(keys.tables(table, suite)))
    if any(stored_key > key for stored_key in stored):
        return
    bucket.write(key, rows)
    for stored_key in stored:
        if stored_key < key:
            bucket.delete(stored_key)
