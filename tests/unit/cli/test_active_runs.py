"""Active runs, as `tidemark runs` lists and `tidemark show` finds them."""

from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import RUN, plan_of
from tests.unit.measured_runs import bucket_of, measured
from tidemark.cli import show
from tidemark.cli.runs import active_runs
from tidemark.client.deployed import Deployed, Stored
from tidemark.client.tables import Answer
from tidemark.store import claims, keys
from tidemark.store.claims import Claim


@dataclass(frozen=True)
class Executed(Stored):
    """Stored results with the executions that are running."""

    executing: set = field(default_factory=set)

    def status_of(self, execution_arn):
        return "running" if execution_arn in self.executing else "ending"


@pytest.fixture
def runs():
    request = {"versions": ["9.0.0", "9.8.4"], "repetitions": 2, "note": "why"}
    plan = plan_of(request, execution_arn="arn:first")
    bucket = bucket_of(plan, measured(plan)[:1])
    claim = Claim(run_id=RUN, execution_arn="arn:again", claimed_at=plan.started_at)
    claims.take(bucket, "rocksdb", claim)
    return Executed(bucket, None, None, executing={"arn:again"})


def test_an_active_run_has_a_row_with_its_progress(runs):
    (row,) = active_runs(runs)

    assert row == {
        "suite": "rocksdb", "run_id": RUN, "status": "running", "reason": "",
        "trials_planned": "4", "trials_done": "1", "versions": "9.0.0, 9.8.4",
        "started_at": "2026-11-20 12:44:55.123", "ended_at": None, "task_seconds": None,
        "note": "why", "trigger": "console",
    }  # fmt: skip


def test_a_run_whose_execution_has_ended_is_ending(runs):
    runs.executing.clear()

    (row,) = active_runs(runs)

    assert row["status"] == "ending"


def test_a_run_with_a_claim_but_no_plan_yet_is_not_listed(runs):
    runs.bucket.discard(keys.plan(RUN))

    assert not list(active_runs(runs))


class NoEndedRuns:
    """Tables without a row."""

    def ask(self, *_):
        return Answer([], [], 0, 0)


def test_the_newest_of_the_active_runs_is_shown(monkeypatch):
    newer = RUN.replace("20261120", "20261121")
    bucket = bucket_of()
    for suite, name in (("rocksdb", RUN), ("clickhouse", newer)):
        plan = plan_of({"versions": ["9.0.0"]}, name=name)
        bucket.write(keys.plan(name), plan.model_dump_json().encode())
        claim = Claim(run_id=name, execution_arn=f"arn:{suite}", claimed_at=plan.started_at)
        claims.take(bucket, suite, claim)
    store = Executed(bucket, NoEndedRuns(), None)
    monkeypatch.setattr(show, "stored", lambda _: nullcontext(store))

    assert f"Run {newer} is active" in CliRunner().invoke(show.show).stdout


@pytest.mark.parametrize(("is_active", "status"), [(True, "running"), (False, "ending")])
def test_a_deployed_stack_tells_whether_an_execution_still_runs(is_active, status):
    executions = SimpleNamespace(is_active=lambda arn: is_active and arn == "arn:x")
    stack = Deployed(None, None, None, runs=executions, stack=None)

    assert stack.status_of("arn:x") == status
