"""Runs that do not reach their last state, through the deployed template on this machine."""

import json

import pytest

from tidemark.store.run_objects import all_trials
from tidemark.store.stored_plan import find_plan

REQUEST = {
    "suite": "rocksdb",
    "versions": ["9.8.4"],
    "repetitions": 2,
    "records": 2000,
    "layout": "trials",
}
SMALLEST = {**REQUEST, "repetitions": 1, "tasks": 1}


def outcome(deployed, run_id):
    return json.loads(deployed.stored(f"runs/{run_id}/outcome.json"))


@pytest.fixture(scope="module")
def stopped(deployed):
    """Return a run that was stopped after the record of its first of two trials."""
    run = deployed.client.start(REQUEST)
    deployed.until(lambda: list(all_trials(deployed.client.bucket, run.run_id)))
    deployed.client.stop(run, "enough")
    return run


@pytest.fixture(scope="module")
def resumed(deployed, stopped):
    """Return the resumed run, with its execution's status and cause."""
    return deployed.run({"suite": "rocksdb", "run": stopped.run_id})


def test_a_resume_first_ends_the_dead_run(deployed, stopped, resumed):
    _, status, cause = resumed

    assert (status, cause) == ("SUCCEEDED", "")
    states = deployed.cloud.endpoint.client("stepfunctions")
    events = states.get_execution_history(executionArn=resumed[0].execution_arn)["events"]
    entered = [
        event["stateEnteredEventDetails"]["name"]
        for event in events
        if "stateEnteredEventDetails" in event
    ]
    assert entered.count("RunTrial") == 1


def test_a_resumed_run_has_every_trial_once_and_is_complete(deployed, stopped, resumed):
    trials = deployed.trials(stopped)

    assert [trial["trial"] for trial in trials] == [1, 2]
    assert outcome(deployed, stopped.run_id)["status"] == "complete"


def test_a_second_run_of_a_suite_is_refused_and_the_first_continues(deployed):
    first = deployed.client.start(SMALLEST)
    deployed.until(lambda: find_plan(deployed.client.bucket, first.run_id))

    _, status, cause = deployed.run(REQUEST)

    assert status == "FAILED"
    assert cause.startswith(f"suite: rocksdb is being measured by run {first.run_id} since ")
    deployed.until(lambda: not deployed.client.active(first))
    assert outcome(deployed, first.run_id)["status"] == "complete"


def test_the_sweep_cleans_up_after_a_stopped_run(deployed):
    run = deployed.client.start(REQUEST)
    deployed.until(lambda: find_plan(deployed.client.bucket, run.run_id))
    plan = find_plan(deployed.client.bucket, run.run_id)
    deployed.until(lambda: deployed.client.current_test(run, plan, 1))
    deployed.client.stop(run, "enough")

    deployed.invoke("SweepRunsFunction", {})

    ended = outcome(deployed, run.run_id)
    assert (ended["status"], ended["reason"]) == ("aborted", "stopped: enough")
    s3 = deployed.cloud.endpoint.client("s3")
    for prefix in ("claims/", f"work/{run.run_id}/", f"work/data/{run.run_id}/"):
        assert "Contents" not in s3.list_objects_v2(Bucket=deployed.stack.bucket, Prefix=prefix)
