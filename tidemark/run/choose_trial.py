"""ChooseTrial: the next trials of a run, none if it needs none or the budget allows no more."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from pydantic import BaseModel

from tidemark.figures.trial_status import Failures, trial_result, unmatched
from tidemark.figures.verdicts.needed_trials import gone_on, with_next_comparison
from tidemark.figures.verdicts.sequential_run import SequentialRun, after, following
from tidemark.model.base import Frozen
from tidemark.model.labels import labelled_name
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Exclusions, TrialResult
from tidemark.model.run_id import is_profiled, trial_execution
from tidemark.model.suite import SECONDS_BETWEEN_GROUPS, TASKS_OF_GROUP
from tidemark.money.budget import Spent, counted, passed
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices
from tidemark.run.events import Failure, RunEvent
from tidemark.store import keys
from tidemark.store.bucket import Bucket, delete_what_is_possible
from tidemark.store.run_objects import (
    read_exclusions,
    read_measured,
    read_trial,
    read_trials,
    record,
)
from tidemark.store.stored_plan import planned, read_plan, recorded_of
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
    lost: tuple[LostTrial, ...] = ()
    budget_usd: float | None = None
    spent: Spent | None = None
    """The result of the previous choice, so that no trial is read twice; None at first."""
    failures: Failures | None = None
    """The result of the previous choice; None at first, also when a run is resumed."""


class Round(Frozen):
    """An execution that measures a trial alone, or the trials of a round."""

    trial: int
    """The number of its first trial."""
    trials: tuple[int, ...]
    name: str
    """The name of the execution."""
    wait_seconds: int
    """The wait before the start of its tasks [s]: ECS accepts a number of starts a second."""


class Choice(Frozen):
    """The batch to measure next, or the reason for none."""

    rounds: tuple[Round, ...]
    """The rounds of the batch, which are measured at once; none if no trial is left to measure."""
    done: int
    """The number of recorded trials."""
    spent: Spent | None
    failures: Failures
    cut_short: str | None
    """A sentence that says why the run ends although trials are left."""


def choose(bucket: Bucket, event: ChooseTrialEvent) -> Choice:
    """Return the next batch that the run needs; first record the lost trials, if any."""
    plan = read_plan(bucket, event.run_id)
    for lost in event.lost:
        # Without a result the lost trial would be chosen again and again.
        _record_lost(bucket, plan, lost)
    done = set(recorded_of(bucket, plan))
    limit = event.budget_usd
    if plan.request.trigger == "schedule" and limit is not None:
        plan = _confirming(bucket, plan, done)
    before = event.failures or Failures(is_first=not done)
    ended = [each for each in before.batch if each in done and not plan.request.keep_going]
    read = {each: read_trial(bucket, plan.run_id, each) for each in ended}
    failures = before.after(read.values())
    wrong = unmatched(plan.suite, read.values()) if failures.is_first else ""
    spent = None if limit is None else event.spent or Spent()
    spent, standing = count(bucket, plan, spent, read, failures.stopped)
    if standing is not None:
        plan = _stored(bucket, plan, with_next_comparison(plan, standing))
    rounds = [] if wrong else list(_next(plan, standing, done, failures.stopped))
    cut_short = wrong or _stopped(plan, failures, len(done)) if not rounds else None
    if rounds and spent and limit is not None:
        cut_short = passed(spent, plan, limit, len(rounds[0]))
        while rounds and passed(spent, plan, limit, sum(map(len, rounds))):
            rounds.pop()
    batch = tuple(number for each in rounds for number in each)
    return Choice(
        rounds=tuple(_starting(plan, rounds, event.execution_arn)),
        done=len(done),
        spent=spent,
        failures=failures.model_copy(update={"batch": batch}),
        cut_short=cut_short,
    )


def _stopped(plan: Plan, failures: Failures, done: int) -> str | None:
    """Return a sentence on the versions whose other trials are not measured, None without any."""
    if not failures.stopped or (plan.request.until is None and done == len(plan.all_trials)):
        return None
    names = [f"{each}, since two failed alike ({why})" for each, why in failures.stopped.items()]
    if any(_lacks_baseline(plan, trial, failures.stopped) for trial in plan.trials):
        names.append("the versions that are compared with the baseline")
    return (
        f"versions: the other trials are left out of {', and of '.join(names)}; keep_going "
        "measures them, and a resume tries them again"
    )


def _lacks_baseline(plan: Plan, trial: PlannedTrial, stopped: Collection[str]) -> bool:
    """Tell whether a trial has nothing to be compared with, since its baseline is stopped."""
    baseline = plan.request.baseline
    return trial.version != baseline and labelled_name(baseline or "", trial.axes) in stopped


def _starting(plan: Plan, rounds: Sequence[Sequence[int]], execution_arn: str) -> Iterator[Round]:
    """Yield the executions of a batch, whose tasks start no faster than ECS accepts them."""
    tasks = plan.suite.most_at_once(plan.request.tasks)
    for place, trials in enumerate(rounds):
        yield Round(
            trial=trials[0],
            trials=tuple(trials),
            name=trial_execution(plan.run_id, trials[0], execution_arn),
            wait_seconds=place * tasks // TASKS_OF_GROUP * SECONDS_BETWEEN_GROUPS,
        )


def _confirming(bucket: Bucket, plan: Plan, done: Collection[int]) -> Plan:
    """Return the plan of a whole run that a suspicion of the history makes go on; store it first.

    The pairs of its two versions confirm the suspicion, or do not.
    """
    if plan.request.until or len(done) < len(plan.all_trials):
        return plan
    # Few runs come to this: the others load no history.
    from tidemark.figures.history.run_medians import run_medians  # noqa: PLC0415
    from tidemark.store.history import is_suspected  # noqa: PLC0415

    trials = read_trials(bucket, plan.run_id)
    medians = run_medians(plan, trials, read_exclusions(bucket, plan.run_id))
    if not is_suspected(bucket, medians, plan.suite.name):
        return plan
    longer = gone_on(plan)
    if longer is plan:
        return plan
    expected = estimate(longer.request, longer.suite, plan.prices or list_prices())
    return _stored(bucket, plan, longer.model_copy(update={"estimate": expected}))


def _stored(bucket: Bucket, plan: Plan, longer: Plan) -> Plan:
    """Return the plan of a run that is planned on, once it is stored."""
    if longer == plan:
        return plan
    key = keys.plan(plan.run_id)
    stored = bucket.find(key)
    # A late choice of an execution that has ended must not undo what a resume has planned.
    if stored and Plan.model_validate_json(stored.body) == plan:
        bucket.write_over(key, longer.model_dump_json().encode(), stored.etag)
    return read_plan(bucket, plan.run_id)


def _next(
    plan: Plan, standing: SequentialRun | None, done: Collection[int], stopped: Collection[str]
) -> Iterator[Sequence[int]]:
    """Yield the rounds to measure next: for verdicts, their confirmation, and then profiles."""
    at_once = plan.request.parallel or 1
    left = plan.trials if standing is None else following(standing, plan, at_once)
    lacking = [
        trial
        for trial in (*left, *plan.profiled)
        if trial.trial not in done
        and trial.name not in stopped
        and not _lacks_baseline(plan, trial, stopped)
    ]
    for _ in range(at_once):
        if together := plan.first_together(lacking):
            yield [each.trial for each in together]
            lacking = [each for each in lacking if each not in together]


def _record_lost(bucket: Bucket, plan: Plan, lost: LostTrial) -> None:
    failure = f"the trial's execution ended with {lost.failure}"
    for number in lost.trials or (lost.trial,):
        trial = planned(plan, number)
        measured = read_measured(bucket, plan.run_id, trial.trial)
        record(bucket, trial_result(plan, trial, measured, failure))
        delete_what_is_possible(bucket, keys.data(plan.run_id, trial.trial))
        bucket.delete(keys.measurements(plan.run_id, trial.trial))


def count(
    bucket: Bucket,
    plan: Plan,
    spent: Spent | None,
    read: Mapping[int, TrialResult],
    stopped: Collection[str],
) -> tuple[Spent | None, SequentialRun | None]:
    """Return the cost and the standing after all recorded trials, and store the standing.

    The cost is None if ``spent`` is: the run has no budget. The standing is None for a run of a
    fixed number of repetitions. ``read`` are trials that are known already, and ``stopped`` the
    versions, with their axes, that are measured no more.
    """
    exclusions = read_exclusions(bucket, plan.run_id) if plan.request.until else None
    standing = _standing(bucket, plan, exclusions) if exclusions else None
    if spent is None and standing is None:
        return None, None
    recorded = recorded_of(bucket, plan)
    in_order = set(recorded[: standing.trials]) if standing else set()
    waiting = standing is None
    for number in recorded:
        waiting = waiting or is_profiled(number) or _waits(standing, plan, number, recorded)
        is_new = number not in in_order and not waiting
        if not is_new and (spent is None or number in spent.trials):
            continue
        trial = read.get(number) or read_trial(bucket, plan.run_id, number)
        if spent is not None and number not in spent.trials:
            spent = counted(spent, plan, [trial])
        if standing is not None and exclusions and is_new:
            excluded = exclusions.reason(number) is not None
            standing = after(standing, plan, trial, excluded=excluded)
    if standing is not None:
        standing = standing.model_copy(update={"stopped": tuple(stopped)})
        bucket.write(keys.standing(plan.run_id), standing.model_dump_json().encode())
    return spent, standing


def _waits(
    standing: SequentialRun | None, plan: Plan, number: int, recorded: Collection[int]
) -> bool:
    """Tell whether a trial waits for a round before it, which a batch that was ended lacks."""
    if standing is None or number <= standing.last:
        return False
    before = [each.turn for each in following(standing, plan) if each.trial < number]
    measured = [each.turn for each in plan.trials if before and each.trial in recorded]
    return any(turn not in measured for turn in before)


def _standing(bucket: Bucket, plan: Plan, exclusions: Exclusions) -> SequentialRun:
    """Return the stored standing, or an empty one if a user changed the exclusions since."""
    standing = read_standing(bucket, plan.run_id)
    counted_trials = recorded_of(bucket, plan)[: standing.trials]
    excluded = tuple(trial for trial in counted_trials if exclusions.reason(trial) is not None)
    return standing if excluded == standing.excluded else SequentialRun()
