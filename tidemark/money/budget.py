"""The budget of a run: the cost of its trials so far, and whether the next trial may start."""

from collections.abc import Iterable

from tidemark.model.base import Frozen
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.money.estimate import count_trials, estimate
from tidemark.money.prices import list_prices
from tidemark.money.run_cost import run_cost

# Tasks that stopped so have run; ECS may have forgotten for how long.
_RAN = {"stray", "timeout", "unknown"}


class Spent(Frozen):
    """The cost of a run's recorded trials: their tasks and log queries [USD]."""

    trials: tuple[int, ...] = ()
    """The numbers of the trials that are counted, with the profiled trials."""
    usd: float = 0.0
    dearest: float = 0.0
    """The highest known cost of a trial."""


def counted(spent: Spent, plan: Plan, trials: Iterable[TrialResult]) -> Spent:
    """Return ``spent`` with the cost of the next trials.

    A trial without a complete record, such as a lost trial, counts with its expected cost.
    """
    for trial in trials:
        cost = run_cost(plan, [trial])
        known = cost.total if cost else 0.0
        # A trial that ended early does not show the cost of a whole trial.
        whole = known if cost and trial.status == "ok" else max(known, expected_usd(spent, plan))
        spent = Spent(
            trials=(*spent.trials, trial.trial),
            usd=spent.usd + (whole if cost is None or _unknown(trial) else known),
            dearest=max(spent.dearest, whole),
        )
    return spent


def expected_usd(spent: Spent, plan: Plan) -> float:
    """Return what the next trial may cost [USD]: the highest known cost, or else the estimate."""
    if spent.dearest:
        return spent.dearest
    expected = plan.estimate or estimate(plan.request, plan.suite, plan.prices or list_prices())
    return expected.measuring_usd / count_trials(plan.request, plan.suite)


def passed(spent: Spent, plan: Plan, budget_usd: float, trials: int = 1) -> str | None:
    """Return a sentence on why the next trials may not start, None if the budget has room."""
    following = expected_usd(spent, plan) * trials
    if spent.usd + following <= budget_usd:
        return None
    bound = "at most " if plan.request.until else ""
    number = "" if trials == 1 else f"{trials} "
    return (
        f"budget_usd: {_usd(spent.usd)} of {_usd(budget_usd)} are spent by "
        f"{len(spent.trials)} of {bound}{plan.request.all_trials} trials, and the "
        f"next {number}may cost {_usd(following)}; resume the run with a greater budget"
    )


def _unknown(trial: TrialResult) -> bool:
    """Tell whether some of what a failed trial has used is not recorded.

    If its execution died, the trial failed, but none of its tests did. Else a task ran without a
    known time.
    """
    died = all(test.status in {"ok", "skipped"} for test in trial.tests)
    tasks = (task for test in trial.tests for task in test.tasks)
    timeless = any(task.stop_category in _RAN and not task.seconds for task in tasks)
    return trial.status == "failed" and (died or timeless)


def _usd(amount: float) -> str:
    return f"{amount:,.4f} USD"
