"""Reading what a run has stored so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

from lambdas.aws import Bucket
from lambdas.exclusions import Exclusion, Exclusions
from lambdas.results import TestResult, TrialResult
from lambdas.resumes import Resume
from suites import keys
from suites.plan import Plan, PlannedTrial

_Written = TypeVar("_Written")


@dataclass(frozen=True)
class StoredRun:
    """What the tables and the report of a run are made of."""

    plan: Plan
    trials: list[TrialResult]
    exclusions: Exclusions
    resumes: list[Resume]


def fold(bucket: Bucket, run_id: str, write: Callable[[StoredRun], _Written]) -> _Written:
    """Write what follows from a run; again, if trials or exclusions came while it was written.

    Several may do so at once, when a Lambda is retried or somebody excludes a trial: whoever
    writes last has then seen all.
    """
    while True:
        seen = _contents(bucket, run_id)
        written = write(read_run(bucket, read_plan(bucket, run_id)))
        if _contents(bucket, run_id) == seen:
            return written


def read_run(bucket: Bucket, plan: Plan) -> StoredRun:
    """Return a run as it is stored now."""
    return StoredRun(
        plan,
        read_trials(bucket, plan.run_id),
        read_exclusions(bucket, plan.run_id),
        read_resumes(bucket, plan.run_id),
    )


def _contents(bucket: Bucket, run_id: str) -> dict[str, bytes]:
    """Return what may differ between two readings of a run; trials and resumes are written once."""
    once = chain(bucket.keys(keys.trials(run_id)), bucket.keys(keys.resumes(run_id)))
    return dict.fromkeys(once, b"") | {
        key: bucket.read(key) for key in bucket.keys(keys.exclusions(run_id))
    }


def read_plan(bucket: Bucket, run_id: str) -> Plan:
    """Return the plan of a run."""
    return Plan.model_validate_json(bucket.read(keys.plan(run_id)))


def read_trial(bucket: Bucket, run_id: str, trial: int) -> TrialResult:
    """Return one recorded trial."""
    return TrialResult.model_validate_json(bucket.read(keys.trial(run_id, trial)))


def find_plan(bucket: Bucket, run_id: str) -> Plan | None:
    """Return the plan of a run, None if there is no such run."""
    found = bucket.find(keys.plan(run_id))
    return Plan.model_validate_json(found.body) if found else None


def read_trials(bucket: Bucket, run_id: str, skipped: int = 0) -> list[TrialResult]:
    """Return the recorded trials of a run, in order, without the first ``skipped``."""
    return [
        TrialResult.model_validate_json(bucket.read(key))
        for key in islice(bucket.keys(keys.trials(run_id)), skipped, None)
    ]


def read_resumes(bucket: Bucket, run_id: str) -> list[Resume]:
    """Return the executions that went on with a run, in order."""
    return [
        Resume.model_validate_json(bucket.read(key)) for key in bucket.keys(keys.resumes(run_id))
    ]


def read_exclusions(bucket: Bucket, run_id: str) -> Exclusions:
    """Return what is excluded of a run."""
    return Exclusions(
        {
            key.rsplit("/", 1)[-1].removesuffix(".json"): Exclusion.model_validate_json(
                bucket.read(key)
            )
            for key in bucket.keys(keys.exclusions(run_id))
        }
    )


def read_measured(bucket: Bucket, run_id: str, trial: int) -> dict[str, TestResult]:
    """Return what the tests of a trial gave so far, by test; nothing more once it is recorded."""
    # Whoever records the trial at the same time may delete them as they are read.
    stored = [bucket.find(key) for key in bucket.keys(keys.measurements(run_id, trial))]
    results = [TestResult.model_validate_json(found.body) for found in stored if found]
    return {result.test: result for result in results}


def planned(plan: Plan, trial: int) -> PlannedTrial:
    """Return trial ``trial`` of a plan; trials count from 1."""
    return plan.trials[trial - 1]
