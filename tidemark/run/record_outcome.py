"""RecordOutcome: write and announce the outcome of a run, and release its claim."""

from __future__ import annotations

from datetime import datetime

from tidemark.model.outcome import Outcome, RunStatus
from tidemark.model.run_id import run_id
from tidemark.run.events import CUT_SHORT, ExecutionEvent, Failure
from tidemark.run.pause_rules import resume
from tidemark.run.ports import Rules
from tidemark.run.run_outcome import Listeners, planned_outcome, published_keys, unplanned_outcome
from tidemark.store import claims, keys
from tidemark.store.alarms import alarms_of
from tidemark.store.bucket import Bucket, delete_what_is_possible
from tidemark.store.run_ends import record_end, record_outcome
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_run


def conclude(
    bucket: Bucket,
    listeners: Listeners,
    rules: Rules,
    execution: ExecutionEvent,
    planned_run: str | None,
    failure: Failure | None,
    now: datetime,
) -> Outcome:
    """Write and announce the outcome of an execution that is about to end; release its claim.

    ``planned_run`` is the id of the execution's run, None if PlanRun failed. The run is then the
    one that the execution had claimed, unless the input was refused.
    """
    refused = failure is not None and failure.Error == "Refused"
    held = claims.held_by(bucket, execution.execution_arn)
    name = planned_run or (held.claim.run_id if held and not refused else None)
    plan = find_plan(bucket, name) if name else None
    if plan:
        if plan.suite.rules:
            # A trial that could not enable its rules again is over. A failure here leaves the
            # claim, and the sweep tries again.
            resume(bucket, rules, plan.run_id)
        run = read_run(bucket, plan)
        short = failure is not None and failure.Error == CUT_SHORT
        status: RunStatus = "incomplete" if short else "failed"
        arn, published = execution.execution_arn, published_keys(bucket, plan)
        alarms = alarms_of(bucket, run.plan.suite.name, run.plan.run_id)
        outcome = planned_outcome(
            run.plan, run.trials, published, arn, now, str(failure or ""), status, alarms
        )
        outcome = record_end(bucket, run.plan, run.trials, outcome, held)
        if held and claims.stands(bucket, held):
            # Lost trials leave the measurements of their tests behind.
            bucket.delete(keys.work(plan.run_id))
            delete_what_is_possible(bucket, keys.data_of(plan.run_id))
    else:
        status = "rejected" if refused else "failed"
        outcome = record_outcome(bucket, _unplanned(execution, failure, status, now), held)
    # After a crash or a failed announcement the claim stands, and EndRun announces the outcome.
    listeners.announce(outcome)
    if held:
        claims.release(bucket, held)
    return outcome


def _unplanned(
    execution: ExecutionEvent, failure: Failure | None, status: RunStatus, now: datetime
) -> Outcome:
    suite = execution.input.get("suite") if isinstance(execution.input, dict) else None
    # The outcome has a name of its own, whichever run the input named.
    name = run_id(execution.execution_name, execution.started_at)
    return unplanned_outcome(name, suite, execution.execution_arn, now, str(failure or ""), status)
