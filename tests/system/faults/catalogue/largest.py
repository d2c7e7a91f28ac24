"""The largest accepted run, whose last missing trial a resume measures.

To measure every trial would take a day: the others are stored as trials of tasks that failed after
they had logged their rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from tests.system.faults.catalogue.services import invocations
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import SUITE, Ground
from tidemark.client.runs import Run
from tidemark.figures.trial_status import trial_result
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Sample, TaskResult, TestResult, TrialResult, Usage, no_rate
from tidemark.model.suite import Test
from tidemark.store import keys
from tidemark.store.stored_plan import find_plan

_VERSIONS = ("healthy", "healthy-too", "exit-1", "one-dead", "silent", "zero")
# Six versions, 92 repetitions and 200 tasks with nine entries each: 993,600 of 1,000,000.
_REPETITIONS, _TASKS = 92, 200


def of_size(repetitions: int, tasks: int) -> Callable[[Ground], list[Run]]:
    """Return a function that resumes a run of some repetitions for its last missing trial."""

    def act(ground: Ground) -> list[Run]:
        with ground.wire.held(invocations("PrepareTrial")) as arrived:
            run = ground.start(
                versions=[*_VERSIONS], baseline="healthy", repetitions=repetitions, tasks=tasks
            )
            arrived.wait()
            ground.stop(run.execution_arn)
        ground.wait_for_outcome(run)
        plan = find_plan(ground.client.bucket, run.run_id)
        assert plan, "PlanRun had planned the run"
        _store(ground, plan)
        return [ground.wait_for_outcome(ground.resume(run))]

    return act


def _store(ground: Ground, plan: Plan) -> None:
    """Store every trial but the first healthy one."""
    s3 = ground.cloud.endpoint.client("s3")
    missing = next(trial for trial in plan.trials if trial.version == "healthy")
    for trial in plan.trials:
        if trial is not missing:
            body = _failed(plan, trial).model_dump_json().encode()
            key = keys.trial(plan.run_id, trial.trial)
            s3.put_object(Bucket=ground.stack.bucket, Key=key, Body=body)


def _failed(plan: Plan, trial: PlannedTrial) -> TrialResult:
    measured = {test.name: _test(plan, trial, test) for test in plan.suite.tests}
    return trial_result(plan, trial, measured, "")


def _test(plan: Plan, trial: PlannedTrial, test: Test) -> TestResult:
    (metric,) = test.metrics
    begun = plan.started_at + timedelta(minutes=trial.trial)
    ids = [f"{trial.trial:03d}{test.name}{index:03d}" for index in range(plan.request.tasks)]
    return TestResult(
        test=test.name,
        status="failed",
        reason="every task failed at its end",
        started_at=begun,
        ended_at=begun + timedelta(seconds=9),
        tasks=tuple(
            TaskResult(
                index=index,
                status="failed",
                task_arn=f"arn:aws:ecs:us-east-1:123456789012:task/Tidemark/{task_id}",
                exit_code=1,
                started_at=begun,
                stopped_at=begun + timedelta(seconds=9),
                log_stream=f"{SUITE}/{SUITE}/{task_id}",
            )
            for index, task_id in enumerate(ids)
        ),
        rates=(no_rate(metric, "mean", {}),),
        samples=tuple(sample for task_id in ids for sample in _samples(test, task_id, begun.year)),
        usages=tuple(_usage(task_id, begun.year) for task_id in ids),
        insights_bytes=1_000_000,
    )


def _samples(test: Test, task_id: str, year: int) -> Iterator[Sample]:
    for job in range(test.jobs):
        yield Sample(
            metric=test.metrics[0].name,
            log_stream=f"{SUITE}/{SUITE}/{task_id}",
            logged_at=f"{year}-11-20 12:44:{job:02d}.000",
            job=None,
            value_text="500000.5",
            value=500_000.5,
            records=100,
        )


def _usage(task_id: str, year: int) -> Usage:
    return Usage(
        task_id=task_id,
        logged_at=f"{year}-11-20 12:44:59.000",
        cpu=0.5,
        memory=100.5,
        network_in=1000.0,
        network_out=2000.0,
        disk_read=3000.0,
        disk_written=4000.0,
    )


FAULTS = (
    Fault(
        name="largest-run",
        happens="the largest accepted run is stopped, and resumed for its last missing trial",
        act=of_size(_REPETITIONS, _TASKS),
        endings=(
            Ending(
                "incomplete",
                "551 of 552 trials did not give all rates; the first is trial …: every task failed "
                "at its end",
                2,
            ),
        ),
        # The tables of all runs are read after each fault: the last one is to be the largest.
        logs_deadline_seconds=60,
    ),
)
