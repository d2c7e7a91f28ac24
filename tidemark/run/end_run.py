"""EndRun: the end of a run whose execution died without an outcome."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from tidemark.model.outcome import Outcome, RunStatus
from tidemark.model.plan import Plan
from tidemark.model.run_id import is_trial_execution, run_of_group
from tidemark.model.suite import ROUNDS
from tidemark.run.events import ExecutionState, Failure, with_cause
from tidemark.run.pause_rules import resume
from tidemark.run.ports import Executions, Rules, Tasks
from tidemark.run.run_outcome import Listeners, planned_outcome, published_keys, unplanned_outcome
from tidemark.run.stray_tasks import clusters_of
from tidemark.store import claims, keys
from tidemark.store.bucket import Bucket, delete_what_is_possible
from tidemark.store.claims import Held
from tidemark.store.run_ends import alarms_of, record_end, record_outcome
from tidemark.store.run_objects import read_measured, record
from tidemark.store.stored_plan import find_plan, recorded_of

if TYPE_CHECKING:  # the sweep of an hour without dead runs reads none
    from tidemark.store.stored_run import StoredRun

_ABORTED = {"ABORTED", "GONE"}


class Ending(NamedTuple):
    """The end of runs whose execution ended without an outcome.

    Aborts, time-outs and States.Runtime bypass every Catch of a state machine.
    """

    bucket: Bucket
    executions: Executions
    tasks: Tasks
    rules: Rules
    listeners: Listeners
    trial_machine: str
    """ARN of the state machine of a trial."""
    publish: Callable[[Bucket, str], StoredRun]
    """The function that writes the rows and the report of a run, by its id, and returns the run."""

    def end(self, execution: ExecutionState, now: datetime) -> Outcome | None:
        """Stop the trials and tasks of a dead execution; record its measurements and its outcome.

        A second call changes nothing. A trial in progress is not recorded, so that a resume
        measures it. Return None if the execution holds no claim, or lost it meanwhile: another
        caller has ended its run, which may have been resumed.
        """
        held = claims.held_by(self.bucket, execution.execution_arn)
        if held is None or execution.running:
            return None
        execution = with_cause(self.executions, execution)
        if not self._clear(held, _reason(execution)):
            return None
        outcome = self._record(held, execution, now)
        # If two callers end a run at once, the first to get here has announced the outcome.
        if not claims.stands(self.bucket, held):
            return None
        self.listeners.announce(outcome)
        claims.release(self.bucket, held)
        return outcome

    def _clear(self, held: Held, reason: str) -> bool:
        """Stop the tasks and delete the data of a run; tell whether its claim still stands."""
        claim = held.claim
        for name, arn in self.executions.running(self.trial_machine):
            if is_trial_execution(name, claim.run_id, claim.execution_arn):
                self.executions.stop(arn, reason)
        # List the tasks first: if the claim stands afterwards, none belongs to a resumed run.
        clusters = clusters_of(self.tasks, find_plan(self.bucket, claim.run_id))
        listed = [(tasks, tasks.groups()) for tasks in clusters]
        if not claims.stands(self.bucket, held):
            return False
        for tasks, groups in listed:
            for arn, group in groups.items():
                if run_of_group(group) == claim.run_id:
                    tasks.stop(arn, reason)
        if not claims.stands(self.bucket, held):
            return False
        if plan := find_plan(self.bucket, claim.run_id):
            _finish_rounds(self.bucket, plan)
        self.bucket.delete(keys.work(claim.run_id))
        delete_what_is_possible(self.bucket, keys.data_of(claim.run_id))
        return True

    def _record(self, held: Held, execution: ExecutionState, now: datetime) -> Outcome:
        arn, reason = execution.execution_arn, _reason(execution)
        status: RunStatus = "aborted" if execution.status in _ABORTED else "failed"
        plan = find_plan(self.bucket, held.claim.run_id)
        if plan is None:
            outcome = unplanned_outcome(held.claim.run_id, held.suite, arn, now, reason, status)
            return record_outcome(self.bucket, outcome, held)
        if plan.suite.rules:
            resume(self.bucket, self.rules, plan.run_id)
        run = self.publish(self.bucket, plan.run_id)
        plan, trials = run.plan, run.trials
        published = published_keys(self.bucket, plan)
        alarms = alarms_of(self.bucket, plan.suite.name, plan.run_id)
        if len(trials) == len(plan.trials):
            reason = ""
        outcome = planned_outcome(plan, trials, published, arn, now, reason, status, alarms)
        return record_end(self.bucket, plan, trials, outcome, held)


def _finish_rounds(bucket: Bucket, plan: Plan) -> None:
    """Record the rest of each round whose execution died while it recorded its trials.

    A resume would measure it again, and pair the slices of two tasks.
    """
    # The sweep of an hour without dead runs reads no figures.
    from tidemark.figures.trial_status import trial_result  # noqa: PLC0415

    recorded = set(recorded_of(bucket, plan))
    begun = [trial.turn for trial in plan.trials if trial.trial in recorded]
    for trial in plan.trials if plan.request.layout == ROUNDS else ():
        is_missing = trial.trial not in recorded and trial.turn in begun
        # Without a result it was left out: its version was decided before the round.
        if is_missing and (measured := read_measured(bucket, plan.run_id, trial.trial)):
            record(bucket, trial_result(plan, trial, measured, ""))


def _reason(execution: ExecutionState) -> str:
    """Return the reason why an execution ended without an outcome."""
    cause = execution.cause or execution.error or "no reason was given"
    match execution.status:
        case "ABORTED":
            return f"stopped: {cause}"
        case "GONE":
            return "its execution is gone; the process or service that ran it ended"
        case "TIMED_OUT":
            return "its execution ran past its time limit"
        case "FAILED":
            return str(Failure(Error=execution.error or "", Cause=cause))
    return f"its execution is {execution.status} without an outcome"
