"""The cost and the standing of a run after its recorded trials, each of which is read once."""

from __future__ import annotations

from pathlib import PurePosixPath

from tidemark.figures.verdicts.standing import Standing, after
from tidemark.model.exclusions import Exclusions
from tidemark.model.plan import Plan
from tidemark.money.budget import Spent, counted
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import each_profiled, each_trial, read_exclusions
from tidemark.store.stored_run import read_standing


def count(bucket: Bucket, plan: Plan, spent: Spent | None) -> tuple[Spent | None, Standing | None]:
    """Return the cost and the standing after all recorded trials, and store the standing.

    The cost is None if the last one is: the run has no budget. The standing is None for a run of a
    fixed number of repetitions.
    """
    exclusions = read_exclusions(bucket, plan.run_id) if plan.request.until else None
    standing = _standing(bucket, plan, exclusions) if exclusions else None
    known = [each.trials for each in (spent, standing) if each is not None]
    if not known:
        return spent, standing
    first = min(known)
    for index, trial in enumerate(each_trial(bucket, plan.run_id, first), start=first):
        if spent is not None and index >= spent.trials:
            spent = counted(spent, plan, [trial])
        if standing is not None and exclusions and index >= standing.trials:
            excluded = exclusions.reason(trial.trial) is not None
            standing = after(standing, plan, trial, excluded=excluded)
    if spent is not None:
        spent = counted(spent, plan, each_profiled(bucket, plan, spent.profiled))
    if standing is not None:
        bucket.write(keys.standing(plan.run_id), standing.model_dump_json().encode())
    return spent, standing


def _standing(bucket: Bucket, plan: Plan, exclusions: Exclusions) -> Standing:
    """Return the stored standing, or an empty one if a user changed the exclusions since."""
    standing = read_standing(bucket, plan.run_id)
    recorded = [int(PurePosixPath(key).stem) for key in bucket.keys(keys.trials(plan.run_id))]
    counted_trials = recorded[: standing.trials]
    excluded = tuple(trial for trial in counted_trials if exclusions.reason(trial) is not None)
    return standing if excluded == standing.excluded else Standing()
