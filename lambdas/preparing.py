"""Preparing a trial: the ECS tasks of each of its tests, as the state machine starts them."""

from __future__ import annotations

from lambdas.systems import System
from suites import keys
from suites.model import MOST_ITERATIONS, Frozen, Test
from suites.plan import Plan, PlannedTrial

# How much longer Step Functions waits than the task gives itself, so that its log says why it
# ended: the state's time also counts the provisioning of the task and the pull of its image.
_MARGIN_SECONDS = 300


class Group(Frozen):
    """Tasks that a Map runs at once: their indices from the first to the last, from 0."""

    first: int
    last: int


class PreparedTest(Frozen):
    """The tasks of one test."""

    name: str
    groups: tuple[Group, ...]
    timeout_seconds: int
    environment: list[dict[str, str]]
    """As RunTask takes it."""


class PreparedTrial(Frozen):
    """What the tasks of a trial run, and their tests in order."""

    version: str
    task_definition: str
    container: str
    tests: tuple[PreparedTest, ...]


def prepare(plan: Plan, trial: PlannedTrial, where: System, bucket: str) -> PreparedTrial:
    """Return the tests of a trial, whose tasks run ``where`` and keep their data in a bucket."""
    return PreparedTrial(
        version=trial.version,
        task_definition=where.task_definition,
        container=where.container,
        tests=tuple(
            PreparedTest(
                name=test.name,
                groups=_groups(plan.request.tasks),
                timeout_seconds=test.timeout_seconds + _MARGIN_SECONDS,
                environment=_environment(plan, trial, test, bucket),
            )
            for test in plan.suite.tests
        ),
    )


def _groups(tasks: int) -> tuple[Group, ...]:
    return tuple(
        Group(first=first, last=min(first + MOST_ITERATIONS, tasks) - 1)
        for first in range(0, tasks, MOST_ITERATIONS)
    )


def _environment(plan: Plan, trial: PlannedTrial, test: Test, bucket: str) -> list[dict[str, str]]:
    data = keys.data(plan.run_id, trial.trial).rstrip("/")
    values = {
        "TIDEMARK_VERSION": trial.version,
        "TIDEMARK_PACKAGE": trial.package,
        "TIDEMARK_RECORDS": plan.request.records,
        "TIDEMARK_JOBS": test.jobs,
        # One seed for all trials of a run: every version works on the same records.
        "TIDEMARK_SEED": plan.seed,
        "TIDEMARK_DATA": f"s3://{bucket}/{data}",
        "TIDEMARK_DEADLINE_SECONDS": test.timeout_seconds,
    }
    return [{"Name": name, "Value": str(value)} for name, value in values.items()]
