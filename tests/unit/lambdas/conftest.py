"""Fakes of what the handlers reach through ``lambdas.aws``, and a run of two trials."""

import hashlib
import json
import math
from dataclasses import dataclass, field

import pytest

from lambdas import aws
from lambdas.aws import Answer, Tagged
from suites import files
from suites.files import read_suites
from tests.plans import RUN, plan_of

TRIAL_MACHINE = "arn:aws:states:eu-west-2:1:execution:Trial"


def _etag(body):
    return hashlib.md5(body).hexdigest()


class FakeBucket:
    """The results bucket as a dictionary.

    ``moment`` is called before each call and after each change: whoever calls may die there, or
    be overtaken.
    """

    def __init__(self, objects=None):
        self.objects = dict(objects or {})
        self.moment = lambda: None

    def read(self, key):
        self.moment()
        return self.objects[key]

    def find(self, key):
        self.moment()
        return Tagged(self.objects[key], _etag(self.objects[key])) if key in self.objects else None

    def delete_if(self, key, etag):
        self.moment()
        same = key in self.objects and _etag(self.objects[key]) == etag
        if same:
            del self.objects[key]
        self.moment()
        return same

    def write(self, key, body):
        self.moment()
        self.objects[key] = body
        self.moment()

    def write_once(self, key, body):
        return self.write_over(key, body, None)

    def write_over(self, key, body, etag):
        self.moment()
        there = _etag(self.objects[key]) if key in self.objects else None
        if written := there == etag:
            self.objects[key] = body
        self.moment()
        return written

    def keys(self, prefix, at_once=1000):
        self.moment()
        return iter(sorted(key for key in self.objects if key.startswith(prefix)))

    def folders(self, prefix):
        return iter(dict.fromkeys(key[len(prefix) :].split("/")[0] for key in self.keys(prefix)))

    def discard(self, key):
        self.moment()
        self.objects.pop(key, None)
        self.moment()

    def delete(self, prefix):
        for key in list(self.keys(prefix)):
            self.moment()
            self.objects.pop(key, None)
        self.moment()


class FakeLogQueries:
    """Logs Insights that answers a query by what its text has in it."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        self.scanned = 1000

    def run(self, query, log_group, start, end, patience_seconds):
        assert patience_seconds > 0
        self.asked.append((query, log_group, start, end))
        name = next(name for name in self.answers if name in query)
        return Answer(self.answers[name], self.scanned)


class FakeExecutions:
    """Executions of both state machines, by ARN, as DescribeExecution gives them."""

    def __init__(self):
        self.known = {}

    def add(self, arn, status="RUNNING", **why):
        self.known[arn] = {"executionArn": arn, "status": status, **why}

    def describe(self, arn):
        return self.known.get(arn)

    def running(self, machine):
        return [
            (arn.rsplit(":", 1)[-1], arn)
            for arn, execution in self.known.items()
            if arn.startswith(machine) and execution["status"] == "RUNNING"
        ]

    def stop(self, arn, cause):
        self.add(arn, "ABORTED", cause=cause)


class FakeTasks:
    """ECS tasks by ARN: the group of each, and why those that were stopped were.

    ``called`` is called after each listing and each stop: whoever calls may be overtaken there.
    """

    def __init__(self):
        self.group_of = {}
        self.stopped = {}
        self.called = lambda: None

    def groups(self):
        listed = {arn: name for arn, name in self.group_of.items() if arn not in self.stopped}
        self.called()
        return listed

    def stop(self, arn, reason):
        self.stopped[arn] = reason
        self.called()


class FakeTopic:
    """What subscribers were told."""

    def __init__(self):
        self.told = []

    def publish(self, subject, message):
        self.told.append((subject, json.loads(message)))


class FakeEventBus:
    """What the rules of the default bus were told."""

    def __init__(self):
        self.told = []

    def put(self, source, kind, detail):
        self.told.append((source, kind, json.loads(detail)))


class FakeSchedules:
    """Schedules by name, as GetSchedule gives them."""

    def __init__(self):
        self.known = {}

    def describe(self, name):
        return self.known.get(name)


class FakeReleases:
    """What release pipelines told of versions, by suite."""

    def __init__(self):
        self.told = {}

    def versions(self, suite):
        return self.told.get(suite, [])


class FakeQuotas:
    """Quotas that hold everything, but those that a test sets by their code."""

    def __init__(self):
        self.values = {}

    def value(self, quota):
        return self.values.get(quota.code, math.inf)


@dataclass
class FakeContext:
    """What a Lambda function is told of its invocation."""

    function_name: str = "f"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-west-2:123456789012:function:f"
    aws_request_id: str = "r"


@dataclass
class World:
    """All that surrounds a handler."""

    bucket: FakeBucket = field(default_factory=FakeBucket)
    logs: FakeLogQueries = field(default_factory=FakeLogQueries)
    executions: FakeExecutions = field(default_factory=FakeExecutions)
    tasks: FakeTasks = field(default_factory=FakeTasks)
    topic: FakeTopic = field(default_factory=FakeTopic)
    bus: FakeEventBus = field(default_factory=FakeEventBus)
    releases: FakeReleases = field(default_factory=FakeReleases)
    schedules: FakeSchedules = field(default_factory=FakeSchedules)
    quotas: FakeQuotas = field(default_factory=FakeQuotas)

    def call(self, module, event):
        """Invoke a handler as Lambda would: what goes in and comes out is JSON."""
        return json.loads(json.dumps(module.handler(json.loads(json.dumps(event)), FakeContext())))

    def json(self, key):
        """Return a stored object's content."""
        return json.loads(self.bucket.objects[key])


def _with_jobs(suite, jobs):
    """Return the suite with as many jobs as these tests count on, whatever its defaults are."""
    tests = [test.model_copy(update={"jobs": jobs[test.name]}) for test in suite.tests]
    return suite.model_copy(update={"tests": tuple(tests)})


@pytest.fixture
def plan():
    suite = _with_jobs(read_suites()["rocksdb"], {"ingest": 1, "compaction": 4})
    asked = {"versions": ["9.0.0", "9.8.4"], "repetitions": 1, "tasks": 2, "records": 1000}
    return plan_of(asked, suite=suite, execution_arn="arn:x")


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """The suites as the Lambda asset carries them."""
    for name, suite in read_suites().items():
        (tmp_path / f"{name}.json").write_text(suite.model_dump_json())
    monkeypatch.setattr(files, "FOLDER", tmp_path)


@pytest.fixture
def world(monkeypatch, plan):
    world = World()
    monkeypatch.setattr(aws, "bucket", lambda: world.bucket)
    monkeypatch.setattr(aws, "log_queries", lambda: world.logs)
    monkeypatch.setattr(aws, "executions", lambda: world.executions)
    monkeypatch.setattr(aws, "tasks", lambda: world.tasks)
    monkeypatch.setattr(aws, "topic", lambda: world.topic)
    monkeypatch.setattr(aws, "bus", lambda: world.bus)
    monkeypatch.setenv("STACK", "Tidemark")
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    monkeypatch.setattr(aws, "releases", lambda: world.releases)
    monkeypatch.setattr(aws, "schedules", lambda: world.schedules)
    monkeypatch.setattr(aws, "quotas", lambda: world.quotas)
    monkeypatch.setenv("TRIAL_STATE_MACHINE", TRIAL_MACHINE)
    files.packed_suites.cache_clear()
    monkeypatch.setenv("BUCKET", "results")
    monkeypatch.setenv("LOGS_DEADLINE_SECONDS", "300")
    monkeypatch.setenv(
        "SYSTEMS",
        json.dumps(
            {
                "rocksdb": {
                    "task_definition": "arn:task:7",
                    "container": "rocksdb",
                    "log_group": "/Tidemark/rocksdb",
                    "stream_prefix": "rocksdb",
                }
            }
        ),
    )
    world.bucket.write(f"runs/{RUN}/plan.json", plan.model_dump_json().encode())
    return world
