"""Active runs, as `tidemark runs` lists them."""

from dataclasses import dataclass, field

import pytest

from tests.plans import RUN, plan_of
from tidemark.client.active_runs import active_runs


@dataclass
class FakeRuns:
    """The results bucket and Step Functions with some runs."""

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

    def so_far(self, plan):
        return plan

    def status_of(self, execution_arn):
        return "running" if execution_arn in self.executing else "ending"


@pytest.fixture
def runs():
    request = {"versions": ["9.0.0", "9.8.4"], "repetitions": 2, "note": "why"}
    plan = plan_of(request, execution_arn="arn:first")
    return FakeRuns({RUN: plan}, {RUN: "arn:again"}, {"arn:again"})


def test_an_active_run_has_a_row_with_its_progress(runs):
    (row,) = active_runs(runs)

    assert row == {
        "suite": "rocksdb", "year": "2026", "run_id": RUN, "status": "running", "reason": "",
        "trials_planned": "4", "trials_done": "1", "versions": "9.0.0, 9.8.4",
        "started_at": "2026-11-20 12:44:55.123", "ended_at": None, "task_seconds": None,
        "note": "why", "trigger": "console",
    }  # fmt: skip


def test_a_run_whose_execution_has_ended_is_ending(runs):
    runs.executing.clear()

    (row,) = active_runs(runs)

    assert row["status"] == "ending"


def test_a_run_with_a_claim_but_no_plan_yet_is_not_listed(runs):
    runs.plans.clear()

    assert not list(active_runs(runs))
