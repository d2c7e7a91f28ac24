"""Starting a run, as a program outside the cloud does."""

import json
from datetime import UTC, datetime

import pytest

from local.following import RunClient
from local.stack import Stack
from suites.plan import run_id

MOMENT = datetime(2026, 11, 20, 12, 44, 55, tzinfo=UTC)


class FakeStates:
    """Step Functions that notes what it is asked to start."""

    def start_execution(self, **request):
        self.request = request
        return {"executionArn": "arn:x", "startDate": MOMENT}


@pytest.fixture
def states():
    return FakeStates()


@pytest.fixture
def client(states):
    return RunClient(lambda _: states, Stack("s", {"StateMachine": "arn:machine"}))


def test_a_run_has_the_name_that_its_execution_gives_it_however_long_its_input_is(client, states):
    run = client.start({"suite": "rocksdb", "note": "x" * 70_000})

    assert json.loads(states.request["input"])["suite"] == "rocksdb"
    assert run.run_id == run.own_id == run_id(states.request["name"], MOMENT)


def test_a_resume_has_a_name_of_its_own_by_which_its_refusal_is_found(client, states):
    run = client.start({"suite": "rocksdb", "run": "20261119T000000Z-abcdef"})

    assert run.run_id == "20261119T000000Z-abcdef"
    assert run.own_id == run_id(states.request["name"], MOMENT)
