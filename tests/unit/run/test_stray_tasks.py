"""Tasks of a test that the state machine does not know."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.fakes import FakeTasks
from tidemark.model.results import TaskResult
from tidemark.run.classify_stop import classify
from tidemark.run.stray_tasks import stop_strays

BEGUN = datetime(2026, 11, 20, 12, tzinfo=UTC)
NOW = BEGUN + timedelta(seconds=330)
KNOWN = [TaskResult(index=0, status="ok", task_arn="arn:0")]
TIMED_OUT = classify(1, "rocksdb", "States.Timeout", "", 20)


OWN = {"Name": "rocksdb", "Command": ["ingest"]}


def variables(index):
    return {
        "ContainerOverrides": [OWN | {"Environment": [{"Name": "TIDEMARK_TASK", "Value": index}]}]
    }


@pytest.fixture
def tasks():
    tasks = FakeTasks()

    def start(arn, group="run-1", seconds=1, **more):
        tasks.group_of[arn] = group
        tasks.started_at[arn] = begun = BEGUN + timedelta(seconds=seconds)
        tasks.described[arn] = {"TaskArn": arn, "StartedAt": begun, "LastStatus": "RUNNING", **more}

    tasks.start = start
    start("arn:0")
    return tasks


def stop(tasks, known=KNOWN):
    return stop_strays([tasks], "run-1", known, {0: 20, 1: 20}, BEGUN, NOW)


def test_a_test_with_its_own_tasks_alone_has_no_stray(tasks):
    tasks.start("of another run", group="other")
    tasks.start("of the test before", seconds=-1)

    assert stop(tasks) == (KNOWN, [], False)
    assert tasks.stopped == {}


def test_a_task_that_ecs_started_twice_is_stopped_counts_and_fails_the_test(tasks):
    tasks.start("arn:1")

    known, (stray,), stopping = stop(tasks)

    assert (known, stopping) == (KNOWN, True)
    assert tasks.stopped == {"arn:1": "trial run-1 does not know this task"}
    assert (stray.index, stray.status, stray.task_arn) == (1, "failed", "arn:1")
    assert (stray.stop_category, stray.seconds) == ("stray", 329)
    assert stray.reason.startswith("task 1: it ran beside the tasks of the test: ECS had started")


def test_a_task_that_its_timed_out_state_left_is_stopped_and_has_its_times(tasks):
    tasks.start("arn:1", Overrides=variables("1"))

    (_, task), strays, stopping = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (strays, stopping) == ([], True)
    assert tasks.stopped.keys() == {"arn:1"}
    assert (task.task_arn, task.stop_category, task.seconds) == ("arn:1", "timeout", 329)
    assert task.reason == (
        "task 1: it ran 329.0 s, longer than timeout_seconds 20, and was stopped; choose smaller "
        "parameters or raise timeout_seconds of the test"
    )


def test_a_task_that_ended_with_its_timed_out_state_has_its_own_end_and_is_not_stopped(tasks):
    end = {"LastStatus": "STOPPED", "StoppedAt": BEGUN + timedelta(seconds=41)}
    tasks.start("arn:1", Overrides=variables("1"), **end)

    (_, task), _, stopping = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.seconds, task.billed_seconds, stopping, tasks.stopped) == (40, 60, False, {})


def test_a_timed_out_task_is_told_from_a_stray_by_its_index(tasks):
    tasks.start("arn:1", Overrides=variables("0"))
    tasks.start("arn:2", Overrides=variables("1"))

    (_, task), (stray,), _ = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.task_arn, stray.task_arn) == ("arn:2", "arn:1")


def test_a_task_without_an_index_is_a_stray_beside_one_with_the_index_of_a_timed_out_task(tasks):
    tasks.start("arn:1")
    tasks.start("arn:2", Overrides=variables("1"))

    (_, task), (stray,), _ = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.task_arn, stray.task_arn) == ("arn:2", "arn:1")


def test_a_task_without_an_index_is_a_stray_beside_tasks_with_other_indices(tasks):
    tasks.start("arn:1")
    tasks.start("arn:2", Overrides=variables("0"))

    (_, task), strays, _ = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.task_arn, [each.task_arn for each in strays]) == (None, ["arn:1", "arn:2"])


def test_a_timed_out_task_of_an_instance_has_no_index_and_is_any_of_its_run(tasks):
    tasks.start("arn:1", Overrides={"ContainerOverrides": [OWN]})

    (_, task), strays, _ = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.task_arn, strays) == ("arn:1", [])


def test_a_task_that_never_started_before_its_limit_did_not_run(tasks):
    tasks.start("arn:1", StartedAt=None, Overrides=variables("1"))

    (_, task), _, _ = stop(tasks, [*KNOWN, TIMED_OUT])

    assert (task.task_arn, task.seconds) == ("arn:1", 0)
    assert task.reason == (
        "task 1: it never started: no reason was given; the ECS developer guide, "
        '"Amazon ECS stopped tasks error messages", explains it'
    )
