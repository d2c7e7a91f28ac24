"""Writers of a run's outcome and of its row in ``runs``, which need none of its figures."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.model.outcome import Outcome
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.store import keys
from tidemark.store import rows as tables
from tidemark.store.bucket import Bucket
from tidemark.store.claims import Held
from tidemark.store.run_objects import read_trials
from tidemark.store.stored_plan import read_resumes
from tidemark.store.write_once import record_outcome


def record_run(bucket: Bucket, plan: Plan, trials: Sequence[TrialResult], outcome: Outcome) -> None:
    """Write a run's row of ``runs``; repeat if its stored outcome changes meanwhile.

    Several processes may end a run at once: the last writer has then seen the final outcome.
    """
    resumes = read_resumes(bucket, plan.run_id)
    while True:
        row = tables.run_row(
            plan, trials, outcome.status, outcome.reason, outcome.ended_at, resumes
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
