"""The quotas of an account and region that a run needs at its widest moment."""

from __future__ import annotations

from collections.abc import Iterator

from suites.model import Frozen, Suite
from suites.request import Settled


class Quota(Frozen):
    """A quota as Service Quotas knows it."""

    service: str
    code: str
    name: str


VCPUS = Quota(service="fargate", code="L-3032A538", name="Fargate On-Demand vCPU resource count")
# ECS has no quota of tasks as such: each task of Fargate has a network interface of its own.
INTERFACES = Quota(service="vpc", code="L-DF5E4CA3", name="Network interfaces per Region")
QUOTAS = (VCPUS, INTERFACES)


def needed(request: Settled, suite: Suite) -> Iterator[tuple[Quota, float]]:
    """Yield how much of each quota a run needs: one trial, one test of it, all tasks at once."""
    yield VCPUS, request.tasks * suite.task.cpu / 1024
    yield INTERFACES, request.tasks
