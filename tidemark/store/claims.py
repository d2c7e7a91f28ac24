"""Claims: one run at a time for each suite and instance, since two would disturb each other."""

import operator
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.store import keys
from tidemark.store.bucket import Bucket, Damaged


class Claim(Frozen):
    """The run that measures a suite: ``claims/<suite>.json``."""

    run_id: str
    execution_arn: str
    claimed_at: datetime
    instance: str | None = Field(default=None, exclude_if=operator.not_)
    """The id of the instance that the run measures, None if it measures none."""


class Held(NamedTuple):
    """A stored claim with its entity tag, so that no other claim is released in its place."""

    suite: str
    claim: Claim
    etag: str


def take(bucket: Bucket, suite: str, claim: Claim) -> Held | None:
    """Claim a suite; return None, or what another execution holds: the suite or the instance.

    If another suite measures the instance, this suite stays claimed: of two executions that claim
    an instance at the same moment, at least one sees the claim of the other.
    """
    while not bucket.write_once(keys.claim(suite), claim.model_dump_json().encode()):
        # The claim that prevented the write may be released by now.
        if held := _held(bucket, suite):
            if held.claim.execution_arn == claim.execution_arn:
                break
            return held
    return _other_of_instance(bucket, claim)


def _other_of_instance(bucket: Bucket, claim: Claim) -> Held | None:
    if claim.instance is None:
        return None
    arn, instance = claim.execution_arn, claim.instance
    others = (held for held in all_held(bucket) if held.claim.execution_arn != arn)
    return next((held for held in others if held.claim.instance == instance), None)


def stands(bucket: Bucket, held: Held) -> bool:
    """Tell whether a claim is still held, unchanged."""
    return _held(bucket, held.suite) == held


def release(bucket: Bucket, held: Held) -> bool:
    """Release a claim unless another execution holds it by now; tell whether it was released."""
    return bucket.delete_if(keys.claim(held.suite), held.etag)


def all_held(bucket: Bucket) -> Iterator[Held]:
    """Yield the claim of every suite that has one."""
    for suite in _suites(bucket):
        if held := _held(bucket, suite):
            yield held


def _suites(bucket: Bucket) -> Iterator[str]:
    for key in bucket.keys(keys.CLAIMS):
        yield key.removeprefix(keys.CLAIMS).removesuffix(".json")


def claimed_runs(bucket: Bucket) -> dict[str, str]:
    """Return the ARN of the execution of each run that holds the claim of its suite, by run id.

    Each execution is running or has died. A damaged claim hides no other.
    """
    runs: dict[str, str] = {}
    for suite in _suites(bucket):
        with suppress(Damaged):
            # A claim may be released between its listing and its reading.
            if held := _held(bucket, suite):
                runs[held.claim.run_id] = held.claim.execution_arn
    return runs


def held_by(bucket: Bucket, execution_arn: str) -> Held | None:
    """Return the claim of an execution, None if it has none."""
    return next(
        (held for held in all_held(bucket) if held.claim.execution_arn == execution_arn), None
    )


def _held(bucket: Bucket, suite: str) -> Held | None:
    stored = bucket.find(keys.claim(suite))
    return Held(suite, Claim.model_validate_json(stored.body), stored.etag) if stored else None
