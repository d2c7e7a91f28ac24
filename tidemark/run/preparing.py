"""The preparation of a trial: the ECS tasks of its tests, as the state machine starts them."""

import secrets

from tidemark.model.frozen import Frozen
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.suite import SECONDS_BETWEEN_GROUPS, TASKS_OF_GROUP, Test
from tidemark.run.system import System
from tidemark.store import keys

# Step Functions waits this much longer than the task's own deadline, so that the task's log says
# why it ended: the state's time includes the provisioning of the task and the pull of its image.
_MARGIN_SECONDS = 300


class Group(Frozen):
    """Tasks that start at once: their first and last index, counted from 0."""

    wait_seconds: int
    """The wait before their start [s]."""
    first: int
    last: int


class PreparedTest(Frozen):
    """The tasks of one test."""

    name: str
    groups: tuple[Group, ...]
    timeout_seconds: int
    artefacts: str
    """The address below which each task leaves files, followed by the task's index."""
    environment: list[dict[str, str]]
    """The environment variables, as RunTask takes them."""


class PreparedTrial(Frozen):
    """The task definition of a trial, and its tests in order."""

    task_definition: str
    container: str
    tests: tuple[PreparedTest, ...]


def prepare(plan: Plan, trial: PlannedTrial, system: System, bucket: str) -> PreparedTrial:
    """Return the tests of a trial; their tasks run in ``system`` and keep data in a bucket.

    The place of the data is a secret of the trial's tasks: they may list nothing, so that the tasks
    of other trials cannot find it.
    """
    data = f"s3://{bucket}/{keys.data(plan.run_id, trial.trial)}{secrets.token_hex(16)}"
    return PreparedTrial(
        task_definition=system.task_definition,
        container=system.container,
        tests=tuple(
            PreparedTest(
                name=test.name,
                groups=_groups(plan.request.tasks),
                timeout_seconds=test.timeout_seconds + _MARGIN_SECONDS,
                artefacts=f"{data}/artefacts/{test.name}/",
                environment=_environment(plan, trial, test, data),
            )
            for test in plan.suite.tests
        ),
    )


def _groups(tasks: int) -> tuple[Group, ...]:
    return tuple(
        Group(
            wait_seconds=number * SECONDS_BETWEEN_GROUPS,
            first=first,
            last=min(first + TASKS_OF_GROUP, tasks) - 1,
        )
        for number, first in enumerate(range(0, tasks, TASKS_OF_GROUP))
    )


def _environment(plan: Plan, trial: PlannedTrial, test: Test, data: str) -> list[dict[str, str]]:
    given = {**plan.request.parameters, **trial.axes}
    values = {
        "TIDEMARK_VERSION": trial.version,
        "TIDEMARK_PACKAGE": trial.package,
        **{f"TIDEMARK_{name.upper()}": value for name, value in given.items()},
        "TIDEMARK_JOBS": test.jobs,
        # One seed for all trials of a run: every version works on the same records.
        "TIDEMARK_SEED": plan.seed,
        "TIDEMARK_DATA": data,
        "TIDEMARK_DEADLINE_SECONDS": test.timeout_seconds,
    }
    return [{"Name": name, "Value": str(value)} for name, value in values.items()]
