"""A whole run as it is stored, and its standing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple, TypeVar

from tidemark.figures.verdicts.needed_trials import so_far
from tidemark.figures.verdicts.sequential_run import SequentialRun
from tidemark.model.plan import Plan, Resume
from tidemark.model.results import Exclusions, TrialResult
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import read_exclusions, read_trials, recorded_trials
from tidemark.store.stored_plan import find_plan, read_plan, read_resumes

_Result = TypeVar("_Result")


class StoredRun(NamedTuple):
    """The stored contents of a run, from which its tables and report are made."""

    plan: Plan
    # The rows and the report of a run go through its trials many times. `make bench` keeps the
    # peak of each function, for the largest accepted run, to 70 % of its memory.
    trials: list[TrialResult]
    exclusions: Exclusions
    resumes: list[Resume]


def fold(bucket: Bucket, run_id: str, write: Callable[[StoredRun], _Result]) -> _Result:
    """Write objects that follow from a run; repeat if the run changes meanwhile.

    Several processes may write at once, when a Lambda is retried or a user excludes a trial: the
    last writer has then seen every trial and exclusion.
    """
    while True:
        contents = _contents(bucket, run_id)
        result = write(read_run(bucket, read_plan(bucket, run_id)))
        if _contents(bucket, run_id) == contents:
            return result


def read_run(bucket: Bucket, plan: Plan) -> StoredRun:
    """Return a run as it is stored now, with the trials that it needs so far in its plan."""
    trials = read_trials(bucket, plan.run_id)
    exclusions = read_exclusions(bucket, plan.run_id)
    return StoredRun(
        so_far(plan, trials, exclusions), trials, exclusions, read_resumes(bucket, plan.run_id)
    )


class Progress(NamedTuple):
    """The numbers of recorded and planned trials of a run."""

    recorded: int
    planned: int


def read_progress(bucket: Bucket, run_id: str) -> Progress | None:
    """Return the progress of a run, None if it has no plan."""
    plan = find_plan(bucket, run_id)
    if plan is None:
        return None
    planned = planned_so_far(bucket, plan).all_trials
    return Progress(len(recorded_trials(bucket, run_id)), len(planned))


def planned_so_far(bucket: Bucket, plan: Plan) -> Plan:
    """Return a plan with the trials that its run needs, as far as its recorded trials say."""
    return read_run(bucket, plan).plan if plan.request.until else plan


def _contents(bucket: Bucket, run_id: str) -> dict[str, bytes]:
    """Return a run's objects that may change, and the keys of those that are written once."""
    once = (keys.trials(run_id), keys.resumes(run_id), keys.comments(run_id))
    written = chain.from_iterable(map(bucket.keys, once))
    return dict.fromkeys(written, b"") | {
        key: bucket.read(key) for key in bucket.keys(keys.exclusions(run_id))
    }


def read_standing(bucket: Bucket, run_id: str) -> SequentialRun:
    """Return the standing of a run that goes on until it is decided, empty if none is stored."""
    stored = bucket.find(keys.standing(run_id))
    return SequentialRun.model_validate_json(stored.body) if stored else SequentialRun()
