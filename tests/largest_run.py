"""The largest run that is accepted, as its stored trials: every entry is a sample or its task."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.plans import plan_of
from tidemark.figures.trial_result import trial_result
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Rate, Sample, TaskResult, TestResult, TrialResult
from tidemark.model.run_size import MOST_RUN_ENTRIES, entries
from tidemark.model.suite import Suite, Test
from tidemark.model.suite_files import read_suites

_TASKS = 200
_VERSIONS = ("8.8.1", "9.8.4")


def largest_plan() -> Plan:
    """Return the plan of the largest run: two versions, 200 tasks, and 49 samples of each test."""
    suite = _suite()
    repetitions = MOST_RUN_ENTRIES // entries(suite, _TASKS) // len(_VERSIONS)
    fields = {"versions": [*_VERSIONS], "baseline": _VERSIONS[0], "tasks": _TASKS}
    return plan_of({**fields, "repetitions": repetitions}, suite=suite)


def largest_trials(plan: Plan) -> Iterator[TrialResult]:
    """Yield the trials of the plan, each with all that its tasks may log."""
    chance = random.Random(plan.seed)
    for trial in plan.trials:
        measured = {test.name: _test(chance, plan, trial, test) for test in plan.suite.tests}
        yield trial_result(plan, trial, measured, "")


def _suite() -> Suite:
    suite = read_suites()["rocksdb"]
    of_samples = {"jobs": 49, "timeout_seconds": 60}
    return suite.model_copy(
        update={"tests": tuple(test.model_copy(update=of_samples) for test in suite.tests)}
    )


def _test(chance: random.Random, plan: Plan, trial: PlannedTrial, test: Test) -> TestResult:
    begun = plan.started_at + timedelta(minutes=5 * trial.trial)
    tasks = [_task(chance, index, begun) for index in range(plan.request.tasks)]
    samples = [
        sample for task in tasks for sample in _samples(chance, test, task.log_stream or "", begun)
    ]
    return TestResult(
        test=test.name,
        status="ok",
        started_at=begun,
        ended_at=begun + timedelta(minutes=1),
        tasks=tuple(tasks),
        rates=(_rate(test, samples),),
        samples=tuple(samples),
        environments=({"cpu_model": "Neoverse-V1", "arch": "aarch64"},),
        log_group="/Tidemark/rocksdb",
        insights_bytes=10_000_000,
    )


def _task(chance: random.Random, index: int, begun: datetime) -> TaskResult:
    task_id = f"{chance.getrandbits(128):032x}"
    return TaskResult(
        index=index,
        status="ok",
        task_arn=f"arn:aws:ecs:eu-west-2:123456789012:task/Tidemark-TestsCluster/{task_id}",
        exit_code=0,
        started_at=begun + timedelta(milliseconds=chance.randrange(9_000)),
        stopped_at=begun + timedelta(seconds=59),
        pull_started_at=begun,
        image_digest=f"sha256:{'ab' * 32}",
        zone="eu-west-2a",
        log_stream=f"rocksdb/rocksdb/{task_id}",
        host=f"ip-10-0-{index}-7.eu-west-2.compute.internal",
        cpu_model="Neoverse-V1",
    )


def _samples(chance: random.Random, test: Test, stream: str, begun: datetime) -> Iterator[Sample]:
    for job in range(test.jobs):
        logged = begun + timedelta(seconds=job + 1, milliseconds=chance.randrange(999))
        value = chance.uniform(1e5, 3e6)
        yield Sample(
            metric=test.metrics[0].name,
            log_stream=stream,
            logged_at=f"{logged:%Y-%m-%d %H:%M:%S.%f}"[:-3],
            job=f"{chance.getrandbits(128):032x}",
            value_text=f"{value:.3f}",
            value=value,
            records=1_000_000 + chance.randrange(1_000),
            seconds=chance.uniform(0.1, 9.0),
        )


def _rate(test: Test, samples: list[Sample]) -> Rate:
    values, (metric,) = [sample.value or 0.0 for sample in samples], test.metrics
    return Rate(
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        value=sum(values) / len(values),
        samples=len(values),
        expected=len(values),
        not_finite=0,
        stddev=1.0,
        min=min(values),
        max=max(values),
        records=None,
    )
