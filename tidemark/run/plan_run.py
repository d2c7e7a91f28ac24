"""PlanRun: resolve the request of a run, claim its suite and write its plan, or refuse it."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from tidemark import __version__
from tidemark.model.base import Frozen
from tidemark.model.plan import Estimate, Plan, Resume, in_turns, latest_budget
from tidemark.model.refusal import Refused
from tidemark.model.request import ResumeRequest, check_one_machine, resolve_request, resume_request
from tidemark.model.run_id import FIRST_PROFILED, run_id
from tidemark.model.run_spec import RunSpec
from tidemark.model.sentences import listed
from tidemark.model.suite import ROUNDS, Suite
from tidemark.model.suite_asset import queries_digest
from tidemark.money.capacity import Quotas, check, most_parallel
from tidemark.money.estimate import estimate, with_slices
from tidemark.money.prices import list_prices
from tidemark.run.events import ExecutionEvent, ExecutionState, holder
from tidemark.run.instance_look_up import known_instance, reported_version
from tidemark.run.ports import Account, Executions, Properties, Releases
from tidemark.store import claims, keys
from tidemark.store.bucket import Bucket
from tidemark.store.claims import Claim, Held
from tidemark.store.stored_plan import find_plan, read_plan, read_resumes, recorded_of

# A run is named after its scheduled time, and runs are sorted by name: a run in the far future
# would stay the suite's latest for ever.
_FURTHEST = timedelta(days=1)
_OLDEST = timedelta(days=7)


class Planned(Frozen):
    """A run that may begin, unless it has begun already or a dead run still claims its suite."""

    run_id: str
    suite: str
    trials: int
    estimate: Estimate | None
    """The estimate of the whole run, None for a resumed run from before there were estimates."""
    budget_usd: float | None = None
    """The limit of the cost of all its trials [USD], None without a limit."""
    holder: ExecutionState | None = None
    """The dead execution that has to be ended first."""
    started_by: str | None = None
    """The ARN of an earlier execution that started the same run."""


def begin(
    bucket: Bucket,
    executions: Executions,
    releases: Releases,
    quotas: Quotas,
    properties: Properties,
    account: Account,
    event: ExecutionEvent,
    suites: Mapping[str, Suite],
    *,
    one_machine: bool,
) -> Planned:
    """Claim the suite that an execution input names; write the plan of a new run.

    ``one_machine`` says where the run is: one machine has wheels, and an AWS account has images.

    A resumed run keeps its name and plan, and its outcome until the next outcome; the reason of the
    resume is stored, too. No plan is written if a ``holder`` has to be ended first, or if the run
    was ``started_by`` another execution.

    Raises
    ------
    Refused
        For an input that is not accepted, a run that exceeds the account's quotas, or a suite or
        an instance that another run measures.

    """
    resume = resume_request(event.input, suites)
    if resume:
        plan = _plan_to_resume(bucket, resume)
    else:
        sizing = None if one_machine else quotas
        plan = _new_plan(bucket, releases, properties, account, sizing, event, suites)
    if one_machine:
        check_one_machine(plan.suite, plan.request.parallel)
    else:
        _check_account(plan, suites)
    suite = plan.request.suite
    planned = Planned(
        run_id=plan.run_id, suite=suite, trials=len(plan.all_trials), estimate=plan.estimate
    )
    if not resume and plan.execution_arn != event.execution_arn:
        return planned.model_copy(update={"started_by": plan.execution_arn})
    check(quotas, plan)
    claim = Claim(
        run_id=plan.run_id,
        execution_arn=event.execution_arn,
        claimed_at=event.started_at,
        instance=plan.request.instance,
    )
    if held := claims.take(bucket, suite, claim):
        other = held.claim
        other_execution = holder(executions, other, event.started_at)
        if not other_execution.running:
            return planned.model_copy(update={"holder": other_execution})
        if other.run_id == plan.run_id and not resume:
            return planned.model_copy(update={"started_by": other.execution_arn})
        raise Refused(_held_sentence(suite, held))
    if resume:
        _write_resume(bucket, event, resume)
        budget = latest_budget(plan, read_resumes(bucket, plan.run_id))
    else:
        _write_once(bucket, plan)
        budget = plan.request.budget_usd
    return planned.model_copy(update={"budget_usd": budget})


def _check_account(plan: Plan, suites: Mapping[str, Suite]) -> None:
    if plan.request.builds:
        raise Refused(f"builds: {listed(plan.request.builds)} can only be measured on one machine")
    # CollectRates has the permission to copy files only if a deployed suite keeps some.
    if plan.suite.keeps_files and not any(suite.keeps_files for suite in suites.values()):
        raise Refused(
            f"run: {plan.run_id} keeps files that its tasks leave, and no suite of this deployment "
            "does; deploy a suite with artefacts and resume the run again"
        )
    if plan.profiled and not any(suite.profiler for suite in suites.values()):
        raise Refused(
            f"run: {plan.run_id} has profiled trials, and no suite of this deployment has a "
            "profiler; deploy a suite with one and resume the run again"
        )
    granted = {function for suite in suites.values() for function in suite.functions}
    if lacking := [function for function in plan.suite.functions if function not in granted]:
        raise Refused(
            f"run: {plan.run_id} calls {listed(lacking)}, and no suite of this deployment does; "
            "deploy a suite with these steps and resume the run again"
        )


def _new_plan(
    bucket: Bucket,
    releases: Releases,
    properties: Properties,
    account: Account,
    quotas: Quotas | None,
    event: ExecutionEvent,
    suites: Mapping[str, Suite],
) -> Plan:
    """Return the plan of the run, which an earlier execution may have started.

    ``quotas`` are an AWS account's; one machine measures one round at a time.
    """
    request = resolve_request(
        event.input,
        suites,
        lambda suite: releases.versions(suite.name) or suite.subject.versions,
        lambda suite, instance: reported_version(properties, suite, instance, event.execution_arn),
    )
    name = run_id(event.execution_name, event.started_at)
    if request.scheduled_at:
        _check_scheduled(request.scheduled_at, event.started_at)
        # A scheduler delivers at least once: every delivery names the same run.
        name = run_id(event.input, request.scheduled_at)
    if plan := find_plan(bucket, name):
        return plan
    suite, instance, arn = suites[request.suite], request.instance, event.execution_arn
    suite = with_slices(suite, request, one_machine=quotas is None)
    if quotas is not None and request.layout == ROUNDS:
        parallel = request.parallel or most_parallel(quotas, request, suite)
        request = request.model_copy(update={"parallel": parallel})
    plan = make_plan(request, suite, name=name, execution_arn=arn, started_at=event.started_at)
    plan = plan.model_copy(update={"queries_digest": queries_digest(plan.suite)})
    if instance is None:
        return plan
    known = known_instance(properties, account, plan.suite, instance, arn)
    return plan.model_copy(update={"known": known})


def _check_scheduled(scheduled_at: datetime, now: datetime) -> None:
    earliest, latest = now - _OLDEST, now + _FURTHEST
    if not earliest <= scheduled_at <= latest:
        raise Refused(
            f"scheduled_at: {_utc(scheduled_at)} is not accepted; expected a time from "
            f"{_utc(earliest)} to {_utc(latest)}"
        )


def _plan_to_resume(bucket: Bucket, request: ResumeRequest) -> Plan:
    """Return the plan of the run to resume; raise Refused if the run cannot be resumed."""
    plan = find_plan(bucket, request.run)
    if plan is None:
        raise Refused(f"run: {request.run} is not known; its plan is not in the results bucket")
    if plan.request.suite != request.suite:
        raise Refused(
            f"run: {request.run} is a run of {plan.request.suite}, not of {request.suite}"
        )
    # ChooseTrial tells whether a run until decided needs a trial: it reads all trials for that.
    recorded = recorded_of(bucket, plan)
    if plan.request.until is None and len(recorded) == len(plan.all_trials):
        raise Refused(f"run: {request.run} has no missing trial; every trial is recorded")
    if request.budget_usd is not None and plan.prices is None:
        raise Refused(f"budget_usd: {request.run} was planned without prices; leave it out")
    if plan.queries_digest not in {"", queries_digest(plan.suite)}:
        raise Refused(
            f"run: the log queries of {request.suite} were edited after {request.run} began, so "
            "that its other trials would be read in another way; start a new run"
        )
    return plan


def _write_resume(bucket: Bucket, event: ExecutionEvent, request: ResumeRequest) -> None:
    resume = Resume(
        execution_arn=event.execution_arn,
        started_at=event.started_at,
        trigger=request.trigger,
        note=request.note,
        budget_usd=request.budget_usd,
    )
    name = run_id(event.execution_name, event.started_at)
    bucket.write_once(keys.resume(request.run, name), resume.model_dump_json().encode())


def _write_once(bucket: Bucket, plan: Plan) -> None:
    """Write a plan; raise Refused if another execution started the run at the same moment."""
    if not bucket.write_once(keys.plan(plan.run_id), plan.model_dump_json().encode()):
        first = read_plan(bucket, plan.run_id).execution_arn
        if first != plan.execution_arn:
            raise Refused(f"scheduled_at: run {plan.run_id} was already started by {first}")


def _held_sentence(suite: str, held: Held) -> str:
    holder = held.claim
    measured = f"suite: {suite}" if held.suite == suite else f"instance: {holder.instance}"
    return (
        f"{measured} is being measured by run {holder.run_id} since "
        f"{_utc(holder.claimed_at)}; wait for its end, or end it with "
        f"`tidemark stop {holder.run_id}`, execution {holder.execution_arn}"
    )


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def make_plan(
    request: RunSpec, suite: Suite, *, name: str, execution_arn: str, started_at: datetime
) -> Plan:
    """Return the plan of run ``name``; the same arguments give the same plan.

    The plan of a search has the trials of its first comparison.
    """
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    suite = request.measured(suite)
    canonical = suite.model_dump_json().encode()
    repetitions = range(1, request.most_repetitions + 1)
    profiles = range(1, request.profile.trials + 1) if request.profile else ()
    return Plan(
        run_id=name,
        execution_arn=execution_arn,
        started_at=started_at,
        request=request,
        suite=suite,
        suite_digest=hashlib.sha256(canonical).hexdigest(),
        seed=seed,
        trials=in_turns(request, suite, request.measured_versions, repetitions, seed=seed),
        profiled=in_turns(
            request, suite, request.versions, profiles, seed=seed, first=FIRST_PROFILED
        ),
        tidemark_version=__version__,
        prices=list_prices(),
        estimate=estimate(request, suite, list_prices()),
    )
