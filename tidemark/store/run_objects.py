"""Readers of the stored objects of a run, one kind at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tidemark.model.exclusions import Exclusion, Exclusions
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import TestResult, TrialResult
from tidemark.model.resume import Resume
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def read_plan(bucket: Bucket, run_id: str) -> Plan:
    """Return the plan of a run."""
    return Plan.model_validate_json(bucket.read(keys.plan(run_id)))


def read_trial(bucket: Bucket, run_id: str, trial: int) -> TrialResult:
    """Return one recorded trial."""
    return TrialResult.model_validate_json(bucket.read(keys.trial(run_id, trial)))


def find_plan(bucket: Bucket, run_id: str) -> Plan | None:
    """Return the plan of a run, None if the run does not exist."""
    stored = bucket.find(keys.plan(run_id))
    return Plan.model_validate_json(stored.body) if stored else None


def read_trials(bucket: Bucket, run_id: str) -> list[TrialResult]:
    """Return the recorded trials of a run, in order."""
    return list(each_trial(bucket, run_id))


def each_trial(bucket: Bucket, run_id: str, skipped: int = 0) -> Iterator[TrialResult]:
    """Yield the recorded trials of a run, in order, without the first ``skipped``."""
    for key in islice(bucket.keys(keys.trials(run_id)), skipped, None):
        yield TrialResult.model_validate_json(bucket.read(key))


def read_resumes(bucket: Bucket, run_id: str) -> list[Resume]:
    """Return the resumes of a run, in order."""
    return [
        Resume.model_validate_json(bucket.read(key)) for key in bucket.keys(keys.resumes(run_id))
    ]


def read_exclusions(bucket: Bucket, run_id: str) -> Exclusions:
    """Return the exclusions of a run."""
    return Exclusions(
        {
            key.rsplit("/", 1)[-1].removesuffix(".json"): Exclusion.model_validate_json(
                bucket.read(key)
            )
            for key in bucket.keys(keys.exclusions(run_id))
        }
    )


def read_measured(bucket: Bucket, run_id: str, trial: int) -> dict[str, TestResult]:
    """Return the results of a trial's tests so far, by test; empty once the trial is recorded."""
    # Another process may record the trial and delete the results during this read.
    stored = [bucket.find(key) for key in bucket.keys(keys.measurements(run_id, trial))]
    results = [TestResult.model_validate_json(tagged.body) for tagged in stored if tagged]
    return {result.test: result for result in results}


def planned(plan: Plan, trial: int) -> PlannedTrial:
    """Return the planned trial of this number."""
    return next(planned for planned in plan.trials if planned.trial == trial)
