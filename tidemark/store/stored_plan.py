"""Readers of a run's plan, and of the resumes that changed its budget."""

from __future__ import annotations

from pathlib import PurePosixPath

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


def recorded_of(bucket: Bucket, plan: Plan) -> list[int]:
    """Return the numbers of the recorded trials of a plan, in order, the profiled trials behind.

    The functions of a deployment without a profiler may not list profiled trials.
    """
    prefixes = [keys.trials(plan.run_id)]
    prefixes += [keys.profiled_trials(plan.run_id)] if plan.profiled else []
    return [int(PurePosixPath(key).stem) for prefix in prefixes for key in bucket.keys(prefix)]
