"""Runs with a budget, through the deployed template on this machine."""

import pytest

from tidemark.money.estimate import count_transitions
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import find_report, recorded_trials
from tidemark.store.stored_plan import find_plan

# The first run until a budget takes 50 s.
pytestmark = pytest.mark.systems
# Each trial has two tasks, and AWS bills a minute for each: 0.0042 USD.
REQUEST = {
    "suite": "rocksdb",
    "versions": ["9.8.4"],
    "repetitions": 2,
    "records": 1000,
    "layout": "trials",
}


def entered(deployed, arn):
    """Return the names of the states in an execution's history."""
    pages = deployed.cloud.endpoint.client("stepfunctions").get_paginator("get_execution_history")
    return [
        event["stateEnteredEventDetails"]["name"]
        for page in pages.paginate(executionArn=arn)
        for event in page["events"]
        if "stateEnteredEventDetails" in event
    ]


@pytest.fixture(scope="module")
def ended(deployed):
    """Return a run without budget for its second trial, with its execution's status and cause."""
    return deployed.run({**REQUEST, "budget_usd": 0.006})


def test_a_run_ends_before_the_trial_that_would_exceed_its_budget(deployed, ended):
    run, status, cause = ended

    assert (status, recorded_trials(deployed.client.bucket, run.run_id)) == ("FAILED", [1])
    assert find_outcome(deployed.client.bucket, run.run_id).status == "incomplete"
    assert cause == find_outcome(deployed.client.bucket, run.run_id).reason
    assert cause.startswith("budget_usd: 0.0042 USD of 0.0060 USD are spent by 1 of 2 trials, and")
    report = find_report(deployed.client.bucket, "rocksdb", run.run_id, "report.md").decode()
    assert "| Budget |  | 0.0060 |" in report
    assert cause in report.replace("\\_", "_")


def test_a_run_resumes_with_a_greater_budget(deployed, ended):
    run, _, _ = ended

    again = deployed.run({"suite": "rocksdb", "run": run.run_id, "budget_usd": 0.01})

    assert again[1:] == ("SUCCEEDED", "")
    assert recorded_trials(deployed.client.bucket, run.run_id) == [1, 2]
    report = find_report(deployed.client.bucket, "rocksdb", run.run_id, "report.md").decode()
    assert "| Budget |  | 0.0100 |" in report


def test_the_estimate_has_as_many_state_transitions_as_a_run_makes(deployed, measured):
    plan = find_plan(deployed.client.bucket, measured.run_id)
    trials = [deployed.client.trial_arn(measured, trial.trial) for trial in plan.trials]
    states = [entered(deployed, arn) for arn in (measured.execution_arn, *trials)]
    readings = [name for names in states for name in names].count("CollectRates")
    tests = len(trials) * len(plan.suite.tests)

    # Each further reading of a test's logs adds three transitions.
    expected = count_transitions(plan.request, plan.suite, 1) + 3 * (readings - tests)
    assert sum(map(len, states)) == expected
    assert plan.estimate.transitions >= expected
