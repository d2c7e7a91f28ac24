"""The record of a resume, ``runs/<run_id>/resumes/<name>.json``, and the budget that it leaves."""

from collections.abc import Sequence
from datetime import datetime

from tidemark.model.frozen import Frozen
from tidemark.model.plan import Plan


class Resume(Frozen):
    """An execution that resumed a run after an early end, with the fields of its request."""

    execution_arn: str
    started_at: datetime
    trigger: str
    note: str
    budget_usd: float | None = None
    """The new budget of the run [USD]; None keeps the last budget."""


def latest_budget(plan: Plan, resumes: Sequence[Resume]) -> float | None:
    """Return the last budget of a run [USD], None if it never had one.

    ``resumes`` are in the order of time; a resume without a budget keeps the last one.
    """
    budgets = [plan.request.budget_usd, *(resume.budget_usd for resume in resumes)]
    return next((budget for budget in reversed(budgets) if budget is not None), None)
