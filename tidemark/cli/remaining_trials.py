"""The trials that an active run still has to measure, and the verdicts that it has decided."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from tidemark.client.results import Results
from tidemark.figures.verdicts.needed_trials import with_next_comparison
from tidemark.figures.verdicts.power import missing
from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    awaited,
    criteria,
    ends,
    finding,
    following,
    is_between,
    judged,
    settled,
    undecided,
    why_untold,
)
from tidemark.figures.version_rates import Quantity
from tidemark.model.axes import count
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.run_spec import CONFIRMATION


class Ahead(NamedTuple):
    """The rest of a run."""

    trial: PlannedTrial | None
    """The current trial; None after the last one."""
    trials: int
    """The number of trials that are left; an estimate for a run until decided."""
    decided: tuple[str, ...] = ()
    """The decided verdicts in words."""
    open: int = 0
    """The number of verdicts that are not decided."""


def ahead(results: Results, plan: Plan, known: Collection[int]) -> Ahead:
    """Return what is left of a run whose trials ``known`` are recorded."""
    if plan.request.until is None:
        left = [trial for trial in plan.all_trials if trial.trial not in known]
        return Ahead(left[0] if left else None, len(left))
    standing = results.standing(plan.run_id)
    if known and not standing.trials:  # the standing is deleted when the run ends
        return Ahead(None, 0)
    standing = settled(standing, plan)
    plan = with_next_comparison(plan, standing)
    profiled = [trial for trial in plan.profiled if trial.trial not in known]
    left = [trial for trial in following(standing, plan) if trial.trial not in known] + profiled
    decided = tuple(_decided(standing, plan))
    total = len(plan.compared) * len(awaited(plan))
    trials = _expected(standing, plan) + len(profiled)
    return Ahead(left[0] if left else None, trials, decided, total - len(decided))


def _decided(standing: SequentialRun, plan: Plan) -> Iterator[str]:
    """Yield each decided verdict; an alarm is none until new pairs confirm it."""
    for version in plan.compared:
        for quantity in awaited(plan):
            if found := finding(standing, plan, version, quantity):
                judgement = judged(standing, plan, version, quantity)
                why = why_untold(standing, plan, version, quantity)
                reason = f": {why}" if found == "cannot tell" else ""
                confirmed = " new" if standing.course(version, quantity).again else ""
                told = f"{found} after {judgement.pairs}{confirmed} pairs{reason}"
                yield f"decided  {version:>8}  {quantity.name} {told}"


def _expected(standing: SequentialRun, plan: Plan) -> int:
    """Return about how many trials are left if rates change and scatter as before."""
    versions = undecided(standing, plan)
    repetitions = [
        _missing(standing, plan, version, quantity)
        for version in versions
        for quantity in awaited(plan)
        if finding(standing, plan, version, quantity) is None
    ]
    measured = {plan.request.baseline, plan.request.canary, *versions} - {None}
    return len(measured) * count(plan.request.axes) * max(repetitions, default=0)


def _missing(standing: SequentialRun, plan: Plan, version: str, quantity: Quantity) -> int:
    course, between = standing.course(version, quantity), ends(standing, plan)
    if between and is_between(plan, version, quantity):
        return between.missing(course.first)
    most = CONFIRMATION if course.again else plan.request.repetitions
    rule = course.of_stage(criteria(plan, quantity))
    return missing(course.pairs, rule, most) or most - course.pairs.count
