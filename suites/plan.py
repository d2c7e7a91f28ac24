"""The plan of a run: which trials there are, in which order, and what they should take."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from datetime import datetime

from suites import __version__
from suites.estimate import Estimate, estimate
from suites.model import Frozen, Suite
from suites.prices import LIST_PRICES, Prices
from suites.request import Settled
from suites.versions import version_order


class PlannedTrial(Frozen):
    """Every test of the suite, once, for one version."""

    trial: int
    version: str
    package: str
    repetition: int


class Plan(Frozen):
    """What one run is going to measure: ``runs/<run_id>/plan.json``."""

    run_id: str
    execution_arn: str
    started_at: datetime
    request: Settled
    suite: Suite
    suite_digest: str
    seed: int
    trials: tuple[PlannedTrial, ...]
    tidemark_version: str | None = None
    """That which made the plan; None if it did not say."""
    prices: Prices | None = None
    """Those of its time; None if it did not say."""
    estimate: Estimate | None = None
    """What it was expected to take; None if nobody said."""

    @property
    def compared(self) -> tuple[str, ...]:
        """The versions that are compared with the baseline, in order; none without one."""
        baseline = self.request.baseline
        others = (version for version in self.request.versions if version != baseline)
        return tuple(sorted(others, key=version_order)) if baseline else ()


def run_id(mark: object, started_at: datetime) -> str:
    """Return a run's name: its start in UTC and six hexadecimal digits of what marks it, JSON.

    That is the name of its execution, or the input of a start that a schedule delivers again: what
    stays the same when a state is tried again names the same run.
    """
    text = json.dumps(mark, sort_keys=True)
    return f"{started_at:%Y%m%dT%H%M%SZ}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def trial_execution(run_id: str, trial: int, execution_arn: str) -> str:
    """Return the name of the execution of one trial, started by the execution of this ARN.

    A run that is resumed has several executions, and a name is given to one execution only.
    """
    return f"{run_id}-{trial}-{_mark(execution_arn)}"


def is_trial_execution(name: str, run_id: str, execution_arn: str) -> bool:
    """Tell whether a name is that of a trial of a run, started by the execution of this ARN."""
    return name.startswith(f"{run_id}-") and name.endswith(f"-{_mark(execution_arn)}")


def _mark(execution_arn: str) -> str:
    return hashlib.sha256(execution_arn.encode()).hexdigest()[:6]


def make_plan(
    request: Settled, suite: Suite, *, name: str, execution_arn: str, started_at: datetime
) -> Plan:
    """Return the plan of run ``name``; the same arguments give the same plan.

    Versions take turns, in an order that is shuffled anew for each repetition: what changes on
    the machine during a run then meets all versions alike (randomised complete block design).
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
        prices=LIST_PRICES,
        estimate=estimate(request, suite, LIST_PRICES),
    )


def _trials(request: Settled, suite: Suite, shuffle: random.Random) -> tuple[PlannedTrial, ...]:
    order: list[tuple[int, str]] = []
    for repetition in range(1, request.repetitions + 1):
        order += [(repetition, version) for version in _shuffled(request.versions, shuffle)]
    return tuple(
        PlannedTrial(
            trial=number,
            version=version,
            package=suite.requirement(version),
            repetition=repetition,
        )
        for number, (repetition, version) in enumerate(order, start=1)
    )


def _shuffled(versions: Sequence[str], shuffle: random.Random) -> list[str]:
    return shuffle.sample(versions, len(versions))
