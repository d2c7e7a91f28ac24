"""The end of a run: its outcome, by its own last state or after its execution is dead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lambdas import claims
from lambdas.announcing import Listeners
from lambdas.aws import Bucket, Executions, Tasks
from lambdas.claims import Claim, Held
from lambdas.events import ExecutionEvent
from lambdas.executions import ExecutionState, explained, look_up
from lambdas.failure import Failure
from lambdas.outcome import Outcome, RunStatus, judged, unplanned
from lambdas.publishing import write_report
from lambdas.record import record_outcome
from lambdas.recording import record_run, write_rates
from lambdas.results import TrialResult
from lambdas.stored import StoredRun, find_plan, fold, read_trials
from suites import keys
from suites.keys import RUN_ID
from suites.plan import Plan, is_trial_execution, run_id

_ABORTED = {"ABORTED", "GONE"}


def conclude(
    bucket: Bucket,
    listeners: Listeners,
    execution: ExecutionEvent,
    planned: str | None,
    failure: Failure | None,
    now: datetime,
) -> Outcome:
    """Write the outcome of an execution that is about to end, tell it, and release its claim.

    ``planned`` is its run, None if PlanRun failed: then it is the run that it had claimed, unless
    it was refused.
    """
    refused = failure is not None and failure.Error == "Refused"
    held = claims.held_by(bucket, execution.execution_arn)
    name = planned or (held.claim.run_id if held and not refused else None)
    plan = find_plan(bucket, name) if name else None
    if plan:
        trials = read_trials(bucket, plan.run_id)
        outcome = record_outcome(bucket, judged(plan, trials, now, str(failure or "")))
        record_run(bucket, plan, trials, outcome)
        # Trials that were lost leave what their tests gave.
        bucket.delete(keys.work(plan.run_id))
    else:
        status: RunStatus = "rejected" if refused else "failed"
        outcome = record_outcome(bucket, _without_plan(execution, failure, status, now))
    # Who dies before this, or is not heard, leaves the claim to EndRun, which tells it.
    listeners.tell(outcome)
    if held:
        claims.release(bucket, held)
    return outcome


def _without_plan(
    execution: ExecutionEvent, failure: Failure | None, status: RunStatus, now: datetime
) -> Outcome:
    suite = execution.input.get("suite") if isinstance(execution.input, dict) else None
    # A name of its own, whichever run it asked for.
    name = run_id(execution.execution_name, execution.input, execution.started_at)
    return unplanned(name, suite, str(failure or ""), status, now)


@dataclass(frozen=True)
class Ending:
    """Ends runs whose execution ended without an outcome.

    Aborts, time-outs and States.Runtime pass by every Catch of a state machine.
    """

    bucket: Bucket
    executions: Executions
    tasks: Tasks
    listeners: Listeners
    trial_machine: str
    """ARN of the state machine of a trial."""

    def end(self, execution: ExecutionState, now: datetime) -> Outcome | None:
        """Stop what a dead execution left running and record what it measured and its outcome.

        Again changes nothing. A trial in progress is not recorded, so that a resume measures it.
        Return None if the execution has no claim: there is nothing to end.
        """
        held = claims.held_by(self.bucket, execution.execution_arn)
        if held is None or execution.running:
            return None
        execution = explained(self.executions, execution)
        self._stop_all(held.claim, _reason(execution))
        self.bucket.delete(keys.work(held.claim.run_id))
        outcome = self._record(held, execution, now)
        self.listeners.tell(outcome)
        claims.release(self.bucket, held)
        return outcome

    def sweep(self, now: datetime) -> list[Outcome]:
        """End every run whose execution is dead, and stop tasks of runs that have ended."""
        # The tasks first: a run that claims its suite after this has started none of them.
        starters = self.tasks.starters()
        claimed = list(claims.all_held(self.bucket))
        outcomes = [
            self.end(look_up(self.executions, held.claim.execution_arn), now) for held in claimed
        ]
        runs = {held.claim.run_id for held in claimed}
        for arn, starter in starters.items():
            if starter not in runs and re.fullmatch(RUN_ID, starter):
                self.tasks.stop(arn, f"run {starter} has ended")
        return [outcome for outcome in outcomes if outcome]

    def _stop_all(self, claim: Claim, reason: str) -> None:
        for name, arn in self.executions.running(self.trial_machine):
            if is_trial_execution(name, claim.run_id, claim.execution_arn):
                self.executions.stop(arn, reason)
        for arn in self.tasks.started_by(claim.run_id):
            self.tasks.stop(arn, reason)

    def _record(self, held: Held, execution: ExecutionState, now: datetime) -> Outcome:
        plan = find_plan(self.bucket, held.claim.run_id)
        key = keys.outcome(held.claim.run_id)
        # It may have written one before it died.
        written = self.bucket.find(key)
        outcome = (
            Outcome.model_validate_json(written.body)
            if written
            else self._outcome(held, plan, execution, now)
        )
        if plan:
            trials = fold(self.bucket, plan.run_id, self._write)
            record_run(self.bucket, plan, trials, outcome)
        # Last: who waits for it finds the rest.
        return record_outcome(self.bucket, outcome)

    def _write(self, run: StoredRun) -> Sequence[TrialResult]:
        write_rates(self.bucket, run)
        write_report(self.bucket, run)
        return run.trials

    def _outcome(
        self, held: Held, plan: Plan | None, execution: ExecutionState, now: datetime
    ) -> Outcome:
        status: RunStatus = "aborted" if execution.status in _ABORTED else "failed"
        if plan is None:
            return unplanned(held.claim.run_id, held.suite, _reason(execution), status, now)
        trials = read_trials(self.bucket, plan.run_id)
        if len(trials) == len(plan.trials):
            return judged(plan, trials, now)
        return judged(plan, trials, now, _reason(execution), status)


def _reason(execution: ExecutionState) -> str:
    """Return in words why an execution ended without an outcome."""
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
