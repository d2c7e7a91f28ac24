"""A new run's plan: its trials in their order, its prices and its estimate."""

from __future__ import annotations

import hashlib
from datetime import datetime

from tidemark import __version__
from tidemark.model.plan import Plan
from tidemark.model.run_id import FIRST_PROFILED
from tidemark.model.run_spec import RunSpec
from tidemark.model.suite import Suite
from tidemark.model.trial_order import in_turns
from tidemark.money.estimate import estimate
from tidemark.money.prices import list_prices


def make_plan(
    request: RunSpec, suite: Suite, *, name: str, execution_arn: str, started_at: datetime
) -> Plan:
    """Return the plan of run ``name``; the same arguments give the same plan.

    The plan of a search has the trials of its first comparison.
    """
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    suite = suite.in_layout(request.layout)
    canonical = suite.model_dump_json().encode()
    repetitions = range(1, request.most_repetitions + 1)
    profiles = range(1, request.profile.trials + 1) if request.profile else ()
    return Plan(
        run_id=name,
        execution_arn=execution_arn,
        started_at=started_at,
        request=request,
        suite=suite,
        suite_digest=hashlib.sha256(canonical).hexdigest(),
        seed=seed,
        trials=in_turns(request, suite, request.measured_versions, repetitions, seed=seed),
        profiled=in_turns(
            request, suite, request.versions, profiles, seed=seed, first=FIRST_PROFILED
        ),
        tidemark_version=__version__,
        prices=list_prices(),
        estimate=estimate(request, suite, list_prices()),
    )
