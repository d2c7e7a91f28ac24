"""The capacity that a run needs at once, against the quotas of the account and region."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.request import RunSpec
from tidemark.model.suite import Suite
from tidemark.money.quotas import INTERFACES, VCPUS, Quota, Quotas


def needed(request: RunSpec, suite: Suite) -> Iterator[tuple[Quota, float]]:
    """Yield how much of each quota a run needs: all tasks of a test run at once."""
    yield VCPUS, request.tasks * suite.task.cpu / 1024
    yield INTERFACES, request.tasks


def check(quotas: Quotas, plan: Plan) -> None:
    """Refuse a run that needs more than a quota at once.

    The quota's other uses in the account are not known, and not subtracted.

    Raises
    ------
    Refused
        If a quota is too small; the message has its name, its value and the need.
    QuotaUnknown
        If a quota cannot be read: the run might wait for capacity that the account never has.

    """
    for quota, amount in needed(plan.request, plan.suite):
        value = quotas.value(quota)
        if amount > value:
            raise Refused(
                f"tasks: {plan.request.tasks} at once need {amount:g} of the quota "
                f"{quota.name!r} ({quota.service} {quota.code}), which is {value:g} in this "
                "account and region; ask for fewer, or have the quota raised"
            )
