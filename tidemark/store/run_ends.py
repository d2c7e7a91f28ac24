"""The end of a run: its outcome, its row in ``runs``, and the alarms that its message reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import TypeAdapter

from tidemark.model.outcome import LevelAlarm, Outcome
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.store import claims, keys
from tidemark.store import rows as tables
from tidemark.store.bucket import Bucket
from tidemark.store.claims import Held
from tidemark.store.run_objects import each_profiled, read_trials
from tidemark.store.stored_plan import read_resumes


def find_outcome(bucket: Bucket, run_id: str) -> Outcome | None:
    """Return the outcome of a run, None if it has not ended."""
    stored = bucket.find(keys.outcome(run_id))
    return Outcome.model_validate_json(stored.body) if stored else None


def record_run(bucket: Bucket, plan: Plan, trials: Sequence[TrialResult], outcome: Outcome) -> None:
    """Write a run's row of ``runs``; repeat if its stored outcome changes meanwhile.

    Several processes may end a run at once: the last writer has then seen the final outcome.
    """
    resumes, profiled = read_resumes(bucket, plan.run_id), list(each_profiled(bucket, plan))
    while True:
        row = tables.run_row(
            plan, trials, outcome.status, outcome.reason, outcome.ended_at, resumes, profiled
        )
        bucket.write(keys.table("runs", plan.suite.name, plan.run_id), tables.packed([row]))
        stored = Outcome.model_validate_json(bucket.read(keys.outcome(plan.run_id)))
        if stored == outcome:
            return
        trials, outcome = read_trials(bucket, plan.run_id), stored


def record_end(
    bucket: Bucket, plan: Plan, trials: Sequence[TrialResult], outcome: Outcome, held: Held | None
) -> Outcome:
    """Write the outcome of a planned run and its row; return the stored outcome."""
    stored = record_outcome(bucket, outcome, held)
    # A later execution writes the row of all trials itself.
    if stored.execution_arn == outcome.execution_arn:
        record_run(bucket, plan, trials, stored)
    return stored


def record_outcome(bucket: Bucket, outcome: Outcome, held: Held | None) -> Outcome:
    """Write the outcome of a run's execution unless it is stored; return the stored outcome.

    The outcome of an earlier execution, before a resume, is replaced only while the claim is
    ``held``: without the claim, a later execution may already have ended the run.
    """
    key = keys.outcome(outcome.run_id)
    while True:
        current = bucket.find(key)
        if current:
            stored = Outcome.model_validate_json(current.body)
            mine = stored.execution_arn == outcome.execution_arn
            if mine or held is None or not claims.stands(bucket, held):
                return stored
        body = outcome.model_dump_json().encode()
        if bucket.write_over(key, body, current.etag if current else None):
            return outcome


_Alarms = tuple[LevelAlarm, ...]


def read_alarms(bucket: Bucket, suite: str) -> _Alarms:
    """Return every alarm of a suite."""
    stored = bucket.find(keys.alarms(suite))
    return TypeAdapter(_Alarms).validate_json(stored.body) if stored else ()


def write_alarms(bucket: Bucket, suite: str, alarms: Iterable[LevelAlarm]) -> None:
    """Write every alarm of a suite."""
    bucket.write(keys.alarms(suite), TypeAdapter(_Alarms).dump_json(tuple(alarms)))


def alarms_of(bucket: Bucket, suite: str, run_id: str) -> _Alarms:
    """Return the alarms that the message of a run reports."""
    return tuple(alarm for alarm in read_alarms(bucket, suite) if alarm.told_by == run_id)
