"""Runs that go on, as `tidemark runs` lists them."""

from dataclasses import dataclass, field

import pytest

from local.running import running
from tests.plans import RUN, plan_of


@dataclass
class FakeRuns:
    """What the results bucket and Step Functions know of runs."""

    plans: dict
    claimed: dict
    executing: set = field(default_factory=set)

    @property
    def results(self):
        return self

    def claims(self):
        return self.claimed

    def plan(self, run_id):
        return self.plans.get(run_id)

    def recorded(self, _run_id):
        return [1]

    def active(self, run):
        return run.execution_arn in self.executing


@pytest.fixture
def runs():
    asked = {"versions": ["9.0.0", "9.8.4"], "repetitions": 2, "note": "why"}
    plan = plan_of(asked, execution_arn="arn:first")
    return FakeRuns({RUN: plan}, {RUN: "arn:again"}, {"arn:again"})


def test_a_run_that_goes_on_has_a_row_with_how_far_it_is(runs):
    (row,) = running(runs)

    assert row == {
        "suite": "rocksdb", "year": "2026", "run_id": RUN, "status": "running", "reason": "",
        "trials_planned": "4", "trials_done": "1", "versions": "9.0.0, 9.8.4",
        "started_at": "2026-11-20 12:44:55.123", "ended_at": None, "task_seconds": None,
        "note": "why", "trigger": "console",
    }  # fmt: skip


def test_a_run_whose_execution_has_ended_is_ending(runs):
    runs.executing.clear()

    (row,) = running(runs)

    assert row["status"] == "ending"


def test_a_run_that_has_its_claim_and_not_yet_its_plan_is_not_listed(runs):
    runs.plans.clear()

    assert not list(running(runs))
