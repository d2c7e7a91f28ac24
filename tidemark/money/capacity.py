"""The capacity that a run needs at once, and the quotas of the account and region."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tidemark.model.parameters import combinations
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.run_spec import RunSpec
from tidemark.model.suite import Suite
from tidemark.model.telemetry import LOGGER


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


_logger = logging.getLogger(LOGGER)


def needed(request: RunSpec, suite: Suite) -> Iterator[tuple[Quota, float]]:
    """Yield how much of each quota a run needs at once: in all rounds that it measures at once."""
    for quota, amount in _of_round(request, suite):
        yield quota, amount * (request.parallel or 1)


def most_parallel(quotas: Quotas, request: RunSpec, suite: Suite) -> int:
    """Return how many rounds of a run the quotas allow at once, 1 at least.

    A quota that cannot be read allows all, and is logged.
    """
    rooms = (_value(quotas, quota) / amount for quota, amount in _of_round(request, suite))
    return max(1, int(min(request.at_once, *rooms)))


def _value(quotas: Quotas, quota: Quota) -> float:
    """Return the value of a quota, infinity if it cannot be read."""
    try:
        return quotas.value(quota)
    except QuotaUnknown as reason:
        _logger.warning("%s; the run starts, and may lack capacity", reason)
        return math.inf


def _of_round(request: RunSpec, suite: Suite) -> Iterator[tuple[Quota, float]]:
    """Yield what a round needs of each quota: all tasks of a step and services run at once."""
    tasks = suite.most_at_once(request.tasks)
    services = [
        [suite.services[name].task_under(axes).cpu for name in test.services]
        for test in suite.tests
        for axes in combinations(request.axes)
    ]
    yield VCPUS, (tasks * suite.task.cpu + max(map(sum, services))) / 1024
    yield INTERFACES, tasks + max(map(len, services))


def check(quotas: Quotas, plan: Plan) -> None:
    """Refuse a run that needs more than a quota at once.

    The quota's other uses in the account are not known, and not subtracted. A quota that cannot
    be read is logged and refuses nothing: tasks without capacity fail with a reason of their own.

    Raises
    ------
    Refused
        If a quota is too small; the message has its name, its value and the need.

    """
    tasks = plan.suite.most_at_once(plan.request.tasks) * (plan.request.parallel or 1)
    for quota, amount in needed(plan.request, plan.suite):
        value = _value(quotas, quota)
        if amount > value:
            raise Refused(
                f"tasks: {tasks} at once need {amount:g} of the quota {quota.name!r} "
                f"({quota.service} {quota.code}), which is {value:g} in this "
                "account and region; ask for fewer, or have the quota raised"
            )
