"""The steps of a test, which a trial does one after the other."""

import json
import math
import operator
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field, JsonValue, model_validator

from tidemark.model.base import Consistent, Frozen, Name
from tidemark.model.instance import IN_BRACES, Word
from tidemark.model.load import Load
from tidemark.model.parameters import MOST_TASKS, Value
from tidemark.model.refusal import Contradictions, Problem, form, not_one, problem
from tidemark.model.sentences import listed
from tidemark.model.subject import Line

# A trial ends after a day; a fifth of the day is for tasks that wait for capacity and late logs.
LONGEST_TESTS_SECONDS = 69_120
MOST_STEPS = 12
# Amazon ECS API reference, TaskOverride: all overrides of a task have 8,192 characters at most.
LONGEST_COMMAND = 1_000  # [B]
# The steps of all tests together have to fit into the payload of a state, 256 KiB.
_LONGEST_PAYLOAD = 1_000  # [B]
# AWS Lambda API reference, Invoke: the name of a function, without a version or alias. Its fixed
# beginning keeps the permission to call it to functions of the system.
_PLAIN_FUNCTION = r"[A-Za-z0-9_-]{1,2}|[A-Za-z0-9_-]{3}([A-Za-z0-9_-]|\{instance\}){0,61}"
_FUNCTION = form(
    f"^({_PLAIN_FUNCTION}|{IN_BRACES})$",
    "the name of a function: up to 64 letters, digits, - and _, and after the first "
    "three {instance} for the id of an instance",
)
LONGEST_NAME = 64
"""The longest name of a function or a rule, in characters."""
# Amazon SQS API reference, CreateQueue, and Amazon ECS API reference, CreateCluster: the names. A
# fixed part limits the permissions to read them to the system's objects.
_PART = r"([A-Za-z0-9_-]|\{instance\})*"
_CLUSTER = form(
    rf"^({_PART}[A-Za-z0-9_-]{{3}}{_PART}|{IN_BRACES})$",
    "the name of a cluster: letters, digits, - and _, three of them in sequence, and "
    "{instance} for the id of an instance",
)
_QUEUE = form(
    rf"^({_PART}[A-Za-z0-9_-]{{3}}{_PART}(\.fifo)?|{IN_BRACES})$",
    "the name of a queue: letters, digits, - and _, three of them in sequence, with "
    "{instance} for the id of an instance and .fifo at the end, or without",
)
Cluster = Annotated[str, Field(pattern=_CLUSTER, max_length=255)]
Queue = Annotated[str, Field(pattern=_QUEUE, max_length=80)]
CALL_SECONDS = 60
PAUSE_SECONDS = 300
FIND_SECONDS = 300
WAIT_SECONDS = 600
# Each wait is some events of the trial's history, and a log query is scanned and paid.
_MOST_WAITS = 120
# Amazon EventBridge API reference, DisableRule: the name of a rule. A fixed part keeps the
# permission to disable it to rules of the system.
_PLAIN_RULE = r"[A-Za-z0-9._-]{1,2}|([A-Za-z0-9._-]|\{instance\}){0,61}[A-Za-z0-9._-]{3}"
_RULE = form(
    f"^({_PLAIN_RULE}|{IN_BRACES})$",
    "the name of a rule: up to 64 letters, digits and ._-, and before the last three "
    "{instance} for the id of an instance",
)
CONDITIONS = ("query", "queues", "tasks_stopped")
KINDS = ("run_tasks", "run_command", "invoke", "wait_until", "load", "pause", "find_tasks")


class RunTasks(Consistent):
    """Tasks of the suite or of an instance, side by side, that log values."""

    command: tuple[Line, ...] | None = Field(default=None, min_length=1, max_length=20)
    """The arguments of each task, by default the name of the step. In a suite of instances,
    [names](instance.md#names-of-an-instance) in braces stand for the instance's names."""
    definition: Word | None = Field(default=None, exclude_if=operator.not_)
    """The task definition of an instance to run in place of the suite's own task, such as
    ``{writer_definition}``; it needs ``command``, ``cluster`` and ``subnets``, too."""
    cluster: Word | None = Field(default=None, exclude_if=operator.not_)
    """The cluster of the instance that runs its tasks."""
    subnets: Word | None = Field(default=None, exclude_if=operator.not_)
    """The subnets of the instance that its tasks run in."""
    security_groups: Word | None = Field(default=None, exclude_if=operator.not_)
    """The security groups of its tasks, by default the VPC's default group."""
    count: int | None = Field(default=None, strict=True, ge=1, le=MOST_TASKS)
    """The number of tasks, 1 to 200, by default the parameter ``tasks`` of the run."""
    count_parameter: Name | None = Field(default=None, exclude_if=operator.not_)
    """The parameter of the suite that has the number of tasks, in place of ``count``."""
    timeout_seconds: int | None = Field(default=None, strict=True, ge=10, le=LONGEST_TESTS_SECONDS)
    """The time after which a task is stopped, 10 to 69,120 [s], by default as for the test."""

    def contradictions(self) -> Iterator[Problem]:
        """Yield what the tasks of an instance lack, and what only they have."""
        needed = ("command", "cluster", "subnets")
        lacking = [name for name in needed if getattr(self, name) is None]
        if self.definition and lacking:
            yield problem(("definition",), f"it also needs {listed(lacking)}")
        if self.count and self.count_parameter:
            yield problem(("count",), "there is count_parameter, too; expected one of both")
        for name in ("cluster", "subnets", "security_groups"):
            if getattr(self, name) and not self.definition:
                yield problem((name,), "only accepted together with definition")


class FindTasks(Frozen):
    """The tasks that an instance itself started during the test, and that log values."""

    cluster: Word
    """The cluster of the instance, such as ``{compaction_cluster}``."""
    definitions: tuple[Word, ...] = Field(min_length=1, max_length=3)
    """The task definitions of the tasks, 1 to 3, such as ``{compaction_definition}``: all tasks of
    their families that were started in the cluster since the start of the test."""

    @property
    def timeout_seconds(self) -> int:
        """The time limit [s]."""
        return FIND_SECONDS


class RunCommand(Frozen):
    """One task of the suite that logs no values: its exit code decides."""

    command: tuple[Line, ...] = Field(min_length=1, max_length=20)
    """The arguments of the task."""
    timeout_seconds: int | None = Field(default=None, strict=True, ge=10, le=LONGEST_TESTS_SECONDS)
    """The time after which the task is stopped, 10 to 69,120 [s], by default as for the test."""


class Invoke(Consistent):
    """One call of a Lambda function in the account: an error of the function fails the test."""

    function: str = Field(pattern=_FUNCTION)
    """The name of the function, which the state machine of trials is granted to invoke, with
    ``{instance}`` for the id of the instance; or a
    [name](instance.md#names-of-an-instance) of the instance in braces, such as ``{creator}``."""
    payload: dict[str, JsonValue] = Field(default={})
    """The event of the function, 1,000 bytes of JSON at most; nothing in it is replaced."""
    timeout_seconds: int = Field(default=CALL_SECONDS, strict=True, ge=1, le=900)
    """The time after which a call without an answer has failed, 1 to 900 [s]."""

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the payload is not an event."""
        try:
            size = len(json.dumps(self.payload, allow_nan=False).encode())
        except ValueError:
            yield problem(("payload",), "JSON has no NaN and no infinity; expected finite numbers")
            return
        if size > _LONGEST_PAYLOAD:
            sentence = f"it has {size:,} bytes of JSON; expected {_LONGEST_PAYLOAD:,} or fewer"
            yield problem(("payload",), sentence)


class WaitUntil(Consistent):
    """A wait for exactly one condition, which fails the test if it does not hold in time."""

    query: Name | None = Field(default=None, exclude_if=operator.not_)
    """The query that has a row of the tasks before: ``<query>.cwli`` beside the suite, or else in
    ``queries/logs``."""
    queues: tuple[Queue, ...] = Field(
        default=(), min_length=1, max_length=5, exclude_if=operator.not_
    )
    """The queues of SQS, 1 to 5, that are all empty, such as ``kiwi-{instance}-jobs`` or
    ``{jobs}``: no message waits, is delayed or is in work."""
    tasks_stopped: Cluster | None = Field(default=None, exclude_if=operator.not_)
    """The cluster of ECS that has no task any more, neither running nor pending."""
    every_seconds: int = Field(default=5, strict=True, ge=1, le=900)
    """The wait before the condition is read again, 1 to 900 [s]."""
    within_seconds: int = Field(default=WAIT_SECONDS, strict=True, ge=1, le=LONGEST_TESTS_SECONDS)
    """The time after which the wait fails the test, 1 to 69,120 [s]; at most 120 times
    ``every_seconds``."""
    readings: int | None = Field(default=None, strict=True, ge=1, le=20, exclude_if=operator.not_)
    """The readings in sequence that must find the queues empty or the tasks stopped, 1 to 20, by
    default 3."""

    @property
    def awaited(self) -> str:
        """The name of the query or cluster, or the names of the queues with commas between."""
        return self.query or ",".join(self.queues) or self.tasks_stopped or ""

    @property
    def timeout_seconds(self) -> int:
        """The time limit [s]."""
        return self.within_seconds

    def questions(self, seconds: float) -> int:
        """Return how often the condition is read at most if the wait takes so long [s]."""
        return math.ceil(seconds / self.every_seconds) + 1

    @model_validator(mode="before")
    @classmethod
    def _without_port(cls, value: object) -> object:
        if isinstance(value, dict) and "port" in value:
            sentence = "a service waits for its own port by its field ready; expected query"
            raise Contradictions([problem(("port",), sentence)])
        return value

    def contradictions(self) -> Iterator[Problem]:
        """Yield why there is no one condition, or why it would be read too often."""
        given = [kind for kind in CONDITIONS if getattr(self, kind)]
        if len(given) != 1:
            yield from not_one(given, CONDITIONS, "condition")
        elif self.query and self.readings:
            sentence = "a query is read until it has a row; leave readings out"
            yield problem(("readings",), sentence)
        most = _MOST_WAITS * self.every_seconds
        if self.within_seconds > most:
            sentence = f"{self.within_seconds:,} is not accepted; expected {most:,} or less"
            why = f"{_MOST_WAITS} times every_seconds"
            yield problem(("within_seconds",), f"{sentence}, {why}")


class Pause(Frozen):
    """Rules of EventBridge on the default bus that are disabled until the end of the trial."""

    rules: tuple[Annotated[str, Field(pattern=_RULE)], ...] = Field(min_length=1, max_length=10)
    """The names of the rules, 1 to 10, such as ``kiwi-{instance}-nightly``; ``{instance}`` stands
    for the id of the instance. A [name](instance.md#names-of-an-instance) of the instance in
    braces will do, too; one that is optional stands for no rule in an instance without it."""

    @property
    def timeout_seconds(self) -> int:
        """The time limit [s]."""
        return PAUSE_SECONDS


class Step(Consistent):
    """One step of a test, of exactly one kind."""

    name: Name
    """The name, for metrics and messages."""
    run_tasks: RunTasks | None = None
    """Run tasks side by side that log values."""
    run_command: RunCommand | None = None
    """Run one task that logs no values."""
    invoke: Invoke | None = None
    """Call a Lambda function."""
    wait_until: WaitUntil | None = None
    """Wait until a log query has a row, queues are empty or tasks have stopped."""
    load: Load | None = Field(default=None, exclude_if=operator.not_)
    """Search for the most users that a service supports."""
    pause: Pause | None = Field(default=None, exclude_if=operator.not_)
    """Disable rules of an instance until the end of the trial."""
    find_tasks: FindTasks | None = Field(default=None, exclude_if=operator.not_)
    """Find the tasks that an instance started, which log values."""
    seconds: float | None = Field(default=None, strict=True, gt=0, le=86_400)
    """The approximate duration [s], for the estimate before a run. By default it is the time that
    the jobs of the test's tasks take for ``run_tasks``, and the time limit for other kinds."""

    @property
    def work(self) -> RunTasks | RunCommand | Invoke | WaitUntil | Load | Pause | FindTasks:
        """The content of the step's only field of a kind, such as ``run_tasks``."""
        tasks = self.run_tasks or self.run_command or self.find_tasks
        work = tasks or self.invoke or self.wait_until or self.load or self.pause
        assert work  # a step without a kind is refused
        return work

    @property
    def logs_values(self) -> bool:
        """Whether the step has tasks that log values."""
        return bool(self.run_tasks or self.find_tasks)

    @property
    def definition(self) -> str | None:
        """The word of the instance's definition that the tasks are run from, None without one."""
        return self.run_tasks.definition if self.run_tasks else None

    @property
    def definitions(self) -> tuple[str, ...]:
        """The words of all definitions of the instance whose tasks the step runs or finds."""
        found = self.find_tasks.definitions if self.find_tasks else ()
        return (self.definition,) if self.definition else found

    @property
    def command(self) -> tuple[str, ...]:
        """The arguments of the step's tasks."""
        tasks = self.run_tasks or self.run_command
        return (tasks and tasks.command) or (self.name,)

    def tasks(self, of_run: int) -> int:
        """Return the number of tasks in a run whose parameter ``tasks`` has a value."""
        if self.run_tasks:
            return self.run_tasks.count or of_run
        return 1 if self.run_command else 0

    def counted(self, values: Mapping[str, Value]) -> "Step":
        """Return the step with the number of tasks that a parameter gives, among ``values``."""
        if self.run_tasks is None or self.run_tasks.count_parameter is None:
            return self
        count = values[self.run_tasks.count_parameter]
        work = self.run_tasks.model_copy(update={"count": count, "count_parameter": None})
        return self.model_copy(update={"run_tasks": work})

    def own_tasks(self, of_run: int) -> int:
        """Return the number of tasks of the suite, without an instance's tasks."""
        return 0 if self.definition else self.tasks(of_run)

    def contradictions(self) -> Iterator[Problem]:
        """Yield why there is no one kind, or a command that RunTask does not take."""
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            yield from not_one(given, KINDS)
        elif (size := len(" ".join(self.command).encode())) > LONGEST_COMMAND:
            sentence = f"it has {size:,} bytes; expected {LONGEST_COMMAND:,} or fewer"
            yield problem((given[0], "command"), sentence)
