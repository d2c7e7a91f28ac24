"""Steps that wait until a queue is empty, or until the tasks of a cluster have stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from lambdas import check_condition, prepare_trial
from tests.plans import RUN
from tests.unit.run.test_instances import EXECUTION
from tidemark.model.steps import Step, WaitUntil

QUEUES = "kiwi-my-id-jobs,kiwi-my-id-more"
TRIAL = {"run_id": RUN, "trial": 1}
EMPTIED = WaitUntil(
    queues=("kiwi-{instance}-jobs", "kiwi-{instance}-more"), every_seconds=20, within_seconds=60
)
STOPPED = WaitUntil(tasks_stopped="kiwi-{instance}", within_seconds=60, readings=2)


@pytest.fixture
def waits(world, plan):
    """Store a run of an instance whose first test waits for a queue and a cluster."""
    steps = (Step(name="emptied", wait_until=EMPTIED), Step(name="stopped", wait_until=STOPPED))
    steps = (*steps, *plan.suite.tests[0].every_step)
    parameters = {"instance": "my-id", **plan.request.parameters}
    request = plan.request.model_copy(update={"parameters": parameters})
    world.store(plan, {"steps": steps}, request=request, execution_arn=EXECUTION)
    return world


def ask(world, step, awaited, after=0, holds=0):
    """Ask whether the wait of a step is over some seconds after its begin."""
    since = datetime(2026, 11, 20, 12, 46, tzinfo=UTC)
    event = {
        **TRIAL, "test": "ingest", "step": step, "awaited": awaited, "holds": holds, "tasks": [],
        "services": [], "artefacts": "",
        "started_at": since.isoformat(), "waiting_since": since.isoformat(),
        "now": (since + timedelta(seconds=after)).isoformat(), "bytes_scanned": 500,
    }  # fmt: skip
    return world.call(check_condition, event)


def course(world, step, awaited, *times):
    """Return the answers to questions at some seconds after the begin of a wait."""
    holds, answers = 0, []
    for seconds in times:
        answer = ask(world, step, awaited, seconds, holds)
        holds = answer["holds"]
        answers.append((answer["over"], answer["wait_seconds"], answer["stopped_by"]))
    return answers


def test_prepare_trial_gives_the_names_of_the_instance_that_its_steps_wait_for(waits):
    first, _ = waits.call(prepare_trial, TRIAL)["tests"]

    assert first["steps"][:2] == [
        {"name": "emptied", "awaited": QUEUES},
        {"name": "stopped", "awaited": "kiwi-my-id"},
    ]


def test_queues_are_empty_when_three_readings_in_sequence_find_no_message(waits):
    waits.queues.numbers = {
        "kiwi-my-id-jobs": [2, 0, 0, 0, 0, 0, 0],
        "kiwi-my-id-more": [0, 0, 0, 1, 0],
    }

    answers = course(waits, "emptied", QUEUES, 0, 10, 20, 30, 40, 50, 55)

    assert [over for over, _, _ in answers] == [False] * 6 + [True]
    assert {why for _, _, why in answers} == {None}
    assert [seconds for _, seconds, _ in answers] == [20, 20, 20, 20, 20, 10, 0]


def test_a_queue_that_the_instance_lacks_is_empty_at_once(waits):
    assert course(waits, "emptied", ",", 0) == [(True, 0, None)]


def test_tasks_have_stopped_when_as_many_readings_as_the_suite_asks_for_find_none(waits):
    waits.clusters.numbers = {"kiwi-my-id": [3, 0, 0]}

    answers = course(waits, "stopped", "kiwi-my-id", 0, 5, 10)

    assert answers == [(False, 5, None), (False, 5, None), (True, 0, None)]


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (1, "step emptied: queue kiwi-my-id-jobs has 1 message left after 60 s"),
        (40, "step emptied: queue kiwi-my-id-jobs has 40 messages left after 60 s"),
        (
            0,
            "step emptied: queue kiwi-my-id-jobs has 0 messages left after 60 s, but only at 2 "
            "of 3 readings in sequence",
        ),
    ],
)
def test_a_queue_that_never_empties_fails_the_test_with_what_is_left(waits, left, sentence):
    waits.queues.numbers = {"kiwi-my-id-jobs": [left], "kiwi-my-id-more": [0]}

    assert course(waits, "emptied", QUEUES, 59, 60) == [
        (False, 1, None),
        (True, 0, sentence),
    ]


@pytest.mark.parametrize(
    ("step", "name", "sentence"),
    [
        ("emptied", QUEUES, "step emptied: there is no queue kiwi-my-id-jobs"),
        ("stopped", "arn:x:cluster/kiwi", "step stopped: there is no cluster kiwi"),
    ],
)
def test_a_queue_or_cluster_that_is_missing_fails_the_test_by_its_name(waits, step, name, sentence):
    answer = ask(waits, step, name)

    assert (answer["over"], answer["stopped_by"], answer["bytes_scanned"]) == (True, sentence, 500)
