"""Fakes of the ports of the core and the handlers, in memory."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import ModuleType
from typing import Any

from tidemark.model.plan import Plan
from tidemark.money.capacity import Quota, Quotas, QuotaUnknown
from tidemark.run.ports import (
    Account,
    Answer,
    Backlog,
    Definition,
    EventBus,
    Executions,
    LogQueries,
    Metrics,
    Properties,
    Releases,
    Rules,
    Schedules,
    TaskDefinitions,
    Tasks,
    Topic,
)
from tidemark.store.bucket import CopyingBucket, NotDeleted, Tagged

TRIAL_MACHINE = "arn:aws:states:eu-west-2:1:execution:Trial"


def _etag(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


class FakeBucket:
    """The results bucket as a dictionary.

    ``moment`` is called before each call and after each change. A test lets its caller die there,
    or be overtaken. ``undeletable`` are keys that no deletion of a prefix removes.
    """

    def __init__(self, objects: Mapping[str, bytes] | None = None) -> None:
        self.objects = dict(objects or {})
        self.moment: Callable[[], object] = lambda: None
        self.undeletable: set[str] = set()

    def read(self, key: str) -> bytes:
        self.moment()
        return self.objects[key]

    def find(self, key: str) -> Tagged | None:
        self.moment()
        return Tagged(self.objects[key], _etag(self.objects[key])) if key in self.objects else None

    def delete_if(self, key: str, etag: str) -> bool:
        self.moment()
        same = key in self.objects and _etag(self.objects[key]) == etag
        if same:
            del self.objects[key]
        self.moment()
        return same

    def write(self, key: str, body: bytes) -> None:
        self.moment()
        self.objects[key] = body
        self.moment()

    def write_once(self, key: str, body: bytes) -> bool:
        return self.write_over(key, body, None)

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return ((key, len(self.objects[key])) for key in sorted(self.keys(prefix)))

    def copy(self, source: str, key: str) -> str:
        self.write(key, self.objects[source])
        return hashlib.sha256(self.objects[source]).hexdigest()

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        self.moment()
        there = _etag(self.objects[key]) if key in self.objects else None
        if written := there == etag:
            self.objects[key] = body
        self.moment()
        return written

    def keys(self, prefix: str, at_once: int = 1_000, after: str = "") -> Iterator[str]:
        self.moment()
        found = (key for key in self.objects if key.startswith(prefix) and key > after)
        return iter(sorted(found))

    def folders(self, prefix: str) -> Iterator[str]:
        below = (key[len(prefix) :].split("/") for key in self.keys(prefix))
        return iter(dict.fromkeys(parts[0] for parts in below if len(parts) > 1))

    def discard(self, key: str) -> None:
        self.moment()
        self.objects.pop(key, None)
        self.moment()

    def delete(self, prefix: str) -> None:
        kept = []
        for key in list(self.keys(prefix)):
            self.moment()
            if key in self.undeletable:
                kept.append(key)
            else:
                self.objects.pop(key, None)
        self.moment()
        if kept:
            raise NotDeleted(f"{kept[0]!r} was not deleted")


class FakeLogQueries:
    """Logs Insights that chooses its answer by a word in the text of the query."""

    faults: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self.answers: dict[str, list[dict[str, str]]] = {}
        self.asked: list[tuple[str, str, float, float]] = []
        self.scanned = 1000

    def run(
        self,
        query: str,
        log_group: str,
        start: float,
        end: float,
        patience_seconds: float,
        streams: Collection[str] | None = None,
    ) -> Answer:
        assert patience_seconds > 0
        self.asked.append((query, log_group, start, end))
        rows = next(rows for name, rows in self.answers.items() if name in query)
        if streams is not None:
            rows = [row for row in rows if row["@logStream"] in streams]
        return Answer(rows, self.scanned)


class FakeExecutions:
    """Executions of both state machines, by ARN, as DescribeExecution gives them."""

    def __init__(self) -> None:
        self.known: dict[str, Mapping[str, Any]] = {}

    def add(self, arn: str, status: str = "RUNNING", **why: str) -> None:
        self.known[arn] = {"executionArn": arn, "status": status, **why}

    def describe(self, arn: str) -> Mapping[str, Any] | None:
        return self.known.get(arn)

    def running(self, machine: str) -> list[tuple[str, str]]:
        return [
            (arn.rsplit(":", 1)[-1], arn)
            for arn, execution in self.known.items()
            if arn.startswith(machine) and execution["status"] == "RUNNING"
        ]

    def stop(self, arn: str, cause: str) -> None:
        self.add(arn, "ABORTED", cause=cause)


class FakeTasks:
    """ECS tasks by ARN: the group and start of each task, and the reason of each stopped task.

    ``called`` is called after each listing and each stop. A test lets its caller be overtaken
    there.
    """

    def __init__(self) -> None:
        self.group_of: dict[str, str] = {}
        self.started_at: dict[str, datetime] = {}
        self.stopped: dict[str, str] = {}
        self.described: dict[str, dict[str, Any]] = {}
        self.others: dict[str, FakeTasks] = {}
        self.called: Callable[[], object] = lambda: None

    def describe(self, arns: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {arn: self.described[arn] for arn in arns if arn in self.described}

    def groups(self) -> dict[str, str]:
        listed = {arn: name for arn, name in self.group_of.items() if arn not in self.stopped}
        self.called()
        return listed

    def started(self, group: str, since: datetime) -> dict[str, dict[str, Any]]:
        return {
            arn: {
                "TaskArn": arn,
                "LastStatus": "STOPPED" if arn in self.stopped else "RUNNING",
                **self.described.get(arn, {}),
            }
            for arn, name in self.group_of.items()
            if name == group and self.started_at[arn] >= since
        }

    def created(self, since: datetime) -> dict[str, dict[str, Any]]:
        return {
            arn: self.described[arn] for arn, start in self.started_at.items() if start >= since
        }

    def stop(self, arn: str, reason: str) -> None:
        self.stopped[arn] = reason
        self.called()

    def in_cluster(self, arn: str) -> FakeTasks:
        return self.others.setdefault(arn, FakeTasks())


class FakeBacklog:
    """The backlog at each reading, by the name of a queue or cluster; the last number stays."""

    def __init__(self) -> None:
        self.numbers: dict[str, list[int]] = {}

    def left(self, name: str) -> int | None:
        numbers = self.numbers.get(name)
        return None if numbers is None else numbers.pop(0) if len(numbers) > 1 else numbers[0]


class FakeTaskDefinitions:
    """Task definitions whose ARNs tell what they are made of."""

    def of_image(
        self,
        deployed: str,
        image: str,
        containers: Collection[str],
        left_out: Sequence[str] = (),
    ) -> str:
        without = f" without {', '.join(left_out)}" if left_out else ""
        return f"{deployed} with {image} in {', '.join(containers)}{without}"


class FakeTopic:
    """The subjects and messages that were published."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Any]] = []

    def publish(self, subject: str, message: str) -> None:
        self.messages.append((subject, json.loads(message)))


class FakeEventBus:
    """The events that were put on the default bus."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, Any]] = []

    def put(self, source: str, kind: str, detail: str) -> None:
        self.events.append((source, kind, json.loads(detail)))


class FakeSchedules:
    """Schedules by name, as GetSchedule gives them."""

    def __init__(self) -> None:
        self.known: dict[str, Mapping[str, Any]] = {}

    def describe(self, name: str) -> Mapping[str, Any] | None:
        return self.known.get(name)


class FakeRules:
    """Rules by name, and whether each is enabled.

    ``moment`` is called before and after each change. A test lets its caller die there, or be
    overtaken.
    """

    def __init__(self) -> None:
        self.states: dict[str, bool] = {}
        self.moment: Callable[[], object] = lambda: None

    def state(self, name: str) -> str | None:
        enabled = self.states.get(name)
        return None if enabled is None else "ENABLED" if enabled else "DISABLED"

    def _set(self, name: str, *, enabled: bool) -> None:
        self.moment()
        self.states[name] = enabled
        self.moment()

    def disable(self, name: str) -> None:
        self._set(name, enabled=False)

    def enable(self, name: str) -> None:
        self._set(name, enabled=True)


class FakeProperties:
    """The text of each object with properties, by its address."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read(self, bucket: str, key: str) -> str | None:
        return self.texts.get(f"s3://{bucket}/{key}")


class FakeAccount:
    """The things of an account: kinds and names, and task definitions by family."""

    def __init__(self) -> None:
        self.things: set[tuple[str, str]] = set()
        self.definitions: dict[str, Definition] = {}

    def find(self, kind: str, name: str) -> str | None:
        if (kind, name) not in self.things:
            return None
        return f"arn:aws:ecs:eu-west-2:1:cluster/{name}" if kind == "cluster" else name

    def definition(self, name: str) -> Definition | None:
        return self.definitions.get(name)


class FakeReleases:
    """The versions that release pipelines have announced, by suite."""

    def __init__(self) -> None:
        self.by_suite: dict[str, list[str]] = {}

    def versions(self, suite: str) -> list[str]:
        return self.by_suite.get(suite, [])


class FakeQuotas:
    """Quotas without a limit, except those that a test sets by their code."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.unreadable = False

    def value(self, quota: Quota) -> float:
        if self.unreadable:
            raise QuotaUnknown(f"the quota {quota.name} cannot be read")
        return self.values.get(quota.code, math.inf)


class FakeMetrics:
    """The metrics that were sent: name, value, unit and dimensions."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, float, str, dict[str, str]]] = []

    def send(self, name: str, value: float, unit: str = "Count", /, **dimensions: str) -> None:
        self.sent.append((name, value, unit, dimensions))


@dataclass
class FakeContext:
    """The context of an invocation of a Lambda function."""

    function_name: str = "f"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-west-2:123456789012:function:f"
    aws_request_id: str = "r"


@dataclass
class World:
    """The fakes that surround a handler."""

    bucket: FakeBucket = field(default_factory=FakeBucket)
    logs: FakeLogQueries = field(default_factory=FakeLogQueries)
    executions: FakeExecutions = field(default_factory=FakeExecutions)
    tasks: FakeTasks = field(default_factory=FakeTasks)
    topic: FakeTopic = field(default_factory=FakeTopic)
    bus: FakeEventBus = field(default_factory=FakeEventBus)
    releases: FakeReleases = field(default_factory=FakeReleases)
    schedules: FakeSchedules = field(default_factory=FakeSchedules)
    properties: FakeProperties = field(default_factory=FakeProperties)
    account: FakeAccount = field(default_factory=FakeAccount)
    rules: FakeRules = field(default_factory=FakeRules)
    quotas: FakeQuotas = field(default_factory=FakeQuotas)
    task_definitions: FakeTaskDefinitions = field(default_factory=FakeTaskDefinitions)
    queues: FakeBacklog = field(default_factory=FakeBacklog)
    clusters: FakeBacklog = field(default_factory=FakeBacklog)
    systems: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The resources of the stack for each suite."""

    def call(self, module: ModuleType, event: object) -> Any:
        """Invoke a handler as Lambda would: its event and its result are JSON."""
        if isinstance(event, dict):
            event = {**self._given(module), **event}
        return json.loads(json.dumps(module.handler(json.loads(json.dumps(event)), FakeContext())))

    def store(
        self,
        plan: Plan,
        of_test: Mapping[str, Any] | None = None,
        of_suite: Mapping[str, Any] | None = None,
        **changed: Any,
    ) -> Plan:
        """Store a plan with other fields of its first test, of its suite and of its own."""
        first, *others = plan.suite.tests
        tests = (first.model_copy(update=of_test), *others)
        suite = plan.suite.model_copy(update={"tests": tests, **(of_suite or {})})
        stored = plan.model_copy(update={"suite": suite, **changed})
        body = stored.model_dump_json(by_alias=True).encode()
        self.bucket.write(f"runs/{plan.run_id}/plan.json", body)
        return stored

    def _given(self, module: ModuleType) -> dict[str, Any]:
        """Return what the state machine of a trial adds to the event of a handler."""
        match module.__name__:
            case "lambdas.prepare_trial":
                return {"systems": self.systems}
            case "lambdas.check_condition" | "lambdas.collect_rates":
                (system,) = self.systems.values()
                return {"system": system}
        return {}

    def json(self, key: str) -> Any:
        """Return the content of a stored object."""
        return json.loads(self.bucket.objects[key])


def ports(
    world: World,
) -> tuple[
    CopyingBucket,
    LogQueries,
    Executions,
    Tasks,
    Topic,
    EventBus,
    Releases,
    Schedules,
    Properties,
    Account,
    Rules,
    Quotas,
    TaskDefinitions,
    Backlog,
    Metrics,
]:
    """Return the fakes as their ports, so that mypy checks that they fit."""
    return (
        world.bucket,
        world.logs,
        world.executions,
        world.tasks,
        world.topic,
        world.bus,
        world.releases,
        world.schedules,
        world.properties,
        world.account,
        world.rules,
        world.quotas,
        world.task_definitions,
        world.queues,
        FakeMetrics(),
    )
