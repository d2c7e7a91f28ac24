"""ChooseTrial: the next trial of a run, none if it needs none or the budget allows no more."""

from collections.abc import Collection
from pathlib import PurePosixPath

from pydantic import BaseModel

from tidemark.figures.trial_result import trial_result
from tidemark.figures.verdicts.needed_trials import with_next_comparison
from tidemark.figures.verdicts.sequential_run import SequentialRun, after, following
from tidemark.model.base import Frozen
from tidemark.model.exclusions import Exclusions
from tidemark.model.failure import Failure
from tidemark.model.plan import Plan
from tidemark.model.run_id import trial_execution
from tidemark.money.budget import Spent, counted, passed
from tidemark.run.events import RunEvent
from tidemark.store import keys
from tidemark.store.bucket import Bucket, delete_what_is_possible
from tidemark.store.run_objects import (
    each_profiled,
    each_trial,
    read_exclusions,
    read_measured,
    record,
)
from tidemark.store.stored_plan import planned, read_plan
from tidemark.store.stored_run import read_standing


class LostTrial(BaseModel):
    """A trial whose execution ended without a result, and the failure that Step Functions gave."""

    trial: int
    trials: tuple[int, ...] = ()
    """The trials of a lost round; empty for a trial alone."""
    failure: Failure


class ChooseTrialEvent(RunEvent):
    """A run, its execution, and the trial that was just lost, if any."""

    execution_arn: str
    lost: LostTrial | None = None
    budget_usd: float | None = None
    spent: Spent | None = None
    """The result of the previous choice, so that no trial is read twice; None at first."""


class Choice(Frozen):
    """The trial to measure next, or the reason for none."""

    trial: int | None
    """The number of the trial, None if no trial is left to measure."""
    trials: tuple[int, ...]
    """The trials that the execution measures: more than one in a round, none without a trial."""
    name: str | None
    """The name of the trial's execution."""
    done: int
    """The number of recorded trials."""
    spent: Spent | None
    over_budget: str | None
    """A sentence that says why the budget ends the run although trials are left."""


def choose(bucket: Bucket, event: ChooseTrialEvent) -> Choice:
    """Return the next trial that the run needs; first record the lost trial, if any."""
    plan = read_plan(bucket, event.run_id)
    if event.lost:
        # Without a result the lost trial would be chosen again and again.
        _record_lost(bucket, plan, event.lost)
    done = set(bucket.keys(keys.trials(plan.run_id)))
    if plan.profiled:
        done.update(bucket.keys(keys.profiled_trials(plan.run_id)))
    limit = event.budget_usd
    spent, standing = count(bucket, plan, None if limit is None else event.spent or Spent())
    plan = plan if standing is None else _planned_on(bucket, plan, standing)
    trials, over_budget = _next(plan, standing, done), None
    if trials and spent and limit is not None:
        over_budget = passed(spent, plan, limit, len(trials))
    trials = () if over_budget else trials
    trial = trials[0] if trials else None
    return Choice(
        trial=trial,
        trials=trials,
        name=trial_execution(plan.run_id, trial, event.execution_arn) if trial else None,
        done=len(done),
        spent=spent,
        over_budget=over_budget,
    )


def _planned_on(bucket: Bucket, plan: Plan, standing: SequentialRun) -> Plan:
    """Return the plan; store it first if a search goes on to its next comparison."""
    longer = with_next_comparison(plan, standing)
    if longer == plan:
        return plan
    key = keys.plan(plan.run_id)
    stored = bucket.find(key)
    # A late choice of an execution that has ended must not undo what a resume has planned.
    if stored and Plan.model_validate_json(stored.body) == plan:
        bucket.write_over(key, longer.model_dump_json().encode(), stored.etag)
    return read_plan(bucket, plan.run_id)


def _next(plan: Plan, standing: SequentialRun | None, done: Collection[str]) -> tuple[int, ...]:
    """Return the trials to measure next: for verdicts, their confirmation, and then profiles."""
    left = plan.trials if standing is None else following(standing, plan)
    lacking = [
        trial
        for trial in (*left, *plan.profiled)
        if keys.trial(plan.run_id, trial.trial) not in done
    ]
    return tuple(each.trial for each in plan.first_together(lacking))


def _record_lost(bucket: Bucket, plan: Plan, lost: LostTrial) -> None:
    failure = f"the trial's execution ended with {lost.failure}"
    for number in lost.trials or (lost.trial,):
        trial = planned(plan, number)
        measured = read_measured(bucket, plan.run_id, trial.trial)
        record(bucket, trial_result(plan, trial, measured, failure))
        delete_what_is_possible(bucket, keys.data(plan.run_id, trial.trial))
        bucket.delete(keys.measurements(plan.run_id, trial.trial))


def count(
    bucket: Bucket, plan: Plan, spent: Spent | None
) -> tuple[Spent | None, SequentialRun | None]:
    """Return the cost and the standing after all recorded trials, and store the standing.

    The cost is None if ``spent`` is: the run has no budget. The standing is None for a run of a
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


def _standing(bucket: Bucket, plan: Plan, exclusions: Exclusions) -> SequentialRun:
    """Return the stored standing, or an empty one if a user changed the exclusions since."""
    standing = read_standing(bucket, plan.run_id)
    recorded = [int(PurePosixPath(key).stem) for key in bucket.keys(keys.trials(plan.run_id))]
    counted_trials = recorded[: standing.trials]
    excluded = tuple(trial for trial in counted_trials if exclusions.reason(trial) is not None)
    return standing if excluded == standing.excluded else SequentialRun()
