"""The tasks of an instance in a test: their logs, and their end with the run."""

from datetime import UTC, datetime, timedelta

import pytest

from lambdas import collect_rates, end_run
from tests.plans import RUN
from tests.unit.documented import documented
from tests.unit.kiwi_instance import CLUSTERS, EXECUTION, SYSTEMS, kiwi_plan, read_kiwi
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

BEGUN = datetime(2026, 11, 20, 12, 45, tzinfo=UTC)
WRITERS = f"{CLUSTERS}/kiwi-my-id-writers"
WRITER = f"{WRITERS.replace(':cluster/', ':task/')}/w"


def task(index, **fields):
    times = {"started_at": BEGUN.isoformat(), "stopped_at": (BEGUN + timedelta(60)).isoformat()}
    return {"index": index, "status": "ok", "task_arn": f"{WRITER}{index}", **times, **fields}


def rate(stream):
    return {"@logStream": stream, "value": "100", "n": "1"}


@pytest.fixture
def plan(tmp_path):
    # The second metric is that of tasks which the instance starts itself.
    plan = kiwi_plan(read_kiwi(tmp_path))
    (test,) = plan.suite.tests
    written = test.model_copy(update={"metrics": test.metrics[:1]})
    return plan.model_copy(update={"suite": plan.suite.model_copy(update={"tests": (written,)})})


@pytest.fixture
def collect(world, plan, monkeypatch):
    """Return a function that collects the rates of writers, whose logs have some streams."""
    monkeypatch.setenv("SYSTEMS", SYSTEMS)
    world.properties.texts = {"s3://kiwi-my-id-config/instance.properties": "kiwi.version=12.4"}

    def collect(streams, tasks):
        world.logs.answers = {
            "stats avg": [rate(stream) for stream in streams],
            "Environment": [], "without an answer": [],
        }  # fmt: skip
        event = {
            "run_id": RUN, "trial": 1, "test": "deploy_all", "attempt": 9, "lines": 0,
            "tasks": tasks, "artefacts": "", "bytes_scanned": 0, "started_at": BEGUN.isoformat(),
            "ended_at": "2026-11-20T12:46:00Z", "now": "2026-11-20T13:46:00Z",
        }  # fmt: skip
        world.call(collect_rates, event)
        return world.json(keys.measured(RUN, 1, "deploy_all"))

    return collect


def test_the_rates_are_read_from_the_log_group_of_the_instance_and_the_streams_of_its_tasks(
    collect, world
):
    tasks = [task(index) for index in range(11)]

    stored = collect([f"w/main/w{index}" for index in range(12)], tasks)

    (measured,) = stored["rates"]
    assert (stored["status"], measured["value"], measured["samples"]) == ("ok", 100.0, 11)
    assert {group for _, group, *_ in world.logs.asked} == {"/writers"}
    assert stored["log_group"] == "/writers"
    assert [(each["log_stream"], each["definition"]) for each in stored["tasks"]] == [
        (f"w/main/w{index}", "writer") for index in range(11)
    ]


def test_a_writer_without_a_line_is_named(collect):
    stored = collect([f"w/main/w{index}" for index in range(10)], [task(i) for i in range(11)])

    assert stored["status"] == "incomplete"
    assert stored["reason"].startswith("task 10 (w10) logged 0 of 1 lines of ingest_rate; ")


def test_a_task_that_ecs_started_twice_in_the_cluster_of_the_instance_is_stopped(collect, world):
    theirs = world.tasks.in_cluster(WRITERS)
    theirs.group_of = {"arn:stray": RUN, "arn:theirs": "family:kiwi-my-id-writer"}
    theirs.started_at = {"arn:stray": BEGUN, "arn:theirs": BEGUN}

    stored = collect([f"w/main/w{index}" for index in range(11)], [task(i) for i in range(11)])

    assert theirs.stopped.keys() == {"arn:stray"}
    assert stored["status"] == "failed"
    assert "it ran beside the tasks of the test" in stored["reason"]


def test_the_end_of_a_dead_run_stops_its_tasks_in_the_clusters_of_the_instance(world, monkeypatch):
    monkeypatch.setattr("tidemark.report.page.packed_vega", lambda: "vega()")
    claim = Claim(run_id=RUN, execution_arn=EXECUTION, claimed_at=BEGUN)
    claims.take(world.bucket, "kiwi", claim)
    world.executions.add(EXECUTION, "ABORTED", cause="enough")
    world.tasks.in_cluster(WRITERS).group_of = {"arn:1": RUN, "arn:2": "family:kiwi"}
    event = documented("execution_aborted")
    event["detail"] |= {"executionArn": EXECUTION, "status": "ABORTED"}

    world.call(end_run, event)

    assert world.tasks.in_cluster(WRITERS).stopped == {"arn:1": "stopped: enough"}
