"""The tasks of an instance in a test: their logs, and their end with the run."""

from datetime import UTC, datetime, timedelta

import pytest

from lambdas import collect_rates, end_run, find_tasks
from tests.plans import RUN
from tests.unit.documented import documented
from tests.unit.kiwi_instance import (
    CLUSTERS,
    DEFINITIONS,
    EXECUTION,
    SYSTEMS,
    kiwi_plan,
    read_kiwi,
)
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

BEGUN = datetime(2026, 11, 20, 12, 45, tzinfo=UTC)
ENDED = BEGUN + timedelta(seconds=60)
WRITERS, COMPACTORS = (f"{CLUSTERS}/kiwi-my-id-{name}" for name in ("writers", "compact"))
WRITTEN = [f"w/main/w{index}" for index in range(11)]
TEST = {"run_id": RUN, "trial": 1, "test": "deploy_all"}


def task(arn, index, **fields):
    times = {"started_at": BEGUN.isoformat(), "stopped_at": ENDED.isoformat()}
    return {"index": index, "status": "ok", "task_arn": arn, **times, **fields}


OWN = [task(f"arn:task/w{index}", index) for index in range(11)]
FOUND = [
    task(f"arn:task/c{index}", 11 + index, step="compact", definition="compactor")
    for index in range(3)
]


def rows(lines):
    """Return the answer of a metric's query by the number of lines in each stream."""
    return [{"@logStream": name, "value": "100", "n": str(n)} for name, n in lines.items()]


@pytest.fixture
def plan(tmp_path):
    return kiwi_plan(read_kiwi(tmp_path))


@pytest.fixture
def collect(world, plan):
    """Return a function that collects the rates of a test from the lines in log streams."""
    world.systems = SYSTEMS
    config = "s3://kiwi-my-id-config/instance.properties"
    world.properties.texts = {config: "kiwi.version=12.4"}

    def collect(written, compacted):
        world.logs.answers = {
            "compaction called at": [
                {"@logStream": "c/main/c0", "job": f"job-{number}"} for number in range(10)
            ],
            "to S3": rows(dict.fromkeys(written, 1)), "ompaction job": rows(compacted),
            "Environment": [], "without a result": [],
        }  # fmt: skip
        event = {
            # The attempt before found as many lines: those of the jobs that began, and of rates.
            **TEST, "attempt": 9, "lines": 10 + sum(compacted.values()),
            "tasks": [*OWN, *FOUND], "artefacts": "",
            "bytes_scanned": 0, "started_at": BEGUN.isoformat(), "ended_at": ENDED.isoformat(),
            "now": "2026-11-20T13:46:00Z",
        }  # fmt: skip
        world.call(collect_rates, event)
        return world.json(keys.measured(RUN, 1, "deploy_all"))

    return collect


def test_rates_are_read_from_the_log_groups_and_streams_of_the_instances_tasks(collect, world):
    stored = collect([*WRITTEN, "w/main/other"], {"c/main/c0": 4, "c/main/c2": 6})

    assert (stored["status"], stored["reason"]) == ("ok", "")
    assert [(each["value"], each["samples"], each["expected"]) for each in stored["rates"]] == [
        (100.0, 11, 11), (100.0, 10, 10),
    ]  # fmt: skip
    groups = {(text.split("\n")[0], group) for text, group, *_ in world.logs.asked}
    assert [group for text, group in sorted(groups) if "wrote" in text] == ["/writers"]
    assert [group for text, group in sorted(groups) if "compactions" in text] == ["/compactors"]
    assert stored["log_group"] == "/writers, /compactors"
    places = {(each["step"], each["definition"], each["log_stream"]) for each in stored["tasks"]}
    assert ("write", "writer", "w/main/w10") in places
    assert ("compact", "compactor", "c/main/c2") in places


def test_a_writer_without_a_line_is_named(collect):
    stored = collect(WRITTEN[:10], {"c/main/c0": 10})

    assert stored["status"] == "incomplete"
    assert stored["reason"].startswith("task 10 (w10) logged 0 of 1 lines of ingest_rate; ")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            {"c/main/c0": 9},
            "the tasks began 10 jobs and logged 9 lines of compaction_rate; searched from ",
        ),
        (
            {"c/main/c0": 9, "c/main/c1": 2},
            "the tasks logged 11 lines of compaction_rate, and began 10 jobs",
        ),
    ],
)
def test_the_values_of_all_tasks_together_are_as_many_as_the_jobs_that_began(
    collect, lines, reason
):
    stored = collect(WRITTEN, lines)

    assert (stored["status"], stored["rates"][1]["value"]) == ("incomplete", None)
    assert stored["reason"].startswith(reason)


def test_a_task_that_ecs_started_twice_in_the_cluster_of_the_instance_is_stopped(collect, world):
    theirs = world.tasks.in_cluster(WRITERS)
    theirs.group_of = {"arn:stray": f"{RUN}-1", "arn:theirs": "family:kiwi-my-id-writer"}
    theirs.started_at = {"arn:stray": BEGUN, "arn:theirs": BEGUN}

    stored = collect(WRITTEN, {"c/main/c0": 10})

    assert theirs.stopped.keys() == {"arn:stray"}
    assert stored["status"] == "failed"
    assert "it ran beside the tasks of the test" in stored["reason"]


@pytest.fixture
def find(world):
    """Return a function that finds tasks; its tests say which the instance started, and when."""
    world.systems = SYSTEMS
    theirs = world.tasks.in_cluster(COMPACTORS)

    def start(name, seconds=1, family="my-idCompactor", exit_code=0, status="STOPPED"):
        arn = f"arn:task/{name}"
        theirs.started_at[arn] = BEGUN + timedelta(seconds=seconds)
        theirs.described[arn] = {
            "TaskArn": arn, "TaskDefinitionArn": f"{DEFINITIONS}/{family}:9", "LastStatus": status,
            "StartedAt": 1_763_640_000_000, "StoppedAt": 1_763_640_060_000,
            "StopCode": "EssentialContainerExited",
            "Containers": [
                {"Name": "proxy", "ExitCode": 143}, {"Name": "main", "ExitCode": exit_code},
            ],
        }  # fmt: skip

    def find():
        event = {**TEST, "search": "compact", "tasks": OWN, "started_at": BEGUN.isoformat()}
        return world.call(find_tasks, event)

    find.start = start
    return find


def test_the_tasks_that_the_instance_started_since_the_test_began_are_found(find):
    find.start("c0")
    find.start("c1")
    find.start("older", seconds=-1)
    find.start("other", family="my-idOther")

    found = find()

    assert found["stopped_by"] is None
    assert [
        (each["index"], each["task_arn"], each["status"], each["step"], each["definition"])
        for each in found["tasks"]
    ] == [
        (11, "arn:task/c0", "ok", "compact", "compactor"),
        (12, "arn:task/c1", "ok", "compact", "compactor"),
    ]
    assert found["tasks"][0]["started_at"] == "2025-11-20T12:00:00Z"


def test_a_found_task_that_ends_with_another_exit_code_has_failed(find):
    find.start("c0", exit_code=3)

    (task,) = find()["tasks"]

    assert (task["status"], task["stop_category"], task["exit_code"]) == ("failed", "exit code", 3)


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        ([], "the instance has started no task of my-idCompactor since the start of the test"),
        ([("c0", {"status": "RUNNING"})], "1 task of the instance has not ended: c0"),
        (
            [(f"c{number}", {}) for number in range(190)],
            "the instance has started 190 tasks, beside 11 others of the test; a test has at most "
            "200",
        ),
    ],
)
def test_tasks_that_are_not_those_of_a_whole_test_fail_it(find, tasks, why):
    for name, fields in tasks:
        find.start(name, **fields)

    assert find() == {"tasks": [], "stopped_by": f"step compact: {why}"}


def test_the_end_of_a_dead_run_stops_its_tasks_in_the_clusters_of_the_instance(world):
    claim = Claim(run_id=RUN, execution_arn=EXECUTION, claimed_at=BEGUN)
    claims.take(world.bucket, "kiwi", claim)
    world.executions.add(EXECUTION, "ABORTED", cause="enough")
    world.tasks.in_cluster(WRITERS).group_of = {"arn:1": f"{RUN}-1", "arn:2": "family:kiwi"}
    event = documented("execution_aborted")
    event["detail"] |= {"executionArn": EXECUTION, "status": "ABORTED"}

    world.call(end_run, event)

    assert world.tasks.in_cluster(WRITERS).stopped == {"arn:1": "stopped: enough"}
