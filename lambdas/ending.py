"""The end of a run: its outcome, by its own last state or after its execution is dead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lambdas import claims
from lambdas.announcing import Listeners
from lambdas.attempts import Attempts
from lambdas.aws import Bucket, Executions, Tasks
from lambdas.claims import Held
from lambdas.events import ExecutionEvent
from lambdas.executions import ExecutionState, explained
from lambdas.failure import OVER_BUDGET, Failure
from lambdas.outcome import Outcome, RunStatus, judged, unplanned
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
        short = failure is not None and failure.Error == OVER_BUDGET
        status: RunStatus = "incomplete" if short else "failed"
        arn, published = execution.execution_arn, _published(bucket, plan)
        ended = judged(plan, trials, published, arn, now, str(failure or ""), status)
        outcome = _record_end(bucket, plan, trials, ended, held)
        if held and claims.stands(bucket, held):
            # Trials that were lost leave what their tests gave.
            bucket.delete(keys.work(plan.run_id))
    else:
        status = "rejected" if refused else "failed"
        outcome = record_outcome(bucket, _without_plan(execution, failure, status, now), held)
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
    name = run_id(execution.execution_name, execution.started_at)
    return unplanned(name, suite, execution.execution_arn, now, str(failure or ""), status)


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
        Return None if the execution has no claim, or has none any more: somebody else has ended
        its run, which may go on again.
        """
        held = claims.held_by(self.bucket, execution.execution_arn)
        if held is None or execution.running:
            return None
        execution = explained(self.executions, execution)
        if not self._cleared(held, _reason(execution)):
            return None
        outcome = self._record(held, execution, now)
        # Of two that end a run at once, the first to come here has told.
        if not claims.stands(self.bucket, held):
            return None
        self.listeners.tell(outcome)
        claims.release(self.bucket, held)
        return outcome

    def sweep(self, now: datetime, attempts: Attempts) -> list[Outcome]:
        """End every run whose execution is dead, and stop tasks of runs that have ended.

        A run that cannot be ended keeps no other from its end.
        """
        # The tasks first: a run that claims its suite after this has started none of them.
        groups = self.tasks.groups()
        claimed = list(claims.all_held(self.bucket))
        outcomes = []
        for held in claimed:
            with attempts.at(f"run {held.claim.run_id}"):
                outcomes.append(self.end(claims.holder(self.executions, held.claim, now), now))
        runs = {held.claim.run_id for held in claimed}
        for arn, group in groups.items():
            if group not in runs and re.fullmatch(RUN_ID, group):
                with attempts.at(f"task {arn}"):
                    self.tasks.stop(arn, f"run {group} has ended")
        return [outcome for outcome in outcomes if outcome]

    def _cleared(self, held: Held, reason: str) -> bool:
        """Stop and delete what a run left; tell whether it is still the one that is to be ended."""
        claim = held.claim
        for name, arn in self.executions.running(self.trial_machine):
            if is_trial_execution(name, claim.run_id, claim.execution_arn):
                self.executions.stop(arn, reason)
        # Listed first: if the claim stands after that, none is of a run that was resumed.
        groups = self.tasks.groups()
        if not claims.stands(self.bucket, held):
            return False
        for arn, group in groups.items():
            if group == claim.run_id:
                self.tasks.stop(arn, reason)
        if not claims.stands(self.bucket, held):
            return False
        self.bucket.delete(keys.work(claim.run_id))
        return True

    def _record(self, held: Held, execution: ExecutionState, now: datetime) -> Outcome:
        arn, reason = execution.execution_arn, _reason(execution)
        status: RunStatus = "aborted" if execution.status in _ABORTED else "failed"
        plan = find_plan(self.bucket, held.claim.run_id)
        if plan is None:
            outcome = unplanned(held.claim.run_id, held.suite, arn, now, reason, status)
            return record_outcome(self.bucket, outcome, held)
        trials = fold(self.bucket, plan.run_id, self._write)
        published = _published(self.bucket, plan)
        if len(trials) == len(plan.trials):
            outcome = judged(plan, trials, published, arn, now)
        else:
            outcome = judged(plan, trials, published, arn, now, reason, status)
        return _record_end(self.bucket, plan, trials, outcome, held)

    def _write(self, run: StoredRun) -> Sequence[TrialResult]:
        # Most ends have no report to write; to import what does would delay each of them.
        from lambdas.publishing import write_report  # noqa: PLC0415

        write_rates(self.bucket, run)
        write_report(self.bucket, run)
        return run.trials


def _published(bucket: Bucket, plan: Plan) -> set[str]:
    """Return the keys of what the report of a run has."""
    return set(bucket.keys(keys.report(plan.suite.name, plan.run_id, "")))


def _record_end(
    bucket: Bucket, plan: Plan, trials: Sequence[TrialResult], outcome: Outcome, held: Held | None
) -> Outcome:
    """Write the outcome of a planned run and its row; return the outcome that is stored."""
    stored = record_outcome(bucket, outcome, held)
    # Whose execution came after writes the row of all its trials.
    if stored.execution_arn == outcome.execution_arn:
        record_run(bucket, plan, trials, stored)
    return stored


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
