"""The largest run and trial that are accepted: every entry is a sample or its task."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from tests.plans import RUN, plan_of
from tidemark.figures.trial_status import trial_result
from tidemark.model.metric import Metric
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Rate, Sample, TaskResult, TestResult, TrialResult
from tidemark.model.run_size import MOST_RUN_ENTRIES, entries
from tidemark.model.suite import Suite, Test
from tidemark.model.suite_files import read_suites

_TASKS = 200
_VERSIONS = ("8.8.1", "9.8.4")
_FIELDS = {"versions": [*_VERSIONS], "baseline": _VERSIONS[0], "tasks": _TASKS}


def largest_plan() -> Plan:
    """Return the plan of the largest run: two versions, 200 tasks, and 49 samples of each test."""
    suite = _suite(metrics=1)
    repetitions = MOST_RUN_ENTRIES // entries(suite, _TASKS) // len(_VERSIONS)
    return plan_of({**_FIELDS, "repetitions": repetitions}, suite=suite)


def plan_of_largest_trials() -> Plan:
    """Return the plan of another run: five metrics make 98,800 entries of a trial, of 100,000."""
    return plan_of({**_FIELDS, "repetitions": 1}, suite=_suite(metrics=5), name=f"{RUN[:-1]}0")


def trials_of(plan: Plan) -> Iterator[TrialResult]:
    """Yield the trials of a plan, each with all that its tasks may log."""
    chance = random.Random(plan.seed)
    for trial in plan.trials:
        measured = {test.name: _test(chance, plan, trial, test) for test in plan.suite.tests}
        yield trial_result(plan, trial, measured, "")


def _suite(metrics: int) -> Suite:
    """Return the suite with a number of metrics of each test."""
    suite = read_suites()["rocksdb"]
    return suite.model_copy(update={"tests": tuple(_of_samples(t, metrics) for t in suite.tests)})


def _of_samples(test: Test, metrics: int) -> Test:
    (metric,) = test.metrics
    names = [metric.name, *(f"{metric.name}_{number}" for number in range(2, metrics + 1))]
    copies = tuple(metric.model_copy(update={"name": name}) for name in names)
    return test.model_copy(update={"metrics": copies, "jobs": 49, "timeout_seconds": 60})


def _test(chance: random.Random, plan: Plan, trial: PlannedTrial, test: Test) -> TestResult:
    begun = plan.started_at + timedelta(minutes=5 * trial.trial)
    tasks = [_task(chance, index, begun) for index in range(plan.request.tasks)]
    samples = {
        metric: [each for task in tasks for each in _samples(chance, test, metric, task, begun)]
        for metric in test.metrics
    }
    return TestResult(
        test=test.name,
        status="ok",
        started_at=begun,
        ended_at=begun + timedelta(minutes=1),
        tasks=tuple(tasks),
        rates=tuple(_rate(metric, values) for metric, values in samples.items()),
        samples=tuple(each for values in samples.values() for each in values),
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


def _samples(
    chance: random.Random, test: Test, metric: Metric, task: TaskResult, begun: datetime
) -> Iterator[Sample]:
    for job in range(test.jobs):
        logged = begun + timedelta(seconds=job + 1, milliseconds=chance.randrange(999))
        value = chance.uniform(1e5, 3e6)
        yield Sample(
            metric=metric.name,
            log_stream=task.log_stream or "",
            logged_at=f"{logged:%Y-%m-%d %H:%M:%S.%f}"[:-3],
            job=f"{chance.getrandbits(128):032x}",
            value_text=f"{value:.3f}",
            value=value,
            records=1_000_000 + chance.randrange(1_000),
            seconds=chance.uniform(0.1, 9.0),
        )


def _rate(metric: Metric, samples: list[Sample]) -> Rate:
    values = [sample.value or 0.0 for sample in samples]
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
