"""Reading what a run has stored so far."""

from __future__ import annotations

from lambdas.aws import Bucket
from lambdas.exclusions import Exclusion, Exclusions
from lambdas.results import TestResult, TrialResult
from suites import keys
from suites.plan import Plan, PlannedTrial


def read_plan(bucket: Bucket, run_id: str) -> Plan:
    """Return the plan of a run."""
    return Plan.model_validate_json(bucket.read(keys.plan(run_id)))


def find_plan(bucket: Bucket, run_id: str) -> Plan | None:
    """Return the plan of a run, None if there is no such run."""
    found = bucket.find(keys.plan(run_id))
    return Plan.model_validate_json(found.body) if found else None


def read_trials(bucket: Bucket, run_id: str) -> list[TrialResult]:
    """Return the recorded trials of a run, in order."""
    return [
        TrialResult.model_validate_json(bucket.read(key))
        for key in bucket.keys(keys.trials(run_id))
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
    """Return what the tests of a trial gave so far, by test."""
    results = [
        TestResult.model_validate_json(bucket.read(key))
        for key in bucket.keys(keys.measurements(run_id, trial))
    ]
    return {result.test: result for result in results}


def planned(plan: Plan, trial: int) -> PlannedTrial:
    """Return trial ``trial`` of a plan; trials count from 1."""
    return plan.trials[trial - 1]
