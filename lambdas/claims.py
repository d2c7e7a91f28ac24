"""Claims: one run at a time for each suite, since two would measure each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.aws import Bucket, Executions
from lambdas.executions import ExecutionState, look_up
from suites import keys
from suites.model import Frozen

# AWS Step Functions API reference, DescribeExecution: "eventually consistent".
_UNKNOWN_AT_FIRST = timedelta(minutes=2)


class Claim(Frozen):
    """Who measures a suite: ``claims/<suite>.json``."""

    run_id: str
    execution_arn: str
    claimed_at: datetime


@dataclass(frozen=True)
class Held:
    """A claim as it is stored, and the entity tag by which it alone is released."""

    suite: str
    claim: Claim
    etag: str


def take(bucket: Bucket, suite: str, claim: Claim) -> Claim | None:
    """Claim a suite; return the claim of another execution that has it, None if it is ours."""
    while not bucket.write_once(keys.claim(suite), claim.model_dump_json().encode()):
        # What was there a moment ago may be released by now.
        if held := _held(bucket, suite):
            return None if held.claim.execution_arn == claim.execution_arn else held.claim
    return None


def holder(executions: Executions, claim: Claim, now: datetime) -> ExecutionState:
    """Return how the execution of a claim stands; one that was just started runs, if unknown."""
    state = look_up(executions, claim.execution_arn)
    if state.status == "GONE" and now - claim.claimed_at < _UNKNOWN_AT_FIRST:
        return state.model_copy(update={"status": "RUNNING"})
    return state


def stands(bucket: Bucket, held: Held) -> bool:
    """Tell whether a claim is still there as it was."""
    return _held(bucket, held.suite) == held


def release(bucket: Bucket, held: Held) -> bool:
    """Give a claim up unless it is somebody else's by now; tell whether it was given up."""
    return bucket.delete_if(keys.claim(held.suite), held.etag)


def all_held(bucket: Bucket) -> Iterator[Held]:
    """Yield the claim of every suite that has one."""
    for key in bucket.keys(keys.CLAIMS):
        if held := _held(bucket, key.removeprefix(keys.CLAIMS).removesuffix(".json")):
            yield held


def held_by(bucket: Bucket, execution_arn: str) -> Held | None:
    """Return the claim of an execution, None if it has none."""
    return next(
        (held for held in all_held(bucket) if held.claim.execution_arn == execution_arn), None
    )


def _held(bucket: Bucket, suite: str) -> Held | None:
    found = bucket.find(keys.claim(suite))
    return Held(suite, Claim.model_validate_json(found.body), found.etag) if found else None
