"""The results of a stack, read from its bucket."""

from datetime import UTC, datetime

import pytest

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import measured, planned
from tidemark.client.results import Progress, Results
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

NOW = datetime(2026, 11, 20, 13, tzinfo=UTC)


@pytest.fixture
def bucket():
    """The bucket with the first four of nine trials of a run."""
    plan = planned(name=RUN)
    bucket = FakeBucket({keys.plan(RUN): plan.model_dump_json().encode()})
    for trial in measured(plan)[:4]:
        bucket.write(keys.trial(RUN, trial.trial), trial.model_dump_json().encode())
    return bucket


@pytest.fixture
def results(bucket):
    return Results(bucket)


def test_a_run_has_a_plan_and_as_much_progress_as_trials(results):
    assert results.plan(RUN).run_id == RUN
    assert results.progress(RUN) == Progress(recorded=4, planned=9)
    assert results.recorded(RUN, after=2) == [3, 4]
    assert [trial.trial for trial in results.trials(RUN)] == [1, 2, 3, 4]


def test_an_unknown_run_has_nothing(results):
    other = RUN.replace("abcdef", "ffffff")

    assert (results.plan(other), results.progress(other), results.outcome(other)) == (None,) * 3


def test_a_run_has_an_outcome_once_it_has_ended(bucket, results):
    assert results.outcome(RUN) is None
    plan = results.plan(RUN)
    outcome = planned_outcome(plan, list(results.trials(RUN)), set(), "arn:x", NOW)
    bucket.write(keys.outcome(RUN), outcome.model_dump_json().encode())

    assert results.outcome(RUN) == outcome


def test_a_claim_names_the_execution_of_its_run(bucket, results):
    assert results.claims() == {}
    claims.take(bucket, "rocksdb", Claim(run_id=RUN, execution_arn="arn:x", claimed_at=NOW))

    assert results.claims() == {RUN: "arn:x"}


def test_an_exclusion_holds_until_the_trial_is_included_again(results):
    results.exclude(RUN, 2, "the machine was compiling", excluded=True)
    assert (results.is_excluded(RUN, 2), results.is_excluded(RUN, None)) == (True, False)

    results.exclude(RUN, 2, "", excluded=False)
    assert not results.is_excluded(RUN, 2)
