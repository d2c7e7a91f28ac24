"""Tasks that ran beside those of a test."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.fakes import FakeTasks
from tidemark.model.results import TaskResult
from tidemark.run.strays import stop_strays

BEGUN = datetime(2026, 11, 20, 12, tzinfo=UTC)
KNOWN = [TaskResult(index=0, status="ok", task_arn="arn:0")]


@pytest.fixture
def tasks():
    tasks = FakeTasks()

    def start(arn, group="run", seconds=1):
        tasks.group_of[arn] = group
        tasks.started_at[arn] = BEGUN + timedelta(seconds=seconds)

    tasks.start = start
    start("arn:0")
    return tasks


def test_a_test_with_its_own_tasks_alone_has_no_stray(tasks):
    tasks.start("of another run", group="other")
    tasks.start("of the test before", seconds=-1)

    assert stop_strays([tasks], "run", KNOWN, BEGUN) == []
    assert tasks.stopped == {}


def test_a_task_that_ecs_started_twice_is_stopped_and_fails_the_test(tasks):
    tasks.start("arn:1")

    (stray,) = stop_strays([tasks], "run", KNOWN, BEGUN)

    assert tasks.stopped == {"arn:1": "run run does not know this task"}
    assert (stray.index, stray.status, stray.task_arn) == (1, "failed", "arn:1")
    assert stray.reason.startswith("task 1: it ran beside the tasks of the test: ECS had started")


def test_a_task_that_its_timed_out_state_left_is_stopped_and_is_no_second_failure(tasks):
    tasks.start("arn:1")
    timed_out = TaskResult(index=1, status="failed", stop_category="timeout")

    assert stop_strays([tasks], "run", [*KNOWN, timed_out], BEGUN) == []
    assert tasks.stopped.keys() == {"arn:1"}
