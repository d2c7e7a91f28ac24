"""The quotas of an account and region, and how much of them a run needs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.request import RunSpec
from tidemark.model.suite import Suite


class Quota(NamedTuple):
    """A quota of Service Quotas."""

    service: str
    code: str
    name: str


class QuotaUnknown(RuntimeError):
    """A quota without a value from Service Quotas; whether a run fits is not known."""


class Quotas(Protocol):
    """Service Quotas of the account and region."""

    def value(self, quota: Quota) -> float:
        """Return the value of a quota in the account, or else AWS's default.

        Raises
        ------
        QuotaUnknown
            If the service does not return the value.

        """


VCPUS = Quota(service="fargate", code="L-3032A538", name="Fargate On-Demand vCPU resource count")
# ECS has no quota of tasks, but each Fargate task has its own network interface.
INTERFACES = Quota(service="vpc", code="L-DF5E4CA3", name="Network interfaces per Region")
QUOTAS = (VCPUS, INTERFACES)


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
