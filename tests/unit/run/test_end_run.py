"""Runs whose execution ended without an outcome."""

import contextlib
import gzip
import json
from datetime import UTC, datetime
from itertools import count

import pytest

from lambdas import end_run, plan_run, record_outcome, record_trial, sweep_runs
from tests.plans import RUN
from tests.unit.documented import documented
from tests.unit.fakes import TRIAL_MACHINE, FakeBucket
from tidemark.model.run_id import trial_execution
from tidemark.run.sweep_runs import AttemptsFailed
from tidemark.store import claims
from tidemark.store.claims import Claim

EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:by-hand"
FAILURE = {"Error": "States.TaskFailed", "Cause": "no reason"}
RESUME = {
    "execution_arn": "arn:aws:states:eu-west-2:1:execution:Run:again",
    "execution_name": "again",
    "started_at": "2026-11-20T09:00:00Z",
    "input": {"suite": "rocksdb", "run": RUN},
}


def claim(world, claimed_at):
    mine = Claim(run_id=RUN, execution_arn=EXECUTION, claimed_at=claimed_at)
    claims.take(world.bucket, "rocksdb", mine)


class Killed(BaseException):
    """A function that timed out or lost its machine."""


@pytest.fixture
def dead(world):
    """Claim the run of two trials for an execution that a person stopped."""
    claim(world, datetime(2020, 11, 20, tzinfo=UTC))
    world.executions.add(EXECUTION, "ABORTED", cause="enough")
    return world


def end(world, status="ABORTED", **why):
    """Deliver the event of Step Functions; return the outcome."""
    event = documented("execution_aborted")
    event["detail"] |= {"executionArn": EXECUTION, "status": status, **why}
    return world.call(end_run, event)["outcome"]


def record(world, trial):
    world.call(record_trial, {"run_id": RUN, "trial": trial, "failure": FAILURE})


def rows(world, table):
    packed = world.bucket.objects[f"tables/{table}/suite=rocksdb/year=2026/{RUN}.jsonl.gz"]
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


@pytest.mark.parametrize(
    ("status", "why", "expected"),
    [
        ("ABORTED", {"cause": "enough"}, ("aborted", "stopped: enough")),
        # DescribeExecution gives a cause that the event lacks.
        ("ABORTED", {}, ("aborted", "stopped: enough")),
        ("TIMED_OUT", {}, ("failed", "its execution ran past its time limit")),
        (
            "FAILED",
            {"error": "States.Runtime", "cause": "too many events"},
            ("failed", "States.Runtime: too many events"),
        ),
        (
            "GONE",
            {},
            ("aborted", "its execution is gone; the process or service that ran it ended"),
        ),
    ],
)
def test_the_outcome_has_the_reason_why_the_execution_ended(dead, status, why, expected):
    outcome = end(dead, status, **why)

    assert (outcome["status"], outcome["reason"]) == expected
    assert dead.json(f"runs/{RUN}/outcome.json") == outcome


def test_an_execution_that_was_stopped_without_a_cause_says_so(dead):
    dead.executions.add(EXECUTION)  # DescribeExecution lags behind the event.

    assert end(dead)["reason"] == "stopped: no reason was given"


def test_recorded_trials_are_folded_reported_and_kept(dead):
    record(dead, 1)

    end(dead)

    assert {row["trial"] for row in rows(dead, "rates")} == {1}
    assert [(row["status"], row["trials_planned"]) for row in rows(dead, "runs")] == [
        ("aborted", 2)
    ]
    assert f"reports/rocksdb/{RUN}/report.md" in dead.bucket.objects


def test_a_trial_in_progress_is_not_recorded_and_its_data_is_deleted(dead):
    dead.bucket.write(f"work/data/{RUN}/001/a", b"")
    dead.bucket.write(f"work/{RUN}/001/measured/ingest.json", b"{}")

    end(dead)

    assert not list(dead.bucket.keys(f"runs/{RUN}/trials/"))
    assert not list(dead.bucket.keys("work/"))


def test_a_run_with_all_trials_recorded_gets_its_outcome_from_them(dead):
    record(dead, 1)
    record(dead, 2)

    outcome = end(dead)

    assert outcome["status"] == "failed"
    assert outcome["reason"].startswith("2 of 2 trials did not give all rates; ")


def test_only_the_trial_executions_and_tasks_of_the_run_are_stopped(dead):
    mine = f"{TRIAL_MACHINE}:{trial_execution(RUN, 1, EXECUTION)}"
    resumed = f"{TRIAL_MACHINE}:{trial_execution(RUN, 1, 'arn:another')}"
    other = f"{TRIAL_MACHINE}:{trial_execution('20261120T124455Z-000000', 1, EXECUTION)}"
    for arn in (mine, resumed, other):
        dead.executions.add(arn)
    dead.tasks.group_of = {"t1": f"{RUN}-1", "t2": "20261120T124455Z-000000-1"}

    end(dead, cause="enough")

    executions = dead.executions.known.items()
    stopped = [arn for arn, state in executions if state["status"] == "ABORTED"]
    assert stopped == [EXECUTION, mine]
    assert dead.tasks.stopped == {"t1": "stopped: enough"}


def test_the_claim_is_released_and_the_outcome_is_published_once(dead):
    outcome = end(dead)

    assert end(dead) is None
    assert not list(claims.all_held(dead.bucket))
    ((subject, message),) = dead.topic.messages
    assert subject == f"Tidemark: {RUN} is aborted"
    assert message.items() > outcome.items()


def test_a_second_ending_after_a_crash_finishes_and_changes_no_outcome(dead):
    held = claims.held_by(dead.bucket, EXECUTION)
    end(dead)
    before = dict(dead.bucket.objects)
    claims.take(dead.bucket, "rocksdb", held.claim)

    assert end(dead, "FAILED", error="another", cause="word")["status"] == "aborted"
    assert set(dead.bucket.objects) == set(before)
    assert dead.bucket.objects[f"runs/{RUN}/outcome.json"] == before[f"runs/{RUN}/outcome.json"]


def on_call(number, act):
    """Return a function that calls ``act`` on its ``number``-th call, counted from 0."""
    calls = count()
    return lambda: act() if next(calls) == number else None


def at_each_moment(world, act):
    """End the run once for each moment of the bucket and act then; yield the moment after it."""
    before = dict(world.bucket.objects)
    for moment in count():
        acted = []
        world.bucket = FakeBucket(before)
        world.bucket.moment = on_call(moment, lambda: acted.append(True) or act())  # noqa: B023
        with contextlib.suppress(Killed):
            end(world)
        world.bucket.moment = lambda: None
        if not acted:
            assert moment > 20
            return
        yield moment


def test_an_ending_that_is_killed_and_repeated_leaves_a_row_that_fits_the_outcome(dead):
    record(dead, 1)

    def kill():
        raise Killed

    for _ in at_each_moment(dead, kill):
        end(dead)
        (row,) = rows(dead, "runs")
        outcome = dead.json(f"runs/{RUN}/outcome.json")
        assert (row["status"], row["reason"]) == (outcome["status"], outcome["reason"])
        assert row["ended_at"] == outcome["ended_at"].replace("T", " ")[: len(row["ended_at"])]
        assert not list(claims.all_held(dead.bucket))


def resumed(world):
    """End the run from elsewhere, resume it and begin one of its trials."""
    end(world)
    world.call(plan_run, RESUME)
    world.bucket.write(f"work/data/{RUN}/002/a", b"")
    world.tasks.group_of["new"] = f"{RUN}-2"


def finished(world):
    """Let the resumed run end."""
    record(world, 2)
    event = {**RESUME, "run_id": RUN, "failure": None, "now": "2026-11-21T10:00:00Z"}
    world.call(record_outcome, event)


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize("call", range(2))
def test_an_ending_that_a_resume_overtakes_stops_and_deletes_nothing_of_the_resume(dead, call):
    dead.tasks.group_of["old"] = f"{RUN}-1"
    dead.tasks.called = on_call(call, lambda: resumed(dead))

    assert end(dead) is None
    assert set(dead.tasks.stopped) == {"old"}
    assert f"work/data/{RUN}/002/a" in dead.bucket.objects


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize("ended", [True, False])
def test_an_ending_that_a_resume_overtakes_leaves_the_outcome_of_the_resume(dead, ended):
    record(dead, 1)

    def overtake():
        resumed(dead)
        if ended:
            finished(dead)

    for _ in at_each_moment(dead, overtake):
        if not ended:
            finished(dead)
        (row,) = rows(dead, "runs")
        outcome = dead.json(f"runs/{RUN}/outcome.json")
        assert outcome["execution_arn"] == RESUME["execution_arn"]
        assert (row["reason"], row["ended_at"]) == (outcome["reason"], "2026-11-21 10:00:00.000")


def test_an_execution_that_was_killed_before_its_plan_has_an_outcome(dead):
    dead.bucket.delete(f"runs/{RUN}/plan.json")

    outcome = end(dead)

    assert (outcome["run_id"], outcome["suite"], outcome["status"]) == (RUN, "rocksdb", "aborted")
    assert not list(claims.all_held(dead.bucket))


def test_an_execution_without_a_claim_is_left_alone(dead):
    claims.release(dead.bucket, claims.held_by(dead.bucket, EXECUTION))
    before = dict(dead.bucket.objects)

    assert end(dead) is None
    assert dead.bucket.objects == before
    assert dead.topic.messages == []


@pytest.mark.usefixtures("packed")
def test_neither_outcome_nor_claim_waits_for_an_object_that_cannot_be_deleted(dead):
    strange = f"work/data/{RUN}/001/{'0' * 32}/a\0b"
    dead.bucket.write(strange, b"")
    dead.bucket.undeletable.add(strange)
    record(dead, 1)

    assert end(dead)["status"] == "aborted"
    assert not list(claims.all_held(dead.bucket))
    dead.call(plan_run, RESUME)
    finished(dead)
    assert dead.json(f"runs/{RUN}/outcome.json")["execution_arn"] == RESUME["execution_arn"]
    assert not list(claims.all_held(dead.bucket))
    assert strange in dead.bucket.objects


def sweep(world):
    return world.call(sweep_runs, {"detail-type": "Scheduled Event"})["outcomes"]


def test_the_sweep_ends_every_run_whose_execution_is_dead(dead):
    (outcome,) = sweep(dead)

    assert (outcome["run_id"], outcome["reason"]) == (RUN, "stopped: enough")
    assert sweep(dead) == []


def test_the_sweep_ends_a_run_whose_execution_is_gone(dead):
    del dead.executions.known[EXECUTION]

    assert sweep(dead)[0]["status"] == "aborted"


def test_the_sweep_waits_for_an_execution_that_is_not_known_yet(dead):
    del dead.executions.known[EXECUTION]
    dead.bucket.delete("claims/")
    claim(dead, datetime.now(UTC))

    assert sweep(dead) == []
    assert list(claims.all_held(dead.bucket))


def test_the_sweep_leaves_a_run_in_progress_and_its_tasks_alone(dead):
    dead.executions.add(EXECUTION)
    dead.tasks.group_of = {"t1": f"{RUN}-1"}
    before = dict(dead.bucket.objects)

    assert sweep(dead) == []
    assert dead.bucket.objects == before
    assert dead.tasks.stopped == {}


def test_the_sweep_stops_only_tasks_of_runs_that_have_ended(dead):
    dead.executions.add(EXECUTION)
    dead.tasks.group_of = {
        "t1": f"{RUN}-1",
        "t2": "20261119T000000Z-123456-12",
        "t3": "family:load",
        "t4": "somebody",
    }

    sweep(dead)

    assert dead.tasks.stopped == {"t2": "run 20261119T000000Z-123456 has ended"}


def test_a_run_that_cannot_be_ended_is_named_and_the_others_are_ended(dead):
    """The plan of the run of ``rocksdb`` is damaged."""
    dead.bucket.write(f"runs/{RUN}/plan.json", b"{")
    other = "20261119T000000Z-123456"
    gone = Claim(
        run_id=other, execution_arn="arn:gone", claimed_at=datetime(2020, 1, 1, tzinfo=UTC)
    )
    claims.take(dead.bucket, "zeppelin", gone)
    dead.tasks.group_of = {"t": "20261118T000000Z-123456-7"}

    with pytest.raises(AttemptsFailed, match=f"^run {RUN}: ValidationError: ") as failed:
        sweep(dead)

    assert "\n" not in str(failed.value)
    assert dead.json(f"runs/{other}/outcome.json")["status"] == "aborted"
    assert [held.suite for held in claims.all_held(dead.bucket)] == ["rocksdb"]
    assert dead.tasks.stopped == {"t": "run 20261118T000000Z-123456 has ended"}
