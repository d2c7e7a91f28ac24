"""Starting a run, or going on with one: settle what it measures, claim its suite, or refuse it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from lambdas import claims
from lambdas.aws import Bucket, Executions, Quotas, Releases
from lambdas.budget import latest_budget
from lambdas.claims import Claim
from lambdas.events import ExecutionEvent
from lambdas.executions import ExecutionState
from lambdas.quotas import check
from lambdas.resumes import Resume
from lambdas.stored import find_plan, read_plan, read_resumes
from suites import keys
from suites.estimate import Estimate
from suites.model import Frozen, Suite
from suites.plan import Plan, make_plan, run_id
from suites.refusal import Refused
from suites.request import ResumeRequest, resumed, settle

# A run is named after the time that it was scheduled for, and sorted by its name: one of a far
# future would stay the suite's latest for ever.
_FURTHEST = timedelta(days=1)
_OLDEST = timedelta(days=7)


class Planned(Frozen):
    """A run that may begin, unless it has begun, or its suite is held by one that is gone."""

    run_id: str
    suite: str
    trials: int
    estimate: Estimate | None
    """What the whole run is expected to take; None for an old one that is resumed."""
    budget_usd: float | None = None
    """What all its trials together may cost [USD]; None if nobody set a limit."""
    holder: ExecutionState | None = None
    """Who has to be ended first."""
    started_by: str | None = None
    """ARN of the execution that started the same run before."""


def begin(
    bucket: Bucket,
    executions: Executions,
    releases: Releases,
    quotas: Quotas,
    event: ExecutionEvent,
    suites: Mapping[str, Suite],
) -> Planned:
    """Claim what an execution input asks for; write the plan of a new run.

    A run that is resumed keeps its name and plan, and its outcome until it has another; why it is
    resumed is kept, too. Nothing is claimed or written as long as there is a ``holder`` that has to
    be ended first, nor if the run was ``started_by`` another execution.

    Raises
    ------
    Refused
        In one sentence, for an input that is not accepted, a run that the account's quotas do not
        hold, or a suite that is being measured.
    QuotaUnknown
        If a quota cannot be read.

    """
    asked = resumed(event.input, suites)
    plan = _unfinished(bucket, asked) if asked else _new_plan(bucket, releases, event, suites)
    if not asked and plan.execution_arn != event.execution_arn:
        return _planned(plan, started_by=plan.execution_arn)
    check(quotas, plan)
    suite = plan.request.suite
    mine = Claim(run_id=plan.run_id, execution_arn=event.execution_arn, claimed_at=event.started_at)
    if other := claims.take(bucket, suite, mine):
        holder = claims.holder(executions, other, event.started_at)
        if not holder.running:
            return _planned(plan, holder=holder)
        if other.run_id == plan.run_id and not asked:
            return _planned(plan, started_by=other.execution_arn)
        raise Refused(_held_sentence(suite, other))
    if not asked:
        _write_once(bucket, plan)
        return _planned(plan, budget_usd=plan.request.budget_usd)
    _write_resume(bucket, event, asked)
    return _planned(plan, budget_usd=latest_budget(plan, read_resumes(bucket, plan.run_id)))


def _planned(
    plan: Plan,
    *,
    budget_usd: float | None = None,
    holder: ExecutionState | None = None,
    started_by: str | None = None,
) -> Planned:
    return Planned(
        run_id=plan.run_id,
        suite=plan.request.suite,
        trials=len(plan.trials),
        estimate=plan.estimate,
        budget_usd=budget_usd,
        holder=holder,
        started_by=started_by,
    )


def _new_plan(
    bucket: Bucket, releases: Releases, event: ExecutionEvent, suites: Mapping[str, Suite]
) -> Plan:
    """Return the plan of a run that this execution, or one before, starts."""
    request = settle(
        event.input, suites, lambda suite: releases.versions(suite.name) or suite.versions
    )
    name = run_id(event.execution_name, event.started_at)
    if request.scheduled_at:
        _check_scheduled(request.scheduled_at, event.started_at)
        # A scheduler delivers at least once: every delivery has the same name.
        name = run_id(event.input, request.scheduled_at)
    return find_plan(bucket, name) or make_plan(
        request,
        suites[request.suite],
        name=name,
        execution_arn=event.execution_arn,
        started_at=event.started_at,
    )


def _check_scheduled(scheduled_at: datetime, now: datetime) -> None:
    earliest, latest = now - _OLDEST, now + _FURTHEST
    if not earliest <= scheduled_at <= latest:
        raise Refused(
            f"scheduled_at: {_utc(scheduled_at)} is not accepted: an execution that starts now "
            f"takes from {_utc(earliest)} to {_utc(latest)}"
        )


def _unfinished(bucket: Bucket, asked: ResumeRequest) -> Plan:
    """Return the plan of the run that is to go on; Refused if there is nothing to go on with."""
    plan = find_plan(bucket, asked.run)
    if plan is None:
        raise Refused(f"run: {asked.run} is not known; its plan is not in the results bucket")
    if plan.request.suite != asked.suite:
        raise Refused(f"run: {asked.run} is a run of {plan.request.suite}, not of {asked.suite}")
    if len(list(bucket.keys(keys.trials(asked.run)))) == len(plan.trials):
        raise Refused(f"run: nothing is missing of {asked.run}; every trial is recorded")
    if asked.budget_usd is not None and plan.prices is None:
        raise Refused(f"budget_usd: {asked.run} was planned without prices; resume it without")
    return plan


def _write_resume(bucket: Bucket, event: ExecutionEvent, asked: ResumeRequest) -> None:
    resume = Resume(
        execution_arn=event.execution_arn,
        started_at=event.started_at,
        trigger=asked.trigger,
        note=asked.note,
        budget_usd=asked.budget_usd,
    )
    name = run_id(event.execution_name, event.started_at)
    bucket.write_once(keys.resume(asked.run, name), resume.model_dump_json().encode())


def _write_once(bucket: Bucket, plan: Plan) -> None:
    """Write a plan; Refused if another execution has started the run in this very moment."""
    if not bucket.write_once(keys.plan(plan.run_id), plan.model_dump_json().encode()):
        first = read_plan(bucket, plan.run_id).execution_arn
        if first != plan.execution_arn:
            raise Refused(f"scheduled_at: run {plan.run_id} was already started by {first}")


def _held_sentence(suite: str, holder: Claim) -> str:
    return (
        f"suite: {suite} is being measured by run {holder.run_id} since "
        f"{_utc(holder.claimed_at)}; wait for its end, or end it with "
        f"`tidemark stop {holder.run_id}`, execution {holder.execution_arn}"
    )


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
