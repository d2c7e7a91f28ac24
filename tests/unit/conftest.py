"""The world that surrounds handlers, and a run of two trials."""

from functools import partial

import pytest

from lambdas import services
from tests.plans import RUN, plan_of, rocksdb
from tests.unit.fakes import TRIAL_MACHINE, World
from tidemark.model import suite_asset
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites

SERVICES = (
    "account", "bucket", "bus", "clusters", "executions", "properties", "queues", "quotas",
    "releases", "rules", "schedules", "task_definitions", "tasks", "topic",
)  # fmt: skip


def _with_jobs(suite, jobs):
    """Return the suite with the numbers of jobs that these tests expect."""
    tests = [test.model_copy(update={"jobs": jobs[test.name]}) for test in suite.tests]
    return suite.model_copy(update={"tests": tuple(tests)})


@pytest.fixture
def plan():
    suite = _with_jobs(rocksdb(), {"ingest": 1, "compaction": 4})
    request = {"versions": ["9.0.0", "9.8.4"], "repetitions": 1, "tasks": 2, "records": 1000}
    return plan_of(request, suite=suite, execution_arn="arn:x")


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """The suites as the Lambda asset carries them."""
    for suite in read_suites().values():
        suite_asset.pack_suite(suite, ROOT, tmp_path)
    monkeypatch.setattr(suite_asset, "FOLDER", tmp_path / "suites")


@pytest.fixture
def world(monkeypatch, plan):
    world = World()
    for name in SERVICES:
        monkeypatch.setattr(services, name, partial(getattr, world, name))
    monkeypatch.setattr(services, "log_queries", lambda: world.logs)
    monkeypatch.setenv("STACK", "Tidemark")
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    monkeypatch.setenv("TRIAL_STATE_MACHINE", TRIAL_MACHINE)
    monkeypatch.setenv("CLUSTER", "arn:aws:ecs:eu-west-2:1:cluster/c")
    monkeypatch.setenv("TOPIC", "arn:aws:sns:eu-west-2:1:outcomes")
    services.metrics.cache_clear()
    suite_asset.packed_suites.cache_clear()
    monkeypatch.setenv("BUCKET", "results")
    monkeypatch.setenv("LOGS_DEADLINE_SECONDS", "300")
    world.systems = {
        "rocksdb": {
            "task_definition": "arn:task:7",
            "container": "rocksdb",
            "log_group": "/Tidemark/rocksdb",
            "stream_prefix": "rocksdb",
            "security_group": "sg-1",
            "services": {"server": "arn:server:3"},
        }
    }
    world.bucket.write(f"runs/{RUN}/plan.json", plan.model_dump_json().encode())
    return world
