"""A scheduled run that its history suspects of a new level, and that goes on until pairs tell."""

from datetime import timedelta

import pytest

from tests.plans import rocksdb
from tests.unit.run.test_choose_trial import BASE, NEW, Measuring
from tidemark.figures.history.run_medians import run_medians
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.store import keys
from tidemark.store.history import History
from tidemark.store.stored_plan import read_plan

SCHEDULED = {"until": None, "repetitions": 5, "trigger": "schedule"}


@pytest.fixture(scope="module")
def level():
    """Return the history of ten runs on one level, as it is stored."""
    earlier = Measuring({NEW: 0}, **SCHEDULED)
    earlier.go_on()
    run = earlier.stored
    medians = run_medians(run.plan, run.trials, NO_EXCLUSIONS)
    order = run.plan.suite.subject.version_order(BASE)
    return History(
        tuple(
            medians.model_copy(
                update={
                    "run_id": f"202610{day:02}T120000Z-0a1b2c",
                    "started_at": medians.started_at - timedelta(days=50 - day),
                    "version": BASE,
                    "version_order": order,
                }
            )
            for day in range(10, 20)
        )
    ).packed()


def scheduled(level, loss=0.2, **more):
    run = Measuring({NEW: loss}, **{**SCHEDULED, **more})
    run.bucket.write(keys.history("rocksdb"), level)
    return run


def test_a_suspected_run_goes_on_until_new_pairs_confirm_the_change(level):
    run = scheduled(level)
    planned = run.plan.trials

    first = run.go_on(most=10, budget_usd=100)
    run.plan = read_plan(run.bucket, run.name)
    run.go_on(budget_usd=100)

    assert first.rounds
    assert run.plan.trials[: len(planned)] == planned
    assert (run.plan.request.until, run.plan.request.baseline) == ("decided", BASE)
    assert run.words(NEW) == {("slower", "confirmed")}
    assert "suspected a new level" in run.plan.request.note
    assert run.outcome().status == "complete"


@pytest.mark.parametrize(
    ("more", "budget"),
    [
        ({"loss": 0.0}, 100),
        ({"trigger": "cli"}, 100),
        ({}, None),
    ],
)
def test_a_run_without_suspicion_schedule_or_budget_ends_as_planned(level, more, budget):
    run = scheduled(level, **more)

    last = run.go_on(budget_usd=budget)

    assert (last.done, last.cut_short) == (10, None)
    assert read_plan(run.bucket, run.name) == run.plan


def test_the_budget_ends_the_confirmation(level):
    run = scheduled(level)
    run.go_on(most=10, budget_usd=100)
    run.plan = read_plan(run.bucket, run.name)

    last = run.go_on(budget_usd=0.001)

    assert last.cut_short.startswith("budget_usd: ")


def test_a_suspicion_that_pairs_cannot_decide_ends_the_run_as_planned(level):
    suite = rocksdb()
    tests = tuple(
        test.model_copy(
            update={"metrics": (test.metrics[0].model_copy(update={"decides": False}),)}
        )
        for test in suite.tests
    )
    run = scheduled(level, suite=suite.model_copy(update={"tests": tests}))

    assert run.go_on(budget_usd=100).done == 10
