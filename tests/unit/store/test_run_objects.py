"""The objects of a run, as commands read them from the results bucket."""

from datetime import UTC, datetime

import pytest

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import measured, planned
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import claims, keys
from tidemark.store.claims import Claim, claimed_runs
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import all_trials, exclude, is_excluded, recorded_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import Progress, read_progress

NOW = datetime(2026, 11, 20, 13, tzinfo=UTC)


@pytest.fixture
def bucket():
    """The bucket with the first four of nine trials of a run."""
    plan = planned(name=RUN)
    bucket = FakeBucket({keys.plan(RUN): plan.model_dump_json().encode()})
    for trial in measured(plan)[:4]:
        bucket.write(keys.trial(RUN, trial.trial), trial.model_dump_json().encode())
    return bucket


def test_a_run_has_a_plan_and_as_much_progress_as_trials(bucket):
    assert find_plan(bucket, RUN).run_id == RUN
    assert read_progress(bucket, RUN) == Progress(recorded=4, planned=9)
    assert recorded_trials(bucket, RUN, after=2) == [3, 4]
    assert [trial.trial for trial in all_trials(bucket, RUN)] == [1, 2, 3, 4]


def test_an_unknown_run_has_nothing(bucket):
    other = RUN.replace("abcdef", "ffffff")

    assert (
        find_plan(bucket, other),
        read_progress(bucket, other),
        find_outcome(bucket, other),
    ) == (None,) * 3


def test_a_run_has_an_outcome_once_it_has_ended(bucket):
    assert find_outcome(bucket, RUN) is None
    plan = find_plan(bucket, RUN)
    outcome = planned_outcome(plan, list(all_trials(bucket, RUN)), set(), "arn:x", NOW)
    bucket.write(keys.outcome(RUN), outcome.model_dump_json().encode())

    assert find_outcome(bucket, RUN) == outcome


def test_a_claim_names_the_execution_of_its_run(bucket):
    assert claimed_runs(bucket) == {}
    claims.take(bucket, "rocksdb", Claim(run_id=RUN, execution_arn="arn:x", claimed_at=NOW))

    assert claimed_runs(bucket) == {RUN: "arn:x"}


def test_an_exclusion_holds_until_the_trial_is_included_again(bucket):
    exclude(bucket, RUN, 2, "the machine was compiling", excluded=True)
    assert (is_excluded(bucket, RUN, 2), is_excluded(bucket, RUN, None)) == (True, False)

    exclude(bucket, RUN, 2, "", excluded=False)
    assert not is_excluded(bucket, RUN, 2)
