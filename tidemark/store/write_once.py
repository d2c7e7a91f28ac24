"""Writers of trials and outcomes, which record each of them once despite retries."""

from __future__ import annotations

from tidemark.model.outcome import Outcome
from tidemark.model.results import TrialResult
from tidemark.store import claims, keys
from tidemark.store.bucket import Bucket
from tidemark.store.claims import Held


def record(bucket: Bucket, result: TrialResult) -> bool:
    """Write a trial's result unless it is stored already; tell whether it was written."""
    key = keys.trial(result.run_id, result.trial)
    return bucket.write_once(key, result.model_dump_json().encode())


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
