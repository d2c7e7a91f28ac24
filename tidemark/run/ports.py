"""The services of a cloud that a run needs besides the results bucket.

The adapters are in ``aws``, over boto3; the tests' fakes have the same types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol


class QueryFailed(RuntimeError):
    """A log query that ended without a result; the message says which and how. A retry may help."""


class TooManyRows(RuntimeError):
    """A log query that may have more rows than one answer holds."""


class ClockWentBack(RuntimeError):
    """A test that ended before it began, by the clock; its lines have times outside of it."""


class NotTold(RuntimeError):
    """An outcome that a topic or event bus did not accept, with the reason. A retry may help."""


class Answer(NamedTuple):
    """The answer to a log query."""

    rows: list[dict[str, str]]
    """The rows, without absent fields."""
    bytes_scanned: int


class LogQueries(Protocol):
    """Logs Insights."""

    @property
    def faults(self) -> tuple[type[Exception], ...]:
        """The errors of the service itself: a refusal, or no answer."""

    def run(
        self,
        query: str,
        log_group: str,
        start: float,
        end: float,
        patience_seconds: float,
        streams: Collection[str] | None = None,
    ) -> Answer:
        """Return the answer to a query over [start, end], epoch seconds.

        The query reads only ``streams``, if given. It must give each stream rows of its own, since
        more than one query may be needed for all streams.

        Raises
        ------
        QueryFailed
            If the query does not end as Complete in time.
        TooManyRows
            If the query may have more rows than it returned.

        """


class Executions(Protocol):
    """Executions of state machines."""

    def describe(self, arn: str) -> Mapping[str, Any] | None:
        """Return an execution as DescribeExecution gives it, None if there is none."""

    def running(self, machine: str) -> Iterable[tuple[str, str]]:
        """Yield the name and ARN of each running execution of the state machine with this ARN."""

    def stop(self, arn: str, cause: str) -> None:
        """Stop an execution."""


class Tasks(Protocol):
    """The ECS tasks of one cluster."""

    def groups(self) -> Mapping[str, str]:
        """Return the task group of each running task, by the task's ARN."""

    def started(self, group: str, since: datetime) -> Mapping[str, Mapping[str, Any]]:
        """Return a group's tasks since a time, ended or not, as ``created`` does."""

    def created(self, since: datetime) -> Mapping[str, Mapping[str, Any]]:
        """Return the tasks since a time, ended or not, as Step Functions describes them, by ARN.

        ECS forgets a task an hour after its end.
        """

    def describe(self, arns: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """Return tasks as Step Functions describes them, by ARN; a forgotten task is missing."""

    def stop(self, arn: str, reason: str) -> None:
        """Stop a task."""

    def in_cluster(self, arn: str) -> Tasks:
        """Return the tasks of another cluster."""


class Backlog(Protocol):
    """The work that is left in queues of Amazon SQS or clusters of Amazon ECS, by their names."""

    def left(self, name: str) -> int | None:
        """Return the messages of a queue, or the tasks of a cluster, that have not ended.

        None stands for no queue or cluster of the name.
        """


class TaskDefinitions(Protocol):
    """The ECS task definitions of images."""

    def of_image(
        self,
        deployed: str,
        image: str,
        containers: Collection[str],
        left_out: Sequence[str] = (),
    ) -> str:
        """Return the ARN of a definition that differs from the ``deployed`` one in its image.

        The ``containers`` run the image. The new definition lacks the containers ``left_out``. Both
        are names in the deployed definition.
        """


class Topic(Protocol):
    """The subscribers to the outcomes of runs."""

    def publish(self, subject: str, message: str) -> None:
        """Send the subscribers a message; raise NotTold if the topic does not accept it."""


class EventBus(Protocol):
    """The account's default event bus."""

    def put(self, source: str, kind: str, detail: str) -> None:
        """Put an event with a detail in JSON; raise NotTold if the bus does not accept it."""


class Metrics(Protocol):
    """CloudWatch metrics of one stack."""

    def send(self, name: str, value: float, unit: str = "Count", /, **dimensions: str) -> None:
        """Send a value of a metric with its stack and other ``dimensions``.

        A ``unit`` that CloudWatch does not know is not sent.
        """


class Properties(Protocol):
    """The properties of instances that exist, in S3."""

    def read(self, bucket: str, key: str) -> str | None:
        """Return the text of an object with properties, None if there is none to read."""


class Definition(NamedTuple):
    """A task definition: its ARN with the revision, its roles, and the logs of its containers."""

    arn: str
    roles: Sequence[str]
    """The names of the role of its tasks and of their execution, without paths."""
    logs: Mapping[str, tuple[str, str] | None]
    """The log group and stream prefix of each container; None for one that logs elsewhere."""


class Account(Protocol):
    """The things of an account and region, by their names."""

    def find(self, kind: str, name: str) -> str | None:
        """Return the ARN of a cluster or the name of anything else; None if there is none.

        A ``kind`` is ``cluster``, ``queue``, ``function``, ``rule`` or ``log_group``.
        """

    def definition(self, name: str) -> Definition | None:
        """Return the task definition of a family, or of a family with a revision; None if none."""


class Rules(Protocol):
    """The rules of EventBridge on the default event bus."""

    def state(self, name: str) -> str | None:
        """Return the state of a rule as DescribeRule gives it, None if there is no such rule."""

    def disable(self, name: str) -> None:
        """Disable a rule."""

    def enable(self, name: str) -> None:
        """Enable a rule; a rule that was deleted meanwhile stays so."""


class Schedules(Protocol):
    """Schedules of EventBridge Scheduler."""

    def describe(self, name: str) -> Mapping[str, Any] | None:
        """Return a schedule as GetSchedule gives it, None if there is none."""


class Releases(Protocol):
    """The versions that release pipelines have announced."""

    def versions(self, suite: str) -> list[str]:
        """Return the versions that a suite's parameter lists, or [] without a parameter."""
