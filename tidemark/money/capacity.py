"""The capacity that a run needs at once, against the quotas of the account and region."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from tidemark.model.axes import combinations
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.run_spec import RunSpec
from tidemark.model.suite import Suite
from tidemark.model.telemetry import LOGGER
from tidemark.money.quotas import INTERFACES, VCPUS, Quota, Quotas, QuotaUnknown

_logger = logging.getLogger(LOGGER)


def needed(request: RunSpec, suite: Suite) -> Iterator[tuple[Quota, float]]:
    """Yield how much of each quota a run needs at once: in all rounds that it measures at once."""
    for quota, amount in _of_round(request, suite):
        yield quota, amount * (request.parallel or 1)


def most_parallel(quotas: Quotas, request: RunSpec, suite: Suite) -> int:
    """Return how many rounds of a run the quotas allow at once, 1 at least.

    Raises
    ------
    QuotaUnknown
        If a quota cannot be read.

    """
    rooms = (quotas.value(quota) / amount for quota, amount in _of_round(request, suite))
    return max(1, int(min(request.at_once, *rooms)))


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
        try:
            value = quotas.value(quota)
        except QuotaUnknown as reason:
            _logger.warning("%s; the run starts, and may lack capacity", reason)
            continue
        if amount > value:
            raise Refused(
                f"tasks: {tasks} at once need {amount:g} of the quota {quota.name!r} "
                f"({quota.service} {quota.code}), which is {value:g} in this "
                "account and region; ask for fewer, or have the quota raised"
            )
