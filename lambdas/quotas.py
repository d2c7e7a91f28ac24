"""Whether the account's quotas hold a run, before it is started."""

from __future__ import annotations

from lambdas.aws import Quotas
from suites.plan import Plan
from suites.quotas import needed
from suites.refusal import Refused


def check(quotas: Quotas, plan: Plan) -> None:
    """Refuse a run whose widest moment needs more than a quota.

    What else runs in the account is not known, and not subtracted.

    Raises
    ------
    Refused
        With the quota's name, its value and what is needed.
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
