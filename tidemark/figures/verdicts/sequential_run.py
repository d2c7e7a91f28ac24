"""The standing of a run that goes on until it is decided, from one trial to the next.

It tells the next trials, and in a search what is found of each version.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial

from pydantic import Field

from tidemark.figures.verdicts.bisection import Bisection, Ends, Finding
from tidemark.figures.verdicts.intervals import MIXTURE_T
from tidemark.figures.verdicts.pairs import in_round
from tidemark.figures.verdicts.rule import Criteria, Judgement, Margins
from tidemark.figures.verdicts.sequential_metric import SequentialMetric, unconfirmed, untold
from tidemark.figures.version_rates import Quantity, rate_key, shared_names
from tidemark.model.base import Frozen
from tidemark.model.labels import canonical, labelled_name
from tidemark.model.parameters import combinations
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Exclusions, Rate, TrialResult
from tidemark.model.run_spec import FEWEST, follows

_NO_END_NEARER = "the pairs do not tell which end is nearer"

Figures = dict[str, float]
"""Rates by the quantity's name."""


class SequentialRun(Frozen):
    """The running sums of the trials so far: ``work/<run_id>/standing.json``."""

    trials: int = 0
    """The number of trials that are counted, in the order of their numbers."""
    last: int = 0
    """The number of the last of them."""
    excluded: tuple[int, ...] = ()
    """The trials among them that are left out of every figure."""
    repetition: int = 0
    """The repetition of the last trial."""
    ended_at: datetime | None = None
    """The end of the last trial; None if none of its tests began."""
    rates: dict[str, Figures] = Field(default_factory=dict)
    """The rates of each version in that repetition, until it is whole."""
    slices: dict[str, dict[str, tuple[float, ...]]] = Field(default_factory=dict)
    """The slices of each version in that repetition, if it is a round."""
    stopped: tuple[str, ...] = ()
    """The versions, with their axes, that the run measures no further."""
    courses: dict[str, dict[str, SequentialMetric]] = Field(default_factory=dict)
    """The courses of each version's quantities over the repetitions before."""

    def course(self, version: str, quantity: Quantity) -> SequentialMetric:
        """Return the course of a quantity of a version against the baseline."""
        return self.courses.get(version, {}).get(_name(quantity), SequentialMetric())


def deciding(plan: Plan) -> list[Quantity]:
    """Return the quantities that decide a run, which have no labels beside the run's axes."""
    shared = shared_names(plan.suite)
    return [
        Quantity(test.name, metric, statistic, canonical(axes), axes, metric.name in shared)
        for test in plan.suite.tests
        for metric, statistic in test.figures()
        for axes in combinations(plan.request.axes)
        if metric.decides
    ]


def awaited(plan: Plan) -> list[Quantity]:
    """Return the quantities whose verdicts end a run: of a search, that which it follows."""
    search = plan.request.bisect
    return [
        each
        for each in deciding(plan)
        if search is None or follows(search, each.metric, each.statistic)
    ]


def criteria(plan: Plan, quantity: Quantity) -> Criteria:
    """Return the criteria of a quantity, which shares the alarms with all that decide."""
    family = len(deciding(plan)) * plan.most_comparisons
    return Criteria(
        quantity.metric.direction,
        MIXTURE_T,
        Margins.of(quantity.metric),
        1 / family,
        plan.request.repetitions,
    )


def after(
    standing: SequentialRun, plan: Plan, trial: TrialResult, *, excluded: bool
) -> SequentialRun:
    """Return the standing after the next trial of a run."""
    if trial.repetition != standing.repetition:
        standing = closed(standing, plan)
    rates = {} if excluded else _rates(trial)
    slices = {name: rate.slices for name, rate in rates.items() if rate.slices}
    return standing.model_copy(
        update={
            "trials": standing.trials + 1,
            "last": trial.trial,
            "excluded": (*standing.excluded, *([trial.trial] if excluded else [])),
            "repetition": trial.repetition,
            "ended_at": max(filter(None, (test.ended_at for test in trial.tests)), default=None),
            "rates": {
                **standing.rates,
                trial.version: {**standing.rates.get(trial.version, {}), **_values(rates)},
            },
            "slices": {
                **standing.slices,
                trial.version: {**standing.slices.get(trial.version, {}), **slices},
            },
        }
    )


def closed(standing: SequentialRun, plan: Plan) -> SequentialRun:
    """Return a standing whose last repetition is over, with its pairs in the courses."""
    base = standing.rates.get(plan.request.baseline or "")
    if base is None:
        return standing.model_copy(update={"rates": {}, "slices": {}})
    courses = {
        version: {
            _name(quantity): _course_after(standing, plan, version, quantity, base, new)
            for quantity in deciding(plan)
        }
        for version, new in standing.rates.items()
        if version in plan.comparable
    }
    return standing.model_copy(
        update={"rates": {}, "slices": {}, "courses": {**standing.courses, **courses}}
    )


def _course_after(
    standing: SequentialRun,
    plan: Plan,
    version: str,
    quantity: Quantity,
    base: Figures,
    new: Figures,
) -> SequentialMetric:
    """Return the course of a quantity after a repetition with these rates."""
    course, name = standing.course(version, quantity), _name(quantity)
    if is_between(plan, version, quantity):
        if finding(standing, plan, version, quantity):
            return course
        step = SequentialMetric.longer
    else:
        rule = criteria(plan, quantity)._replace(time_for=time_for(standing, plan))
        step = partial(SequentialMetric.after, criteria=rule)
    before, after = base.get(name), new.get(name)
    if before is not None and after is not None:
        own = (standing.slices.get(each, {}) for each in (plan.request.baseline or "", version))
        of_base, of_new = (slices.get(name, ()) for slices in own)
        after = in_round(before, after, (of_base, of_new))
    return course.after_rates(before, after, step)


def standing_of(plan: Plan, trials: Iterable[TrialResult], exclusions: Exclusions) -> SequentialRun:
    """Return the standing after all recorded trials."""
    standing = SequentialRun()
    for trial in trials:
        excluded = exclusions.reason(trial.trial) is not None
        standing = after(standing, plan, trial, excluded=excluded)
    return standing


def undecided(standing: SequentialRun, plan: Plan) -> list[str]:
    """Return the versions that need more pairs; a search compares one version at a time."""
    if plan.request.bisect:
        following = Bisection(plan.request.bisect.versions, findings(standing, plan)).following
        (quantity,) = awaited(plan)
        if following is None or _is_stopped(standing, plan, following, quantity):
            return []
        return [following]
    return [
        version
        for version in plan.compared
        if any(
            finding(standing, plan, version, each) is None
            and not _is_stopped(standing, plan, version, each)
            for each in awaited(plan)
        )
    ]


def _is_stopped(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> bool:
    """Tell whether a quantity gets no further pair, since the run has stopped one of its sides."""
    sides = (plan.request.baseline or "", version)
    return any(labelled_name(each, quantity.axes) in standing.stopped for each in sides)


def findings(standing: SequentialRun, plan: Plan) -> dict[str, Finding]:
    """Return what a search has found of each version that it has compared with the base."""
    (quantity,) = awaited(plan)
    found = {version: finding(standing, plan, version, quantity) for version in plan.compared}
    return {version: each for version, each in found.items() if each}


def ends(standing: SequentialRun, plan: Plan) -> Ends | None:
    """Return the ends of a search; None unless its newest version is slower."""
    search = plan.request.bisect
    if search is None:
        return None
    (quantity,) = awaited(plan)
    rule, newest = criteria(plan, quantity), standing.course(search.versions[-1], quantity)
    if newest.judgement(rule).word != "slower":
        return None
    return Ends((newest.first + newest.pairs).estimate, rule.alpha)


def is_between(plan: Plan, version: str, quantity: Quantity) -> bool:
    """Tell whether a search looks for the end that a version is nearer to in a quantity."""
    search = plan.request.bisect
    return (
        search is not None
        and version != search.versions[-1]
        and follows(search, quantity.metric, quantity.statistic)
    )


def nearer_to(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> str:
    """Return the end of a search that a version between is nearer to, '' if that is not told."""
    search = plan.request.bisect
    if search is None or not is_between(plan, version, quantity):
        return ""
    found = finding(standing, plan, version, quantity)
    ends = {"nearer to the newest": search.versions[-1], "nearer to the base": search.versions[0]}
    return ends.get(found or "", "")


def judged(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> Judgement:
    """Return the verdict on a version against the baseline."""
    course, rule = standing.course(version, quantity), criteria(plan, quantity)
    is_last_look = _is_over(standing, plan) and not course.is_decided
    judgement = course.judgement(rule._replace(is_over=is_last_look))
    if not is_between(plan, version, quantity):
        return judgement
    nearer = nearer_to(standing, plan, version, quantity)
    if nearer and judgement.word != "same":
        return untold(judgement, f"nearer to {nearer}, which a search does not confirm")
    return unconfirmed(judgement, "a search confirms the change of its newest version alone")


def why_untold(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> str:
    """Return why pairs cannot tell a version from the baseline or, between, the nearer end."""
    if is_between(plan, version, quantity):
        return standing.course(version, quantity).given_up or _NO_END_NEARER
    return judged(standing, plan, version, quantity).reason


def finding(
    standing: SequentialRun, plan: Plan, version: str, quantity: Quantity
) -> Finding | None:
    """Return what is decided about a quantity of a version; None if it needs more pairs."""
    course = standing.course(version, quantity)
    if not is_between(plan, version, quantity):
        return judged(standing, plan, version, quantity).word if course.is_decided else None
    between = ends(standing, plan)
    nearer = between.nearer(course.first) if between else "cannot tell"
    is_last = course.is_decided or (between and course.first.count >= plan.request.repetitions)
    return nearer if is_last or nearer != "cannot tell" else None


def following(standing: SequentialRun, plan: Plan, repetitions: int = 1) -> list[PlannedTrial]:
    """Return the trials to measure next: the rest of the repetition, or else the next repetitions.

    A repetition measures the baseline, the canary and the versions that were undecided before the
    first of them.
    """
    rest = list(_missing(standing, plan, standing.repetition))
    if rest or _is_over(standing, plan):
        return rest
    next_one, whole = standing.repetition + 1, closed(standing, plan)
    return [
        trial
        for repetition in range(next_one, next_one + repetitions)
        for trial in _missing(whole, plan, repetition)
    ]


def _is_over(standing: SequentialRun, plan: Plan) -> bool:
    """Tell whether the time of a run is over, and it has the fewest repetitions for a verdict."""
    seconds, within = _seconds(standing, plan), plan.request.within_seconds
    if seconds is None or within is None or standing.repetition < FEWEST:
        return False
    return seconds >= within


def time_for(standing: SequentialRun, plan: Plan) -> int | None:
    """Return the repetitions that a run has time for, if each takes as long as the last.

    Some are measured at once, and those that begin in time go on to their end. None without a limit
    of the time.
    """
    seconds, within = _seconds(standing, plan), plan.request.within_seconds
    if seconds is None or within is None:
        return None
    at_once = plan.request.parallel or 1
    batches = math.ceil(standing.repetition / at_once)
    return max(FEWEST, at_once * math.ceil(within / max(1.0, seconds) * batches))


def _seconds(standing: SequentialRun, plan: Plan) -> float | None:
    """Return the time from the start of a run to the end of its last trial [s], None before it."""
    ended_at = standing.ended_at
    return None if ended_at is None else (ended_at - plan.started_at).total_seconds()


def settled(standing: SequentialRun, plan: Plan) -> SequentialRun:
    """Return a standing with the pairs of its last repetition if that is whole."""
    is_whole = not any(_missing(standing, plan, standing.repetition))
    return closed(standing, plan) if is_whole else standing


def _missing(standing: SequentialRun, plan: Plan, repetition: int) -> Iterator[PlannedTrial]:
    """Yield the trials of a repetition that follow the last one."""
    versions = undecided(standing, plan)
    measured = {plan.request.baseline, plan.request.canary, *versions} if versions else set()
    for trial in plan.trials:
        is_next = trial.repetition == repetition and trial.trial > standing.last
        if is_next and trial.version in measured and trial.name not in standing.stopped:
            yield trial


def _values(rates: Mapping[str, Rate]) -> Figures:
    return {name: rate.value for name, rate in rates.items() if rate.value is not None}


def _rates(trial: TrialResult) -> Mapping[str, Rate]:
    """Return the rates of a trial's quantities, without missing rates and rates with labels."""
    return {
        "/".join(rate_key(test.test, rate)): rate
        for test in trial.tests
        for rate in test.rates
        if rate.value is not None and rate.labels == trial.axes
    }


def _name(quantity: Quantity) -> str:
    return "/".join(quantity.key)
