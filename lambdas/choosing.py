"""Choosing the next trial of a run, or none: all are done, or the budget has no room for it."""

from __future__ import annotations

from aws_lambda_powertools.utilities.parser import BaseModel

from lambdas.aws import Bucket
from lambdas.budget import Spent, counted, passed
from lambdas.events import RunEvent
from lambdas.failure import Failure
from lambdas.record import record, trial_result
from lambdas.stored import planned, read_measured, read_plan, read_trials
from suites import keys
from suites.model import Frozen
from suites.plan import Plan, trial_execution


class LostTrial(BaseModel):
    """A trial whose execution ended without recording a result, and what Step Functions said."""

    trial: int
    failure: Failure


class ChooseTrialEvent(RunEvent):
    """A run, its execution, and the trial that was lost last, if one was."""

    execution_arn: str
    lost: LostTrial | None = None
    budget_usd: float | None = None
    spent: Spent | None = None
    """As the choice before told it, so that no trial is read twice; None for the first."""


class Choice(Frozen):
    """What is measured next."""

    trial: int | None
    """None if nothing is."""
    name: str | None
    """Of its execution."""
    done: int
    """How many trials are recorded."""
    spent: Spent | None
    over_budget: str | None
    """Why nothing is measured next though trials are left, in a sentence."""


def choose(bucket: Bucket, event: ChooseTrialEvent) -> Choice:
    """Return the next trial that has no result yet; record the one that was lost, if one was."""
    plan = read_plan(bucket, event.run_id)
    if event.lost:
        # Without a result it would be chosen again and again.
        _record_lost(bucket, plan, event.lost)
    done = set(bucket.keys(keys.trials(plan.run_id)))
    left = (
        trial.trial for trial in plan.trials if keys.trial(plan.run_id, trial.trial) not in done
    )
    trial, spent, over_budget = next(left, None), event.spent, None
    if trial and event.budget_usd is not None:
        spent = spent or Spent()
        # Trials are recorded in their order.
        spent = counted(spent, plan, read_trials(bucket, plan.run_id, spent.trials))
        over_budget = passed(spent, plan, event.budget_usd)
    trial = None if over_budget else trial
    return Choice(
        trial=trial,
        name=trial_execution(plan.run_id, trial, event.execution_arn) if trial else None,
        done=len(done),
        spent=spent,
        over_budget=over_budget,
    )


def _record_lost(bucket: Bucket, plan: Plan, lost: LostTrial) -> None:
    failure = f"the trial's execution ended with {lost.failure}"
    trial = planned(plan, lost.trial)
    measured = read_measured(bucket, plan.run_id, trial.trial)
    record(bucket, trial_result(plan, trial, measured, failure))
    bucket.delete(keys.data(plan.run_id, trial.trial))
    bucket.delete(keys.measurements(plan.run_id, trial.trial))
