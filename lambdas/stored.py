"""Reading what a run has stored so far."""

from __future__ import annotations

from lambdas import keys
from lambdas.aws import Bucket
from lambdas.results import TrialResult
from suites.plan import Plan, PlannedTrial


def read_plan(bucket: Bucket, run_id: str) -> Plan:
    """Return the plan of a run."""
    return Plan.model_validate_json(bucket.read(keys.plan(run_id)))


def read_trials(bucket: Bucket, run_id: str) -> list[TrialResult]:
    """Return the recorded trials of a run, in order."""
    return [
        TrialResult.model_validate_json(bucket.read(key))
        for key in bucket.keys(keys.trials(run_id))
    ]


def planned(plan: Plan, trial: int) -> PlannedTrial:
    """Return trial ``trial`` of a plan; trials count from 1."""
    return plan.trials[trial - 1]
