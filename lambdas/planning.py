"""Starting a run, or going on with one: settle what it measures, claim its suite, or refuse it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lambdas import claims
from lambdas.aws import Bucket, Executions, Releases
from lambdas.claims import Claim
from lambdas.events import ExecutionEvent
from lambdas.executions import ExecutionState
from lambdas.stored import find_plan, read_plan
from suites import keys
from suites.model import Frozen, Suite
from suites.plan import Plan, make_plan, run_id
from suites.refusal import Refused
from suites.request import ResumeRequest, resumed, settle


class Planned(Frozen):
    """A run that may begin, once its suite is no longer held by an execution that is gone."""

    run_id: str
    suite: str
    trials: int
    holder: ExecutionState | None


def begin(
    bucket: Bucket,
    executions: Executions,
    releases: Releases,
    event: ExecutionEvent,
    suites: Mapping[str, Suite],
) -> Planned:
    """Claim what an execution input asks for; write the plan of a new run.

    A run that is resumed keeps its name and plan, and its outcome until it has another. Nothing is
    claimed or written as long as there is a ``holder`` that has to be ended first.

    Raises
    ------
    Refused
        In one sentence, for an input that is not accepted or a suite that is being measured.

    """
    asked = resumed(event.input, suites)
    plan = _unfinished(bucket, asked) if asked else _new_plan(releases, event, suites)
    suite = plan.request.suite
    mine = Claim(run_id=plan.run_id, execution_arn=event.execution_arn, claimed_at=event.started_at)
    holder = None
    if other := claims.take(bucket, suite, mine):
        holder = claims.holder(executions, other, event.started_at)
        if holder.running:
            raise Refused(_held_sentence(suite, other))
    elif not asked:
        _write_once(bucket, plan)
    return Planned(run_id=plan.run_id, suite=suite, trials=len(plan.trials), holder=holder)


def _new_plan(releases: Releases, event: ExecutionEvent, suites: Mapping[str, Suite]) -> Plan:
    request = settle(
        event.input, suites, lambda suite: releases.versions(suite.name) or suite.versions
    )
    name = run_id(event.execution_name, event.input, event.started_at)
    if request.scheduled_at:
        # A scheduler delivers at least once: every delivery has the same name.
        name = run_id("", event.input, request.scheduled_at)
    return make_plan(
        request,
        suites[request.suite],
        name=name,
        execution_arn=event.execution_arn,
        started_at=event.started_at,
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
    return plan


def _write_once(bucket: Bucket, plan: Plan) -> None:
    """Write a plan, or refuse a run that another execution started: a schedule said it twice."""
    if not bucket.write_once(keys.plan(plan.run_id), plan.model_dump_json().encode()):
        first = read_plan(bucket, plan.run_id).execution_arn
        if first != plan.execution_arn:
            raise Refused(f"scheduled_at: run {plan.run_id} was already started by {first}")


def _held_sentence(suite: str, holder: Claim) -> str:
    return (
        f"suite: {suite} is being measured by run {holder.run_id} since "
        f"{_utc(holder.claimed_at)}; wait for its end or stop its execution "
        f"{holder.execution_arn}"
    )


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
