"""The trials that a run needs, as far as its recorded trials say."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.figures.verdicts.sequential_run import (
    SequentialRun,
    following,
    settled,
    standing_of,
    undecided,
)
from tidemark.model.parameters import count
from tidemark.model.plan import Plan, PlannedTrial, in_turns
from tidemark.model.results import Exclusions, TrialResult
from tidemark.model.run_size import most_trials
from tidemark.model.run_spec import CONFIRMATION, FEWEST
from tidemark.model.suite import MOST_REPETITIONS

_SUSPECTED = "The history suspected a new level, so that the run went on until decided."


def so_far(plan: Plan, trials: Sequence[TrialResult], exclusions: Exclusions) -> Plan:
    """Return a plan with the trials that its run needs, as far as its recorded trials say.

    A fixed plan needs all of its trials. A run until decided needs its recorded trials and, unless
    it is decided, the rest of the repetition or the next one.
    """
    if plan.request.until is None:
        return plan
    standing = standing_of(plan, trials, exclusions)
    plan = with_next_comparison(plan, standing)
    next_trials = following(standing, plan)
    needed = {trial.trial for trial in trials} | {trial.trial for trial in next_trials}
    kept = tuple(trial for trial in plan.trials if trial.trial in needed)
    return plan.model_copy(update={"trials": kept})


def gone_on(plan: Plan) -> Plan:
    """Return the plan of a run of two versions that goes on until decided, as far as it has room.

    Its first trials are the plan's. A plan that pairs cannot decide is returned unchanged.
    """
    request, suite = plan.request, plan.suite
    deciding = [metric for test in suite.tests for metric in test.metrics if metric.decides]
    of_repetition = len(request.measured_versions) * count(request.axes)
    room = (most_trials(suite, request.tasks) - request.profiled_trials) // of_repetition
    most = min(MOST_REPETITIONS, room - CONFIRMATION)
    is_decidable = deciding and not any(metric.labels for metric in deciding)
    if len(request.versions) != 2 or not plan.knows_order or not is_decidable:
        return plan
    if most < max(FEWEST, request.repetitions):
        return plan
    changes = {"until": "decided", "repetitions": most, "note": _SUSPECTED}
    request = request.model_copy(
        update={**changes, "baseline": request.baseline or plan.ascending[0]}
    )
    repetitions = range(1, request.most_repetitions + 1)
    trials = in_turns(request, suite, request.measured_versions, repetitions, seed=plan.seed)
    return plan.model_copy(update={"request": request, "trials": trials})


def with_next_comparison(plan: Plan, standing: SequentialRun) -> Plan:
    """Return the plan of a search with the trials of the comparison that it needs next.

    The new trials replace trials that the previous comparison did not need. A plan that is not a
    search, or lacks no trials, is returned unchanged.
    """
    sought = undecided(settled(standing, plan), plan) if plan.request.bisect else []
    if not sought:
        return plan
    (version,) = sought
    longer = _with_comparison(plan, version, standing)
    # The pairs of the canary may have decided it before the search comes to it.
    return plan if longer == plan else with_next_comparison(longer, standing)


def _with_comparison(plan: Plan, version: str, standing: SequentialRun) -> Plan:
    """Return a plan with the trials that compare a version, unless it has them."""
    ahead = {trial.version for trial in plan.trials if trial.trial > standing.last}
    if version in plan.request.versions and version in ahead:
        return plan
    versions = tuple(dict.fromkeys([*plan.request.versions, version]))
    kept = tuple(trial for trial in plan.trials if trial.trial <= standing.last)
    return plan.model_copy(
        update={
            "request": plan.request.model_copy(update={"versions": versions}),
            "trials": (*kept, *_comparison(plan, version, kept, standing)),
        }
    )


def _comparison(
    plan: Plan, version: str, kept: Sequence[PlannedTrial], standing: SequentialRun
) -> Sequence[PlannedTrial]:
    """Return the trials that compare a version with the base, as many as the run has room for."""
    request = plan.request
    versions = request.side_by_side(version)
    room = (most_trials(plan.suite, request.tasks) - standing.last) // len(versions)
    measured = sum(trial.version == version for trial in kept)
    first = standing.repetition + 1
    return in_turns(
        request,
        plan.suite,
        versions,
        range(first, first + min(room, request.most_repetitions - measured)),
        seed=plan.seed + standing.last,
        first=standing.last + 1,
    )
