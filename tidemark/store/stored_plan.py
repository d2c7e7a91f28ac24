"""Readers of a run's plan, and of the resumes that changed its budget."""

from __future__ import annotations

from tidemark.model.plan import Plan, PlannedTrial, Resume
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def read_plan(bucket: Bucket, run_id: str) -> Plan:
    """Return the plan of a run."""
    return Plan.model_validate_json(bucket.read(keys.plan(run_id)))


def find_plan(bucket: Bucket, run_id: str) -> Plan | None:
    """Return the plan of a run, None if the run does not exist."""
    stored = bucket.find(keys.plan(run_id))
    return Plan.model_validate_json(stored.body) if stored else None


def planned(plan: Plan, trial: int) -> PlannedTrial:
    """Return the planned trial of this number."""
    return next(planned for planned in plan.all_trials if planned.trial == trial)


def read_resumes(bucket: Bucket, run_id: str) -> list[Resume]:
    """Return the resumes of a run, in order."""
    return [
        Resume.model_validate_json(bucket.read(key)) for key in bucket.keys(keys.resumes(run_id))
    ]
