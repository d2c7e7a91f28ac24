"""The pace of the runs that a suite has had before."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from tidemark.money.pace import Pace, measured_pace
from tidemark.store.bucket import Bucket, Damaged
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import newest_runs, read_trial, recorded_trials
from tidemark.store.stored_plan import find_plan

_MOST_RUNS, _MOST_TRIALS = 3, 10


def earlier_paces(bucket: Bucket, suite: str, at_once: int) -> list[Pace]:
    """Return the pace of each of a suite's newest measured runs, the newest first.

    ``at_once`` tasks run side by side.
    """
    paces = (_pace(bucket, run_id, at_once) for run_id in newest_runs(bucket, suite))
    return list(islice((pace for pace in paces if pace), _MOST_RUNS))


def _pace(bucket: Bucket, run_id: str, at_once: int) -> Pace | None:
    """Return the pace of a run, None if it measured nothing or is damaged."""
    with suppress(Damaged):
        plan, outcome = find_plan(bucket, run_id), find_outcome(bucket, run_id)
        if plan and outcome and plan.imported is None:
            recorded = recorded_trials(bucket, run_id)
            some = sorted({*recorded[:_MOST_TRIALS], *recorded[-1:]})
            trials = (read_trial(bucket, run_id, number) for number in some)
            return measured_pace(plan, trials, outcome.ended_at, at_once)
    return None
