"""The suite model: the content of ``suites/<name>/suite.yaml``, for one system under test."""

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from tidemark.model.base import Consistent, Frozen, Name
from tidemark.model.instance import word_of, words
from tidemark.model.load import Load
from tidemark.model.metric import Metric, Series, Statistic
from tidemark.model.parameters import MOST_AXES, PYTHON, Axis, MaybeAxis, Number, Parameter, Value
from tidemark.model.refusal import Problem, form, problem
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.services import MOST_SERVICES, Service
from tidemark.model.steps import (
    LONGEST_TESTS_SECONDS,
    MOST_STEPS,
    RunTasks,
    Step,
    WaitUntil,
)
from tidemark.model.subject import Line, Subject, VersionText
from tidemark.model.task import Artefact, Task

if TYPE_CHECKING:  # PrepareTrial starts without the models of results
    from tidemark.model.results import TaskResult

# The trial's own digits and a hyphen follow: a bucket of S3 has 63 characters at most.
_OWNED = form(
    r"^[a-z][a-z0-9-]{2,19}$",
    "a small letter, and 2 to 19 small letters, digits and hyphens after it",
)
MOST_REPETITIONS = 100
MOST_VERSIONS = 20
MOST_BUDGET_USD = 1_000_000
# Amazon ECS developer guide, "AWS Fargate throttling quotas": an account may call RunTask 20 times
# a second. A group of tasks starts two seconds after the group before, since other programs start
# tasks, too. A Map runs 40 iterations at once (AWS Step Functions developer guide, "Using Map state
# in Inline mode"), so that all groups of a test, and all tasks of a group, run side by side.
TASKS_OF_GROUP = 20
SECONDS_BETWEEN_GROUPS = 2
OWN_DIGITS = 16
"""The hexadecimal digits of a trial in the names of what it makes for itself."""


Until = Literal["decided"]
Within = Annotated[int, Field(strict=True, ge=10, le=604_800)]
Layout = Literal["rounds", "trials"]
ROUNDS: Layout = "rounds"
"""Versions take turns in one task."""
TRIALS: Layout = "trials"
"""Each task measures one version."""


def is_trials(layout: object) -> bool:
    """Tell whether a layout is the default, which plans leave out."""
    return layout == TRIALS


class Test(Consistent):
    """One load of a suite: tasks that run to their end, in one step or several."""

    name: Name
    """The name, which the tasks get as their argument."""
    command: Line | None = Field(default=None, exclude_if=operator.not_)
    """The line of shell that a task runs, such as ``python measure.py``; every test of the suite
    has one, or none."""
    jobs: int = Field(default=1, strict=True, ge=1, le=100)
    """The number of values that each task logs for each metric, 1 to 100."""
    slices: int | None = Field(default=None, strict=True, ge=4, le=100, exclude_if=operator.not_)
    """The least number of jobs that count of each version in a [round](#rounds), 4 to 100; without
    it the versions cannot take turns in this test."""
    timeout_seconds: int = Field(default=600, strict=True, ge=10, le=LONGEST_TESTS_SECONDS)
    """The time after which a task is stopped, 10 to 69,120 [s], with the installation of its
    version. A task of a version's own image is stopped up to 5 minutes later: only the state
    machine ends it, which counts the pull of the image, too."""
    services: tuple[Name, ...] = Field(
        default=(), max_length=MOST_SERVICES, exclude_if=operator.not_
    )
    """The services that run during the test, up to 8, in the order in which they start."""
    steps: tuple[Step, ...] = Field(default=(), max_length=MOST_STEPS, exclude_if=operator.not_)
    """The steps in order, up to 12; by default the tasks run once."""
    seconds: float | None = Field(default=None, strict=True, gt=0, le=86_400)
    """The approximate duration of one job of one task [s], for the estimate before a run. Without
    it the estimate uses ``timeout_seconds`` and says so."""
    per: dict[Name, Number] = Field(default={}, max_length=5)
    """The amounts of parameters that ``seconds`` are the duration for, such as
    ``{records: 1000000}``; the duration grows with them."""
    fixed_seconds: float = Field(default=0.0, ge=0, le=86_400, exclude_if=operator.not_)
    """The part of a task's duration that no job and no parameter changes, such as the start of its
    program [s]; it comes on top of ``seconds``."""
    metrics: tuple[Metric, ...] = Field(min_length=1, max_length=400)
    """The metrics that log queries read, 1 to 20."""
    series: tuple[Series, ...] = Field(default=(), max_length=10)
    """The series that log queries read and a report draws, up to 10."""
    artefacts: tuple[Artefact, ...] = Field(default=(), max_length=10)
    """The names of files that tasks leave and the run keeps, up to 10."""

    @property
    def every_step(self) -> tuple[Step, ...]:
        """The steps; a test without steps runs its tasks once."""
        command = (self.command,) if self.command else None
        return self.steps or (Step(name=self.name, run_tasks=RunTasks(command=command)),)

    @property
    def loads(self) -> Sequence[Load]:
        """The loads of the test: one at most."""
        return [step.load for step in self.steps if step.load]

    @property
    def in_rounds(self) -> "Test":
        """The test with as many jobs as each version has slices in a round."""
        metrics = (
            each.model_copy(update={"values": "once"}) if each.once_in_round else each
            for each in self.metrics
        )
        jobs = self.slices or self.jobs
        return self.model_copy(update={"jobs": jobs, "metrics": tuple(metrics)})

    def task_indices(self, of_run: int) -> Iterator[tuple[Step, range]]:
        """Yield each step with the indices of its tasks in the test.

        ``of_run`` is the value of the run's parameter ``tasks``.
        """
        first = 0
        for step in self.every_step:
            yield step, range(first, first := first + step.tasks(of_run))

    def task_count(self, of_run: int) -> int:
        """Return the number of tasks of all steps."""
        return sum(len(indices) for _, indices in self.task_indices(of_run))

    def with_counts(self, values: Mapping[str, Value]) -> "Test":
        """Return the test whose steps have the numbers of tasks that a run's parameters give."""
        return self.model_copy(update={"steps": tuple(step.counted(values) for step in self.steps)})

    def limit_seconds(self, step: Step) -> int:
        """Return the time limit of a step [s]: then a task is stopped, or the test fails."""
        return step.work.timeout_seconds or self.timeout_seconds

    def limits(self, of_run: int) -> dict[int, int]:
        """Return the time limit of each task by its index in the test [s]."""
        each = self.task_indices(of_run)
        return {index: self.limit_seconds(step) for step, indices in each for index in indices}

    def is_of(self, declared: str | None, step: str) -> bool:
        """Tell whether the tasks of a step have what is declared for one step, or for all of them.

        A task of a test without steps is of the step ''.
        """
        if declared is not None:
            return declared == step
        return not self.steps or step in self._measured_steps

    def with_steps(self, of_run: int, tasks: "Sequence[TaskResult]") -> "Sequence[TaskResult]":
        """Return tasks of the test, each with its step, which its index tells, and its definition.

        A task that was found has its step.
        """
        if not self.steps:
            return tasks
        steps = [step for step, indices in self.task_indices(of_run) for _ in indices]
        return [
            task if task.service or task.step else _of_step(task, steps[task.index])
            for task in tasks
        ]

    def tasks_of(self, declared: str | None, tasks: "Iterable[TaskResult]") -> "list[TaskResult]":
        """Return the tasks that have what is declared for one step, or for all; no services."""
        return [task for task in tasks if not task.service and self.is_of(declared, task.step)]

    @property
    def log_groups(self) -> int:
        """The most log groups of the tasks: the suite's own, and one of each definition."""
        return 1 + len({word for step in self.steps for word in step.definitions})

    @property
    def _measured_steps(self) -> list[str]:
        return [step.name for step in self.steps if step.logs_values]

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit each other."""
        yield from self._unscaled()
        yield from self._unlike_steps()
        yield from self._unanswerable()
        yield from self._uncountable()
        if both := sorted({step.name for step in self.steps} & {*self.services}):
            yield problem(("steps",), f"a service has the name of a step: {listed(both)}")
        for number, step in enumerate(self.steps):
            if step.load and (unknown := sorted({*step.load.agents} - {*self.services})):
                known = there_are(self.services, unknown[0])
                sentence = f"{shown(unknown[0])} is not a service of the test; {known}"
                yield problem(("steps", number, "load", "agents"), sentence)
        if len(self.loads) > 1:
            yield problem(("steps",), "there are several loads; expected one in a test")
        for name in ("metrics", "artefacts"):
            for number, one in enumerate(getattr(self, name)):
                if one.step not in {None, *self._measured_steps}:
                    known = there_are(self._measured_steps, one.step)
                    sentence = f"{shown(one.step)} is not a step with run_tasks; {known}"
                    yield problem((name, number, "step"), sentence)

    def _unlike_steps(self) -> Iterator[Problem]:
        """Yield what a test with steps does not have, and what its steps lack."""
        if self.command and self.steps:
            yield problem(("command",), "the steps have commands of their own; leave this one out")
        if self.slices and (self.steps or self.services):
            sentence = "versions take no turns in a test with steps or services; leave slices out"
            yield problem(("slices",), sentence)
        if self.steps and not self._measured_steps:
            yield problem(("steps",), "there is no run_tasks, whose tasks log the values")

    def _unanswerable(self) -> Iterator[Problem]:
        """Yield the steps that wait for log lines which no task before them has written."""
        for number, step in enumerate(self.steps):
            if step.logs_values or step.run_command:
                return
            if step.wait_until and step.wait_until.query:
                sentence = "no earlier step has tasks whose lines the query can read"
                yield problem(("steps", number, "wait_until"), sentence)

    def _uncountable(self) -> Iterator[Problem]:
        """Yield the metrics whose number of values depends on how many tasks are found."""
        found = [step.name for step in self.steps if step.find_tasks]
        for number, metric in enumerate(self.metrics):
            if found and metric.is_of_jobs and metric.step in {None, *found}:
                sentence = "the step may find any number of tasks; expected the field began"
                yield problem(("metrics", number), f"{sentence} or values: any")

    def _unscaled(self) -> Iterator[Problem]:
        """Yield why the seconds are not for the amounts that they are per."""
        for name, amount in self.per.items():
            if amount <= 0:
                sentence = f"{amount:,} is not accepted; expected a number above 0"
                yield problem(("per", name), sentence)
        for name in ("per", "fixed_seconds"):
            if getattr(self, name) and self.seconds is None:
                yield problem((name,), "it also needs seconds")

    def figures(self) -> Iterator[tuple[Metric, Statistic]]:
        """Yield each metric with each of its statistics."""
        for metric in self.metrics:
            for statistic in metric.statistics:
                yield metric, statistic


def _of_step(task: "TaskResult", step: Step) -> "TaskResult":
    definition = word_of(step.definition) if step.definition else ""
    return replace(task, step=step.name, definition=definition)


class Defaults(Frozen):
    """The default values of a run's input."""

    versions: tuple[VersionText, ...] = Field(default=(), min_length=1, max_length=MOST_VERSIONS)
    """The versions of a run that names none, 1 to 20, by default the last two of the subject's
    list; ``newest`` and ``previous`` are accepted. For an instance it is the one word ``deployed``:
    the version that it reports."""
    repetitions: int = Field(default=5, strict=True, ge=1, le=MOST_REPETITIONS)
    """The trials of each version, 1 to 100."""
    until: Until | None = Field(default=None, exclude_if=operator.not_)
    """``decided``: a run that names no repetitions goes on until its versions have their verdicts,
    within the time of ``within_seconds``."""
    within_seconds: Within | None = Field(default=None, exclude_if=operator.not_)
    """The time after which such a run begins no further repetition [s]."""
    layout: Layout = Field(default=TRIALS, exclude_if=is_trials)
    """How a run measures its versions: in ``rounds``, in which they take turns in one task, or in
    ``trials`` of one version each."""
    tests: tuple[Name, ...] = Field(default=(), exclude_if=operator.not_)
    """The tests that a run measures if its input names none, by default every test."""
    axes: dict[Name, MaybeAxis] = Field(default={}, exclude_if=operator.not_)
    """The values of axes that a run measures if its input names none, such as
    ``{database: [sqlite]}``; without them every value. ``[]`` leaves an axis out."""


class Suite(Frozen):
    """The tests of one system under test."""

    name: Name
    """The name of the folder: a small letter, and up to 31 small letters, digits and ``_``."""
    title: Line = Field(default_factory=lambda fields: fields["name"])
    """The name of the system, for people, by default the suite's name."""
    subject: Subject
    """How a version becomes a program."""
    parameters: dict[Name, Parameter] = Field(default={}, max_length=20)
    """The parameters of a run, by name. ``tasks`` is the number of tasks that do each test side by
    side; without it there is one."""
    axes: dict[Name, Axis] = Field(default={}, max_length=MOST_AXES, exclude_if=operator.not_)
    """The values of each axis, by its name; a run measures every combination of them."""
    owns: str | None = Field(default=None, pattern=_OWNED, exclude_if=operator.not_)
    """The beginning of the names of the buckets of S3, queues of SQS and tables of DynamoDB that a
    trial makes for itself, such as ``kiwi-run``. Only one machine lets its tasks make them."""
    task: Task = Field(default_factory=Task)
    """The ECS task that every test runs in."""
    profiler: Literal["async-profiler", "py-spy"] | None = Field(
        default=None, exclude_if=operator.not_
    )
    """The profiler of tasks and services in profiled trials: ``async-profiler`` for native code,
    such as a library in a Python process, and for Java, or ``py-spy`` for the frames of Python.
    Without it no run may have a ``profile``."""
    services: dict[Name, Service] = Field(
        default={}, max_length=MOST_SERVICES, exclude_if=operator.not_
    )
    """The programs that run while a test runs, by name."""
    defaults: Defaults = Field(default_factory=Defaults)
    """The versions, repetitions and values of axes of a run that names none."""
    canary: VersionText | None = Field(default=None, exclude_if=operator.not_)
    """A version that every repetition measures, beside those that a run asks for."""
    tests: tuple[Test, ...] = Field(min_length=1, max_length=20)
    """The tests of a trial in order, 1 to 20."""

    @property
    def pythons(self) -> Sequence[str]:
        """The versions of Python that a run may set for the programs of a version, or none."""
        parameter = self.parameters.get(PYTHON)
        return self.axes.get(PYTHON) or (parameter.of if parameter else None) or ()

    @property
    def owned(self) -> str:
        """The names of what a trial may make for itself, as a pattern of IAM; '' for nothing."""
        return f"{self.owns}{'?' * OWN_DIGITS}-*" if self.owns else ""

    @property
    def functions(self) -> Sequence[str]:
        """The names of the Lambda functions that steps call, or their forms, in order."""
        return self._forms(step.invoke.function for step in self._steps if step.invoke)

    @property
    def rules(self) -> Sequence[str]:
        """The names of the rules that steps pause, or their forms, in order."""
        return self._forms(rule for step in self._steps if step.pause for rule in step.pause.rules)

    @property
    def definitions(self) -> Sequence[str]:
        """The forms of the families of an instance's definitions that steps run, in order."""
        return self._forms(f"{{{word}}}" for word in self.definition_words)

    @property
    def definition_words(self) -> Sequence[str]:
        """The words of the definitions of an instance that steps run."""
        return [word_of(step.definition) for step in self._steps if step.definition]

    @property
    def words(self) -> frozenset[str]:
        """The words in the texts of all steps."""
        return frozenset(word for step in self._steps for word in words(step.model_dump_json()))

    @property
    def run_clusters(self) -> Sequence[str]:
        """The forms of the clusters of an instance that steps run tasks in, in order."""
        return self._forms(f"{{{word}}}" for word in self.run_cluster_words)

    @property
    def run_cluster_words(self) -> Sequence[str]:
        """The words of the clusters of an instance that steps run tasks in."""
        works = [step.run_tasks for step in self._steps]
        return [word_of(work.cluster) for work in works if work and work.cluster]

    @property
    def found_clusters(self) -> Sequence[str]:
        """The forms of the clusters of an instance whose own tasks steps find, in order."""
        return self._forms(step.find_tasks.cluster for step in self._steps if step.find_tasks)

    @property
    def _steps(self) -> Sequence[Step]:
        return [step for test in self.tests for step in test.steps]

    def _forms(self, names: Iterable[str]) -> Sequence[str]:
        """Return names, and the forms of those that are words of an instance, in order."""
        instance = self.subject.instance
        forms = (instance.forms(name) if instance else (name,) for name in names)
        return sorted({form for each in forms for form in each})

    @property
    def conditions(self) -> Sequence[str]:
        """The queries that steps wait for, in order."""
        return sorted({wait.query for wait in self._waits if wait.query})

    @property
    def awaited_queues(self) -> Sequence[str]:
        """The names of the queues that steps wait for, or their forms, in order."""
        return self._forms(queue for wait in self._waits for queue in wait.queues)

    @property
    def awaited_clusters(self) -> Sequence[str]:
        """The names of the clusters whose tasks steps wait for, or their forms, in order."""
        return self._forms(wait.tasks_stopped for wait in self._waits if wait.tasks_stopped)

    @property
    def _waits(self) -> Sequence[WaitUntil]:
        return [step.wait_until for step in self._steps if step.wait_until]

    @property
    def loads(self) -> Sequence[Load]:
        """The loads of all tests, in order."""
        return [load for test in self.tests for load in test.loads]

    @property
    def default_parameters(self) -> dict[str, Value]:
        """The values of a run whose input gives none."""
        return {name: parameter.default for name, parameter in self.parameters.items()}

    @property
    def default_axes(self) -> dict[str, tuple[str, ...]]:
        """The values on each axis of a run whose input gives none."""
        return {**self.axes, **self.defaults.axes}

    @property
    def runs_images(self) -> bool:
        """Whether the tests' own tasks run the image of the version, and no container does."""
        served = any(service.task.versioned for service in self.services.values())
        return self.subject.image is not None and not served

    @property
    def keeps_files(self) -> bool:
        """Whether a run keeps files that its tasks leave."""
        return self.profiler is not None or any(test.artefacts for test in self.tests)

    @property
    def without_turns(self) -> Sequence[str]:
        """The names of the tests in which versions cannot take turns."""
        return [test.name for test in self.tests if test.slices is None]

    def measured_by(
        self, layout: Layout, tests: Collection[str], values: Mapping[str, Value]
    ) -> "Suite":
        """Return the suite as a run with values of its parameters measures it.

        It has the named ``tests`` alone, in their order; without names it has all. In rounds each
        has a job for each slice.
        """
        kept = [test.with_counts(values) for test in self.tests if not tests or test.name in tests]
        if layout == ROUNDS:
            kept = [test.in_rounds for test in kept]
        return self.model_copy(update={"tests": tuple(kept)})

    def task_of(self, service: str, axes: Mapping[str, str]) -> Task:
        """Return the task of a service under values of axes, or with '' the task of the tests."""
        return self.services[service].task_under(axes) if service else self.task

    def most_at_once(self, of_run: int) -> int:
        """Return the most tasks of the suite side by side, by the parameter ``tasks``."""
        return max(step.own_tasks(of_run) for test in self.tests for step in test.every_step)

    def test(self, name: str) -> Test:
        """Return the test of this name; raise KeyError for an unknown name."""
        for test in self.tests:
            if test.name == name:
                return test
        raise KeyError(name)
