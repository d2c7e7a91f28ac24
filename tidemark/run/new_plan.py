"""A new run's plan: its trials in their order, its prices and its estimate."""

from __future__ import annotations

import hashlib
import random
from datetime import datetime

from tidemark import __version__
from tidemark.model.axes import combinations
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.request import RunSpec, requirement
from tidemark.model.suite import Suite
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices


def make_plan(
    request: RunSpec, suite: Suite, *, name: str, execution_arn: str, started_at: datetime
) -> Plan:
    """Return the plan of run ``name``; the same arguments give the same plan.

    Versions, the canary among them, take turns, in an order that is shuffled for each repetition of
    each combination of axes: a change of the machine during a run then affects all versions alike
    (randomised complete block design).
    """
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    canonical = suite.model_dump_json().encode()
    return Plan(
        run_id=name,
        execution_arn=execution_arn,
        started_at=started_at,
        request=request,
        suite=suite,
        suite_digest=hashlib.sha256(canonical).hexdigest(),
        seed=seed,
        trials=_trials(request, suite, random.Random(seed)),  # noqa: S311 (order, no secret)
        tidemark_version=__version__,
        prices=list_prices(),
        estimate=estimate(request, suite, list_prices()),
    )


def _trials(request: RunSpec, suite: Suite, shuffle: random.Random) -> tuple[PlannedTrial, ...]:
    order = [
        (repetition, axes, version)
        for repetition in range(1, request.most_repetitions + 1)
        for axes in combinations(request.axes)
        for version in shuffle.sample(request.measured, len(request.measured))
    ]
    return tuple(
        PlannedTrial(
            trial=number,
            version=version,
            package=requirement(request, suite, version),
            repetition=repetition,
            axes=axes,
        )
        for number, (repetition, axes, version) in enumerate(order, start=1)
    )
