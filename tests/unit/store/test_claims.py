"""Claims, which allow one run at a time for each suite."""

import json
from datetime import UTC, datetime

import pytest

from lambdas import plan_run, record_outcome
from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tidemark.model.refusal import Refused
from tidemark.store import claims
from tidemark.store.claims import Claim

pytestmark = pytest.mark.usefixtures("packed")

CLAIM = "claims/rocksdb.json"
OTHER = "arn:aws:states:eu-west-2:1:execution:Run:other"
REFUSAL = {"Error": "Refused", "Cause": json.dumps({"errorMessage": "no"})}


def execution(name="mine"):
    return {
        "execution_arn": f"arn:aws:states:eu-west-2:1:execution:Run:{name}",
        "execution_name": name,
        "started_at": "2026-11-20T12:44:55.123Z",
        "input": {"suite": "rocksdb"},
    }


def conclude(world, name, run_id, failure=None):
    event = {**execution(name), "run_id": run_id, "now": "2026-11-20T13:00:00Z"}
    return world.call(record_outcome, {**event, "failure": failure})


def claimed_by(world, arn, run_id="20261120T120000Z-000000"):
    claim = Claim(
        run_id=run_id, execution_arn=arn, claimed_at=datetime(2026, 11, 20, 12, tzinfo=UTC)
    )
    assert claims.take(world.bucket, "rocksdb", claim) is None


def test_a_run_claims_its_suite_before_its_plan_is_written(world):
    planned = world.call(plan_run, execution())

    assert planned["holder"] is None
    assert world.json(CLAIM) == {
        "run_id": planned["run_id"],
        "execution_arn": execution()["execution_arn"],
        "claimed_at": "2026-11-20T12:44:55.123000Z",
    }


def test_a_suite_that_is_being_measured_is_refused_with_its_holder(world):
    claimed_by(world, OTHER)
    world.executions.add(OTHER)
    before = dict(world.bucket.objects)

    with pytest.raises(Refused) as refused:
        world.call(plan_run, execution())

    assert str(refused.value) == (
        "suite: rocksdb is being measured by run 20261120T120000Z-000000 since "
        "2026-11-20 12:00:00 UTC; wait for its end, or end it with "
        f"`tidemark stop 20261120T120000Z-000000`, execution {OTHER}"
    )
    assert world.bucket.objects == before


def test_a_dead_holder_is_returned_and_nothing_is_written(world):
    claimed_by(world, OTHER)
    world.executions.add(OTHER, "ABORTED", error="Run.stopped", cause="by hand")
    before = dict(world.bucket.objects)

    planned = world.call(plan_run, execution())

    assert planned["holder"] == {
        "executionArn": OTHER, "status": "ABORTED", "error": "Run.stopped", "cause": "by hand",
    }  # fmt: skip
    assert world.bucket.objects == before


def test_an_old_holder_without_an_execution_is_gone(world):
    claimed_by(world, OTHER)

    assert world.call(plan_run, execution())["holder"]["status"] == "GONE"


def test_a_new_holder_without_an_execution_has_just_been_started(world):
    # DescribeExecution is eventually consistent.
    arn = execution("other")["execution_arn"]
    claim = Claim(
        run_id="20261120T124354Z-000000",
        execution_arn=arn,
        claimed_at=datetime(2026, 11, 20, 12, 43, 54, tzinfo=UTC),
    )
    claims.take(world.bucket, "rocksdb", claim)

    with pytest.raises(Refused, match="is being measured by run 20261120T124354Z-000000"):
        world.call(plan_run, execution())


def test_the_outcome_releases_the_claim(world):
    planned = world.call(plan_run, execution())

    conclude(world, "mine", planned["run_id"])

    assert CLAIM not in world.bucket.objects
    assert world.call(plan_run, execution("next"))["holder"] is None


def test_a_refused_execution_does_not_release_the_holders_claim(world):
    claimed_by(world, OTHER)
    before = world.bucket.objects[CLAIM]

    conclude(world, "mine", None, REFUSAL)

    assert world.bucket.objects[CLAIM] == before


def test_a_plan_that_failed_after_its_claim_gets_the_outcome_of_its_run(world):
    planned = world.call(plan_run, execution())

    outcome = conclude(world, "mine", None, {"Error": "Sandbox.Timedout", "Cause": ""})

    assert (outcome["run_id"], outcome["status"]) == (planned["run_id"], "failed")
    assert outcome["trials_planned"] == 2
    assert CLAIM not in world.bucket.objects


def test_a_claim_that_another_execution_holds_by_now_is_not_released(world):
    claimed_by(world, execution()["execution_arn"])
    held = claims.held_by(world.bucket, execution()["execution_arn"])
    world.bucket.delete(CLAIM)
    claimed_by(world, OTHER)

    assert not claims.release(world.bucket, held)
    assert claims.held_by(world.bucket, OTHER)


def test_a_claim_that_is_released_during_the_attempt_is_taken(world):
    claimed_by(world, OTHER)
    find = world.bucket.find

    def released(key):
        world.bucket.find = find
        world.bucket.delete(key)

    world.bucket.find = released

    claimed_by(world, execution()["execution_arn"])


def of_instance(instance, suite="kiwi"):
    arn = f"arn:aws:states:eu-west-2:1:execution:Run:{suite}"
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    return Claim(run_id=RUN, execution_arn=arn, claimed_at=at, instance=instance)


@pytest.mark.parametrize("moment", range(1, 5))
def test_two_suites_that_claim_one_instance_at_one_moment_never_both_hold_it(moment):
    bucket, moments, seconds = FakeBucket(), iter(range(1, moment)), []

    def meanwhile():
        if next(moments, None) is None:
            bucket.moment = lambda: None
            seconds.append(claims.take(bucket, "kiwi", of_instance("my-id")))

    bucket.moment = meanwhile
    first = claims.take(bucket, "sleeper", of_instance("my-id", "sleeper"))

    (second,) = seconds
    assert first or second


def test_claims_of_other_instances_and_of_none_are_taken():
    bucket = FakeBucket()

    for suite, instance in (("kiwi", "my-id"), ("sleeper", "your-id"), ("rocksdb", None)):
        assert claims.take(bucket, suite, of_instance(instance, suite)) is None
    assert claims.take(bucket, "sleeper", of_instance("your-id", "sleeper")) is None
