"""A run's budget: what its trials have cost so far, and whether the next may be started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lambdas.cost import run_cost
from lambdas.results import TrialResult
from lambdas.resumes import Resume
from suites.estimate import estimate
from suites.model import Frozen
from suites.plan import Plan
from suites.prices import LIST_PRICES


class Spent(Frozen):
    """What the trials of a run that are recorded have cost: their tasks and log queries [USD]."""

    trials: int = 0
    usd: float = 0.0
    dearest: float = 0.0
    """The most that a trial is known to cost."""


def latest_budget(plan: Plan, resumes: Sequence[Resume]) -> float | None:
    """Return the budget that a run was given last [USD], None if it never was given one.

    ``resumes`` are in the order of time; one without a budget leaves what there was.
    """
    given = [plan.request.budget_usd, *(resume.budget_usd for resume in resumes)]
    return next((budget for budget in reversed(given) if budget is not None), None)


def counted(spent: Spent, plan: Plan, trials: Iterable[TrialResult]) -> Spent:
    """Return ``spent`` with the next trials.

    A trial of which not all is recorded, since it was lost, counts as what a trial may cost.
    """
    for trial in trials:
        cost = run_cost(plan, [trial])
        known = cost.total if cost else 0.0
        # What did not come to its end says nothing of what a whole trial costs.
        whole = known if cost and trial.status == "ok" else max(known, expected_usd(spent, plan))
        spent = Spent(
            trials=spent.trials + 1,
            usd=spent.usd + (whole if cost is None or _lost(trial) else known),
            dearest=max(spent.dearest, whole),
        )
    return spent


def expected_usd(spent: Spent, plan: Plan) -> float:
    """Return what the next trial may cost [USD]: the most that one did, or else the estimate."""
    if spent.dearest:
        return spent.dearest
    expected = plan.estimate or estimate(plan.request, plan.suite, plan.prices or LIST_PRICES)
    return expected.measuring_usd / len(plan.trials)


def passed(spent: Spent, plan: Plan, budget_usd: float) -> str | None:
    """Return in a sentence why the next trial is not started; None if the budget has room."""
    following = expected_usd(spent, plan)
    if spent.usd + following <= budget_usd:
        return None
    return (
        f"budget_usd: {_usd(spent.usd)} of {_usd(budget_usd)} are spent by "
        f"{spent.trials} of {len(plan.trials)} trials, and the next may cost {_usd(following)}; "
        "resume the run with a greater budget"
    )


def _lost(trial: TrialResult) -> bool:
    """Tell whether a trial failed though none of its tests did: its execution died."""
    return trial.status == "failed" and all(
        test.status in {"ok", "skipped"} for test in trial.tests
    )


def _usd(amount: float) -> str:
    return f"{amount:,.4f} USD"
