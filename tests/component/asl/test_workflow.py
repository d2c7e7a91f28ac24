"""The state machine of a run over fakes of the functions, or over a bucket with its trials."""

import asyncio
import json

import pytest

from cdk.definitions import definition
from onebox.asl.errors import StateError
from onebox.asl.payload import MAX_BYTES
from tests.plans import RUN
from tests.system.state_machines.scenarios import HOLDER, LONGEST_CAUSE, NONE_LEFT, batch
from tests.unit.run.test_choose_trial import NEW, Measuring
from tests.unit.run.test_search import BISECT, found, searching
from tidemark.model.run_spec import MOST_PARALLEL
from tidemark.run.choose_trial import ChooseTrialEvent, choose
from tidemark.store.stored_plan import read_plan

TEXT = definition("workflow")


class Workflow:
    """A run of the machine over fakes of the functions."""

    def __init__(self, lab):
        self.lab = lab
        self.called = []
        self.failures = {}
        self.running = self.most_running = 0
        self.answers = {
            "PlanRun": [{"run_id": "r", "budget_usd": None, "holder": None, "started_by": None}],
            "EndRun": [{"outcome": None}],
            "ChooseTrial": [NONE_LEFT],
            "RecordRates": [{}],
            "PublishReport": [{}],
            "RecordOutcome": [{"run_id": "r", "status": "complete", "reason": ""}],
        }
        lab.integrations["arn:aws:states:::lambda:invoke"] = self.invoke
        lab.integrations["arn:aws:states:::states:startExecution.sync:2"] = self.run_trial

    async def invoke(self, arguments, _submission):
        name = arguments["FunctionName"].strip("${}")
        self.called.append((name, arguments["Payload"]))
        return {"Payload": self.answers[name].pop(0)}

    async def run_trial(self, arguments, _submission):
        self.called.append((arguments["Name"], arguments["Input"]))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(60)
        self.running -= 1
        if failure := self.failures.get(arguments["Name"]):
            raise failure
        return {"Output": "x" * 20_000}

    def run(self, run_input):
        machine = json.loads(TEXT)
        states = machine.pop("States")
        assert next(iter(states)) == machine.pop("StartAt")
        execution = self.lab.run(states, run_input, **machine)
        assert execution.status == "SUCCEEDED", execution.cause
        return [name for name, _ in self.called]


@pytest.fixture
def workflow(lab):
    return Workflow(lab)


def test_a_dead_holder_is_ended_and_the_run_is_planned_again(workflow):
    plan = workflow.answers["PlanRun"][0]
    workflow.answers["PlanRun"].insert(0, {**plan, "holder": HOLDER})

    assert workflow.run({"suite": "s"})[:4] == ["PlanRun", "EndRun", "PlanRun", "ChooseTrial"]
    assert workflow.called[1][1] == {"detail": HOLDER}
    assert workflow.called[2][1]["input"] == {"suite": "s"}


def test_a_run_that_another_execution_started_is_left_to_that_execution(workflow):
    plan = workflow.answers["PlanRun"][0]
    workflow.answers["PlanRun"] = [{**plan, "started_by": "arn:first"}]

    assert workflow.run({"suite": "s"}) == ["PlanRun"]


def test_a_run_over_its_budget_is_recorded_with_the_reason(workflow):
    spent = {"trials": [1], "usd": 2, "dearest": 2}
    failures = {"batch": [1], "is_first": True, "latest": {}, "stopped": {}}
    first = {**batch(1), "spent": spent, "failures": failures}
    workflow.answers["PlanRun"][0]["budget_usd"] = 3
    workflow.answers["ChooseTrial"] = [first, {**NONE_LEFT, "cut_short": "too dear"}]

    assert workflow.run({"suite": "s"})[1:] == [
        "ChooseTrial", "r-1", "ChooseTrial",
        "RecordRates", "PublishReport", "RecordOutcome",
    ]  # fmt: skip
    payloads = [payload for name, payload in workflow.called if name == "ChooseTrial"]
    passed_on = ("budget_usd", "spent", "failures")
    assert [[payload[name] for name in passed_on] for payload in payloads] == [
        [3, None, None],
        [3, spent, failures],
    ]
    assert workflow.called[-1][1]["failure"] == {"Error": "CutShort", "Cause": "too dear"}


def test_the_rounds_of_a_batch_run_at_once_and_each_has_its_own_input(workflow):
    workflow.answers["ChooseTrial"] = [batch(*range(1, 25, 2)), NONE_LEFT]

    called = workflow.run({"suite": "s"})

    assert called[1:-3] == ["ChooseTrial", *(f"r-{n}" for n in range(1, 25, 2)), "ChooseTrial"]
    assert workflow.most_running == MOST_PARALLEL
    inputs = dict(workflow.called)
    assert {key: inputs["r-3"][key] for key in ("run_id", "trial", "trials", "wait_seconds")} == {
        "run_id": "r", "trial": 3, "trials": [3, 4], "wait_seconds": 1,
    }  # fmt: skip


def test_a_host_that_dies_in_a_round_costs_the_other_rounds_of_the_batch_nothing(workflow):
    workflow.answers["ChooseTrial"] = [batch(1, 3, 5), NONE_LEFT]
    workflow.failures["r-3"] = StateError("States.TaskFailed", LONGEST_CAUSE)

    called = workflow.run({"suite": "s"})

    assert called[1:-3] == ["ChooseTrial", "r-1", "r-3", "r-5", "ChooseTrial"]
    _, again = [payload for name, payload in workflow.called if name == "ChooseTrial"]
    (lost,) = again["lost"]
    assert (lost["trial"], lost["trials"]) == (3, [3, 4])
    assert lost["failure"] == {"Error": "States.TaskFailed", "Cause": LONGEST_CAUSE[:3000]}


def test_a_batch_whose_rounds_all_die_for_the_longest_reasons_is_recorded(workflow):
    workflow.answers["ChooseTrial"] = [batch(*range(1, 25, 2)), NONE_LEFT]
    workflow.failures = {
        f"r-{n}": StateError("States.TaskFailed", LONGEST_CAUSE) for n in range(1, 25, 2)
    }

    workflow.run({"suite": "s"})

    _, again = [payload for name, payload in workflow.called if name == "ChooseTrial"]
    assert [lost["trial"] for lost in again["lost"]] == list(range(1, 25, 2))


class Choices:
    """The answers of ChooseTrial over a bucket, each to the last payload."""

    def __init__(self, workflow, bucket):
        self.workflow, self.bucket = workflow, bucket

    def pop(self, _):
        event = ChooseTrialEvent(**self.workflow.called[-1][1])
        return choose(self.bucket, event).model_dump(mode="json")


def test_a_run_until_decided_runs_trials_until_its_alarm_is_confirmed(workflow):
    run = Measuring({NEW: 0.2})

    async def run_trial(arguments, _submission):
        run.record(arguments["Input"]["trial"])
        return {}

    workflow.lab.integrations["arn:aws:states:::states:startExecution.sync:2"] = run_trial
    workflow.answers["PlanRun"][0] |= {"run_id": RUN, "budget_usd": 1000}
    workflow.answers["ChooseTrial"] = Choices(workflow, run.bucket)

    called = workflow.run({"suite": "rocksdb", "until": "decided"})

    assert called == [
        "PlanRun", *["ChooseTrial"] * 23, "RecordRates", "PublishReport", "RecordOutcome",
    ]  # fmt: skip
    assert run.words(NEW) == {("slower", "confirmed")}
    # The sums of the pairs stay in the bucket: the payload has the cost alone.
    assert workflow.called[-4][1].keys() == {
        "run_id", "execution_arn", "lost", "budget_usd", "spent", "failures",
    }  # fmt: skip


def test_one_execution_holds_a_whole_search_for_the_first_slower_version(workflow):
    run = searching("9.0.0")

    async def run_trial(arguments, _submission):
        run.plan = read_plan(run.bucket, RUN)
        run.record(arguments["Input"]["trial"])
        return {}

    workflow.lab.integrations["arn:aws:states:::states:startExecution.sync:2"] = run_trial
    workflow.answers["PlanRun"][0] |= {"run_id": RUN}
    workflow.answers["ChooseTrial"] = Choices(workflow, run.bucket)

    called = workflow.run({"suite": "rocksdb", "bisect": BISECT})

    run.plan = read_plan(run.bucket, RUN)
    assert called[-3:] == ["RecordRates", "PublishReport", "RecordOutcome"]
    assert [each.version for each in found(run).path] == ["9.8.4", "9.0.0", "8.10.0"]
    assert found(run).first_slower == "9.0.0"


def test_an_input_that_fills_a_payload_is_refused_and_still_has_an_outcome(workflow):
    run_input = {"suite": "s", "note": "x" * (MAX_BYTES - 100)}

    assert workflow.run(run_input) == ["RecordOutcome"]
    outcome = workflow.called[0][1]
    assert outcome["failure"] == {
        "Error": "Refused",
        "Cause": "input: it has more than 60000 characters; a request needs some hundred",
    }
    assert (outcome["run_id"], outcome["input"]) == (None, None)
