"""PrepareTrial: the steps of a trial's tests, as the state machine does them."""

import json
import operator
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field, JsonValue

from tidemark.model.base import Frozen
from tidemark.model.instance import filled, word_of
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.run_id import is_profiled
from tidemark.model.run_spec import released
from tidemark.model.services import READY_QUERY, Size
from tidemark.model.steps import Step
from tidemark.model.suite import (
    OWN_DIGITS,
    SECONDS_BETWEEN_GROUPS,
    TASKS_OF_GROUP,
    TRIALS,
    Suite,
    Test,
)
from tidemark.run.ecs_resources import System
from tidemark.run.events import TrialEvent
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


class InstancePlace(Frozen):
    """The place where the tasks of an instance run, for a step that starts such tasks."""

    cluster: str
    task_definition: str
    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]


class PreparedStep(Frozen):
    """The tasks of one step of a test."""

    place: InstancePlace | None = Field(default=None, exclude_if=operator.not_)
    """The place of tasks of an instance; None for the suite's own tasks."""
    container: str
    """The container that runs the command; a task may have others that nobody here asked for."""
    command: tuple[str, ...]
    first: int
    """The index of the step's first task among the tasks of the test."""
    groups: tuple[Group, ...]
    deadline_seconds: int
    """The time after which a task ends itself [s]."""
    timeout_seconds: int


class PreparedService(Frozen):
    """The start of a service, which a test does before its steps."""

    name: str
    awaited: str = READY_QUERY
    """The query that has a row once the service is ready."""
    index: int
    """The index of the service's task, which follows the indices of the test's own tasks."""
    containers: tuple[str, ...]
    """The containers of the service, its program first."""
    task_definition: str
    command: tuple[str, ...]
    environment: list[dict[str, str]]
    """The environment variables of the service alone, as RunTask takes them."""
    size: dict[str, str]
    """The CPU units and memory [MiB] that RunTask gives the task in place of its own, if any."""


_Act = dict[str, JsonValue]
"""A step without tasks: its name, and the fields that tell its state what to call, to wait for, to
pause or to search."""


class PreparedTest(Frozen):
    """The services and steps of one test."""

    name: str
    steps: tuple[PreparedService | PreparedStep | _Act, ...]
    """The services first: the test starts each as a step and goes on once it is ready."""
    artefacts: str
    """The address below which each task leaves files, followed by the task's index."""
    environment: list[dict[str, str]]
    """The environment variables of all services and steps, as RunTask takes them."""


class PreparedTrial(Frozen):
    """The system that a trial runs in, and its tests in order."""

    system: System
    tests: tuple[PreparedTest, ...]


class PrepareTrialEvent(TrialEvent):
    """A trial to prepare, and the systems that the stack has, by suite."""

    systems: dict[str, System]


def prepare(
    plan: Plan, trials: Sequence[PlannedTrial], system: System, bucket: str
) -> PreparedTrial:
    """Return the tests of a trial; their tasks run in ``system`` and keep data in a bucket.

    Several trials are a round: their versions take turns in the tasks, which have the variables of
    the first trial.

    The place of the data is a secret of the trial's tasks: they may list only below such a secret,
    so that the tasks of other trials cannot find it. The names of the resources that they make are
    secrets, too.
    """
    trial = trials[0]
    secret = secrets.token_hex(keys.SECRET_DIGITS // 2)
    data = f"s3://{bucket}/{keys.data(plan.run_id, trial.trial)}{secret}"
    own = f"{plan.suite.owns}{secrets.token_hex(OWN_DIGITS // 2)}" if plan.suite.owns else ""
    shared = {"TIDEMARK_DATA": data} | ({"TIDEMARK_OWN": own} if own else {})
    left = {test.name: f"{data}/artefacts/{test.name}/" for test in plan.suite.tests}
    return PreparedTrial(
        system=system,
        tests=tuple(
            PreparedTest(
                name=test.name,
                steps=(
                    *_services(test, plan, trial, system, left[test.name]),
                    *_steps(test, plan, system),
                ),
                artefacts=left[test.name],
                environment=[
                    *_environment(plan, trial, test, shared),
                    *_round(plan, trials, test),
                    *_levels(test, data),
                    *_profiler(plan, trial),
                ],
            )
            for test in plan.suite.tests
        ),
    )


def _services(
    test: Test, plan: Plan, trial: PlannedTrial, system: System, left: str
) -> Iterator[PreparedService]:
    """Yield the services of a test; their tasks are numbered after the test's own tasks.

    A service leaves no file below the address ``left`` but its profile.
    """
    for index, name in enumerate(test.services, test.task_count(plan.request.tasks)):
        service = plan.suite.services[name]
        values: dict[str, object] = {
            **service.ready.variables,
            "TIDEMARK_DEADLINE_SECONDS": _service_seconds(plan.suite, test),
        }
        if is_profiled(trial.trial):
            values["TIDEMARK_ARTEFACTS"] = f"{left}{index}/"
        yield PreparedService(
            name=name,
            index=index,
            containers=(name, *service.task.beside_under(trial.axes)),
            task_definition=system.services[name],
            command=service.command or (name,),
            environment=_variables(values),
            size=_size(service.size(trial.axes)),
        )


def _size(size: Size | None) -> dict[str, str]:
    """Return the CPU and memory of a task, as RunTask's overrides take them."""
    if size is None:
        return {}
    memory = {"Memory": str(size.memory)} if size.memory else {}
    return {"Cpu": str(size.cpu), **memory}


def _service_seconds(suite: Suite, test: Test) -> int:
    """Return the time after which a service ends itself [s], though nobody may have stopped it."""
    starts = sum(suite.services[name].within_seconds for name in test.services)
    return starts + sum(test.limit_seconds(step) + _MARGIN_SECONDS for step in test.every_step)


def _steps(test: Test, plan: Plan, system: System) -> Iterator[PreparedStep | _Act]:
    """Yield the steps of a test."""
    words = plan.words
    for step, indices in test.task_indices(plan.request.tasks):
        if step.invoke:
            function = filled(step.invoke.function, words)
            yield {"name": step.name, **step.invoke.model_dump(), "function": function}
        elif step.pause:
            # An instance may lack a rule; then its word stands for an empty text.
            named = (filled(rule, words) for rule in step.pause.rules)
            if rules := list(filter(None, named)):
                yield {"name": step.name, "rules": [*rules]}
        elif step.wait_until:
            yield {"name": step.name, "awaited": filled(step.wait_until.awaited, words)}
        elif step.load:
            yield {"name": step.name, "awaited": step.load.query}
        elif step.find_tasks:
            yield {"name": step.name, "cluster": filled(step.find_tasks.cluster, words)}
        else:
            yield _prepared(step, indices, test.limit_seconds(step), plan, system)


def _prepared(
    step: Step, indices: range, limit_seconds: int, plan: Plan, system: System
) -> PreparedStep:
    definition = step.run_tasks.definition if step.run_tasks else ""
    theirs = plan.known.logs[word_of(definition)] if definition and plan.known else None
    return PreparedStep(
        place=_place(step, plan),
        container=theirs.container if theirs else system.container,
        command=tuple(_arguments(step.command, plan.words)),
        first=indices.start,
        groups=_groups(indices),
        deadline_seconds=limit_seconds,
        timeout_seconds=limit_seconds + _MARGIN_SECONDS,
    )


def _arguments(command: Iterable[str], words: Mapping[str, str]) -> Iterator[str]:
    """Yield the arguments of tasks, without names of resources that the instance lacks."""
    for argument in command:
        text = filled(argument, words) if words else argument
        if text or not argument:
            yield text


def _place(step: Step, plan: Plan) -> InstancePlace | None:
    """Return where the tasks of a step run; None for the suite's own tasks."""
    tasks = step.run_tasks
    if not (tasks and tasks.definition and plan.known):
        return None
    found = {
        field: filled(word, plan.words)
        for field in ("definition", "cluster", "subnets", "security_groups")
        if (word := getattr(tasks, field))
    }
    return InstancePlace(
        cluster=found["cluster"],
        task_definition=found["definition"],
        subnets=tuple(found["subnets"].split(",")),
        security_groups=tuple(filter(None, found.get("security_groups", "").split(","))),
    )


def _groups(indices: range) -> tuple[Group, ...]:
    return tuple(
        Group(
            wait_seconds=number * SECONDS_BETWEEN_GROUPS,
            first=first,
            last=min(first + TASKS_OF_GROUP, indices.stop) - 1,
        )
        for number, first in enumerate(indices[::TASKS_OF_GROUP])
    )


def _environment(
    plan: Plan, trial: PlannedTrial, test: Test, shared: Mapping[str, str]
) -> list[dict[str, str]]:
    given = {**plan.request.parameters, **trial.axes}
    values = {
        "TIDEMARK_VERSION": released(plan.request, trial.version),
        "TIDEMARK_PACKAGE": trial.package,
        **{f"TIDEMARK_{name.upper()}": value for name, value in given.items()},
        "TIDEMARK_JOBS": test.jobs,
        # One seed for all trials of a run: every version works on the same records.
        "TIDEMARK_SEED": plan.seed,
        **shared,
    }
    return _variables(values)


def _round(plan: Plan, trials: Sequence[PlannedTrial], test: Test) -> list[dict[str, str]]:
    """Return the versions of a round, with the order of their turns and the number of slices."""
    if plan.request.layout == TRIALS or is_profiled(trials[0].trial):
        return []
    slowed = plan.request.slowed
    versions = [
        {
            "name": trial.version,
            "version": released(plan.request, trial.version),
            "package": trial.package,
            **({"loss": slowed[trial.version] / 100} if trial.version in slowed else {}),
        }
        for trial in trials
    ]
    given = {"repetition": trials[0].repetition, "slices": test.jobs, "versions": versions}
    return _variables({"TIDEMARK_ROUND": json.dumps(given)})


def _levels(test: Test, data: str) -> list[dict[str, str]]:
    """Return where the agents of a test's load find their level."""
    has_load = any(step.load for step in test.steps)
    return _variables({"TIDEMARK_LEVELS": f"{data}/{keys.levels(test.name)}"} if has_load else {})


def _profiler(plan: Plan, trial: PlannedTrial) -> list[dict[str, str]]:
    """Return the profiler of a profiled trial and its frequency."""
    profile = plan.request.profile
    if profile is None or not is_profiled(trial.trial):
        return []
    return _variables({"TIDEMARK_PROFILER": plan.suite.profiler, "TIDEMARK_PROFILE_HZ": profile.hz})


def _variables(values: Mapping[str, object]) -> list[dict[str, str]]:
    return [{"Name": name, "Value": str(value)} for name, value in values.items()]
