"""The quotas of an account and region."""

from __future__ import annotations

from typing import NamedTuple, Protocol


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
