"""RecordOutcome: write and announce the outcome of a run, and release its claim."""

from datetime import datetime

from tidemark.model.outcome import Outcome, RunStatus
from tidemark.model.run_id import run_id
from tidemark.run.events import CUT_SHORT, ExecutionEvent, Failure
from tidemark.run.pause_rules import resume
from tidemark.run.ports import Rules
from tidemark.run.run_outcome import Listeners, planned_outcome, published_keys, unplanned_outcome
from tidemark.store import claims, keys
from tidemark.store.bucket import Bucket, delete_what_is_possible
from tidemark.store.run_ends import alarms_of, record_end, record_outcome
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_run


class RecordOutcomeEvent(ExecutionEvent):
    """An execution that is about to end, and its failure, if it has one."""

    run_id: str | None
    """The id of its run; None if PlanRun failed."""
    now: datetime
    failure: Failure | None


def conclude(
    bucket: Bucket, listeners: Listeners, rules: Rules, event: RecordOutcomeEvent
) -> Outcome:
    """Write and announce the outcome of an execution that is about to end; release its claim.

    Without an id the run is the one that the execution had claimed, unless its input was refused.
    """
    error, arn = event.failure.Error if event.failure else "", event.execution_arn
    refused, reason = error == "Refused", str(event.failure or "")
    held = claims.held_by(bucket, arn)
    name = event.run_id or (held.claim.run_id if held and not refused else None)
    plan = find_plan(bucket, name) if name else None
    if plan:
        if plan.suite.rules:
            # A trial that could not enable its rules again is over. A failure here leaves the
            # claim, and the sweep tries again.
            resume(bucket, rules, plan.run_id)
        run = read_run(bucket, plan)
        status: RunStatus = "incomplete" if error == CUT_SHORT else "failed"
        published = published_keys(bucket, plan)
        alarms = alarms_of(bucket, run.plan.suite.name, run.plan.run_id)
        outcome = planned_outcome(
            run.plan, run.trials, published, arn, event.now, reason, status, alarms
        )
        outcome = record_end(bucket, run.plan, run.trials, outcome, held)
        if held and claims.stands(bucket, held):
            # Lost trials leave the measurements of their tests behind.
            bucket.delete(keys.work(plan.run_id))
            delete_what_is_possible(bucket, keys.data_of(plan.run_id))
    else:
        # The outcome has a name of its own, whichever run the input named.
        name = run_id(event.execution_name, event.started_at)
        suite = event.input.get("suite") if isinstance(event.input, dict) else None
        status = "rejected" if refused else "failed"
        outcome = unplanned_outcome(name, suite, arn, event.now, reason, status)
        outcome = record_outcome(bucket, outcome, held)
    # After a crash or a failed announcement the claim stands, and EndRun announces the outcome.
    listeners.announce(outcome)
    if held:
        claims.release(bucket, held)
    return outcome
