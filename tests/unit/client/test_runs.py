"""Starts of runs by a program outside the cloud."""

import json
from datetime import UTC, datetime

import pytest

from tests.unit.measured_runs import planned
from tidemark.client.deployed import Stack
from tidemark.client.runs import Run, RunClient
from tidemark.model.run_id import run_id
from tidemark.model.steps import RunTasks, Step, WaitUntil

MOMENT = datetime(2026, 11, 20, 12, 44, 55, tzinfo=UTC)

OUTPUTS = {
    "StateMachine": "arn:machine",
    "TrialStateMachine": "arn:stateMachine:trial",
    "LogsDeadlineSeconds": "20",
}


class FakeMachines:
    """State machines that keep the last start."""

    def start(self, machine, name, execution_input):
        self.machine, self.name, self.input = machine, name, execution_input
        return "arn:x", MOMENT

    def states_entered(self, _execution):
        return self.states


@pytest.fixture
def machines():
    return FakeMachines()


@pytest.fixture
def client(machines):
    return RunClient(machines, None, None, Stack("s", OUTPUTS))


def test_the_id_of_a_run_comes_from_its_execution_for_any_length_of_input(client, machines):
    run = client.start({"suite": "rocksdb", "note": "x" * 70_000})

    assert json.loads(machines.input)["suite"] == "rocksdb"
    assert run.run_id == run.own_id == run_id(machines.name, MOMENT)


def test_a_resume_has_an_id_of_its_own_for_its_refusal(client, machines):
    run = client.start({"suite": "rocksdb", "run": "20261119T000000Z-abcdef"})

    assert run.run_id == "20261119T000000Z-abcdef"
    assert run.own_id == run_id(machines.name, MOMENT)


COLLECTED = ["ChooseTest", "RunTasks", "CollectRates", "EveryTaskReported"]


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (None, None),
        (["PrepareTrial"], "ingest"),
        (COLLECTED, "ingest"),
        ([*COLLECTED, "WaitForLogs"], "ingest, waiting for its log lines, 20 s at most"),
        (
            [*COLLECTED, "WaitForLogs", "CollectRates"],
            "ingest, waiting for its log lines, 20 s at most",
        ),
        ([*COLLECTED, "WaitForLogs", "CollectRates", "ChooseTest"], "compaction"),
    ],
)
def test_the_current_test_of_a_trial_says_how_long_it_waits_for_log_lines(
    client, machines, states, words
):
    machines.states = states

    assert client.current_test(Run("r", "arn:execution:run:x"), planned(["9.0.0"]), 1) == words


def test_the_current_test_of_a_trial_says_for_which_step_it_waits(client, machines):
    plan = planned(["9.0.0"])
    steps = (
        Step(name="load", run_tasks=RunTasks()),
        Step(name="loaded", wait_until=WaitUntil(query="loaded", within_seconds=60)),
    )
    test = plan.suite.tests[0].model_copy(update={"steps": steps})
    waiting = plan.model_copy(update={"suite": plan.suite.model_copy(update={"tests": (test,)})})
    machines.states = ["ChooseTest", "ChooseStep", "RunTasks", "ChooseStep", "CheckCondition"]
    run = Run("r", "arn:execution:run:x")

    assert client.current_test(run, waiting, 1) == "ingest"
    machines.states += ["ConditionHolds", "WaitForCondition"]
    assert client.current_test(run, waiting, 1) == (
        "ingest, waiting for the log line of step loaded, 60 s at most"
    )


def test_the_current_test_of_a_trial_says_for_which_service_it_waits(client, machines):
    plan = planned(["9.0.0"])
    fields = plan.suite.model_dump(mode="json")
    task = {name: fields["task"][name] for name in ("cpu", "memory", "storage")}
    task |= {"workload": "rocksdb", "entry_point": ["server"]}
    fields["services"] = {
        name: {"task": task, "ready": {"port": 8080}, "within_seconds": seconds}
        for name, seconds in (("database", 30), ("server", 90))
    }
    fields["tests"][0] |= {
        "services": ["database", "server"],
        "steps": [
            {"name": "load", "run_tasks": {}},
            {"name": "loaded", "wait_until": {"query": "loaded", "within_seconds": 60}},
        ],
    }
    suite = type(plan.suite).model_validate(fields)
    served = plan.model_copy(update={"suite": suite})
    started = ["ChooseStep", "StartService", "CheckCondition", "ConditionHolds"]
    run, waiting = Run("r", "arn:execution:run:x"), [*started, "WaitForCondition"]

    def words(*states):
        machines.states = ["PrepareTrial", "ChooseTest", *states]
        return client.current_test(run, served, 1)

    assert words(*waiting) == "ingest, waiting for the service database, 30 s at most"
    assert words(*started, *waiting) == "ingest, waiting for the service server, 90 s at most"
    load = [*started, *waiting, "ChooseStep", "RunTasks"]
    assert words(*load) == "ingest"
    assert words(*load, "ChooseStep", "CheckCondition", "ConditionHolds", "WaitForCondition") == (
        "ingest, waiting for the log line of step loaded, 60 s at most"
    )


def test_the_trial_of_a_run_is_an_execution_of_the_machine_of_trials(client):
    arn = client.trial_arn(Run("r", "arn:execution:run:x"), 3)

    assert arn.startswith("arn:execution:trial:r-3")
