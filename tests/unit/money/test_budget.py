"""Runs that end before they exceed their budget."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lambdas import choose_trial, record_outcome, record_trial
from tests.plans import RUN
from tidemark.model.plan import Plan
from tidemark.model.results import TaskResult, TestResult, TrialResult
from tidemark.money.budget import Spent, counted, expected_usd, passed
from tidemark.money.run_cost import billed_seconds, run_cost
from tidemark.run.classify_stop import classify

FAILURE = {"Error": "States.Timeout", "Cause": ""}
# A task that is billed for a minute: 2 vCPU, 8 GB, 30 GB of storage and an address.
MINUTE_USD = 0.12485 / 60


def trial(plan: Plan, number: int, minutes: int) -> TrialResult:
    """Return a trial of one task that is billed for this many minutes."""
    started = plan.started_at
    stopped = started + timedelta(minutes=minutes)
    task = TaskResult(index=0, status="ok", started_at=started, stopped_at=stopped)
    return TrialResult(
        run_id=RUN, trial=number, version="9.0.0", package="p", repetition=1, status="ok",
        reason="", tests=(TestResult(test="ingest", status="ok", tasks=(task,), insights_bytes=0),),
    )  # fmt: skip


def lost(plan: Plan, number: int) -> TrialResult:
    skipped = tuple(TestResult(test=test.name, status="skipped") for test in plan.suite.tests)
    return trial(plan, number, 1).model_copy(update={"status": "failed", "tests": skipped})


def choose(world, budget_usd, **more):
    event = {"run_id": RUN, "execution_arn": "arn:x", "budget_usd": budget_usd, **more}
    return world.call(choose_trial, event)


def test_the_costs_of_trials_are_added_and_the_highest_is_kept(plan):
    spent = counted(Spent(), plan, [trial(plan, 1, 1), trial(plan, 2, 5), trial(plan, 3, 2)])

    assert spent.trials == (1, 2, 3)
    assert spent.usd == pytest.approx(8 * MINUTE_USD)
    assert spent.dearest == pytest.approx(5 * MINUTE_USD)


def test_the_next_trial_may_cost_as_much_as_the_dearest_or_its_share_of_the_estimate(plan):
    assert expected_usd(Spent(), plan) == pytest.approx(plan.estimate.measuring_usd / 2)
    assert expected_usd(Spent(trials=(1,), usd=1, dearest=0.7), plan) == 0.7


def test_a_plan_without_an_estimate_is_estimated_now(plan):
    old = plan.model_copy(update={"estimate": None})

    assert expected_usd(Spent(), old) == expected_usd(Spent(), plan)


def test_a_lost_trial_counts_with_the_expected_cost(plan):
    first = counted(Spent(), plan, [lost(plan, 1)])
    second = counted(first, plan, [trial(plan, 2, 5), lost(plan, 3)])

    assert first.usd == expected_usd(Spent(), plan)
    assert second.usd == pytest.approx(first.usd + 10 * MINUTE_USD)


def test_a_trial_that_failed_early_does_not_lower_the_expected_cost(plan):
    (test,) = trial(plan, 1, 1).tests
    failed = test.model_copy(update={"status": "failed"})
    early = trial(plan, 1, 1).model_copy(update={"status": "failed", "tests": (failed,)})

    spent = counted(Spent(), plan, [early])

    assert spent.usd == pytest.approx(MINUTE_USD)
    assert expected_usd(spent, plan) == expected_usd(Spent(), plan)


def test_a_task_that_failed_costs_as_much_as_one_that_did_not(plan):
    done = trial(plan, 1, 5)
    (test,) = done.tests
    (task,) = test.tasks
    task = replace(task, status="failed", exit_code=1, stop_category="exit code")
    failed = test.model_copy(update={"status": "failed", "tasks": (task,)})
    ended = done.model_copy(update={"status": "failed", "tests": (failed,)})

    assert run_cost(plan, [ended]) == run_cost(plan, [done])
    assert billed_seconds([ended]) == 300


def test_a_trial_with_a_task_that_ran_for_an_unknown_time_counts_with_the_expected_cost(plan):
    (test,) = trial(plan, 1, 1).tests
    timeless = classify(0, "rocksdb", "States.Timeout", "", 20)
    failed = test.model_copy(update={"status": "failed", "tasks": (timeless,)})
    known = trial(plan, 1, 1).model_copy(update={"status": "failed", "tests": (failed,)})

    assert counted(Spent(), plan, [known]).usd == expected_usd(Spent(), plan)


def test_a_trial_without_a_recorded_cost_counts_with_the_expected_cost(plan):
    first = trial(plan, 1, 1)
    (test,) = first.tests
    unknown = first.model_copy(
        update={"tests": (test.model_copy(update={"insights_bytes": None}),)}
    )

    assert counted(Spent(), plan, [unknown]).usd == expected_usd(Spent(), plan)


def test_a_budget_may_be_spent_to_its_last_cent(plan):
    spent = Spent(trials=(1,), usd=0.25, dearest=0.25)

    assert passed(spent, plan, 0.5) is None
    assert passed(spent, plan, 0.49) == (
        "budget_usd: 0.2500 USD of 0.4900 USD are spent by 1 of 2 trials, and the next may cost "
        "0.2500 USD; resume the run with a greater budget"
    )


def test_the_next_trial_is_chosen_while_the_budget_has_room(world, plan):
    first = choose(world, 0.01)
    world.bucket.write(f"runs/{RUN}/trials/001.json", trial(plan, 1, 4).model_dump_json().encode())
    second = choose(world, 0.01, spent=first["spent"])

    assert ([each["trial"] for each in first["rounds"]], first["cut_short"]) == ([1], None)
    assert (second["rounds"], second["done"]) == ([], 1)
    assert second["cut_short"].startswith("budget_usd: 0.0083 USD of 0.0100 USD are spent")


def test_a_counted_trial_is_not_read_again(world, plan):
    world.bucket.write(f"runs/{RUN}/trials/001.json", b"unreadable")

    chosen = choose(world, 1, spent={"trials": [1], "usd": 0.1, "dearest": 0.1})

    assert (chosen["rounds"][0]["trial"], chosen["spent"]["trials"]) == (2, [1])


def test_a_run_with_every_trial_is_complete_despite_its_cost(world, plan):
    for number in (1, 2):
        body = trial(plan, number, 90).model_dump_json().encode()
        world.bucket.write(f"runs/{RUN}/trials/{number:03d}.json", body)

    assert choose(world, 0.01)["cut_short"] is None


def test_a_run_that_ends_at_its_budget_is_incomplete_for_that_reason(world, plan):
    world.call(record_trial, {"run_id": RUN, "trial": 1, "failure": FAILURE})
    sentence = choose(world, 0.001)["cut_short"]

    outcome = world.call(record_outcome, {
        "execution_arn": "arn:x", "execution_name": "x", "started_at": "2026-11-20T12:44:55Z",
        "input": {"suite": "rocksdb"}, "run_id": RUN, "now": "2026-11-20T13:00:00Z",
        "failure": {"Error": "CutShort", "Cause": sentence},
    })  # fmt: skip

    assert (outcome["status"], outcome["reason"]) == ("incomplete", sentence)


def test_the_cost_of_a_trial_is_that_of_its_tasks_and_of_the_bytes_of_its_queries(plan):
    one = trial(plan, 1, 5)
    (test,) = one.tests
    searched = test.model_copy(update={"insights_bytes": 3 * 10**9})

    cost = run_cost(plan, [one.model_copy(update={"tests": (searched,)})])

    assert cost.queries == pytest.approx(3 * 0.005)
    assert cost.total == pytest.approx(5 * MINUTE_USD + 3 * 0.005)
