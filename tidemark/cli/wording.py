"""Sentences about durations, costs and the ends of runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tidemark.model.numerals import duration
from tidemark.model.sentences import plural

if TYPE_CHECKING:  # a command without a model does not import it
    from tidemark.client.deployed import ClaimStatus
    from tidemark.model.outcome import Outcome
    from tidemark.model.plan import Estimate
    from tidemark.store.stored_run import Progress

_CLOSE = 1.25


def around(least: float, most: float) -> str:
    """Return a time between two [s]: ``about 2 min 5 s``, or ``about 2 to 5 min``.

    One time is within 25 % of both.
    """
    if most <= _CLOSE**2 * least:
        return f"about {duration(math.sqrt(least * most))}"
    low, unit_low = _rough(least)
    high, unit_high = _rough(most)
    if not float(low):
        return f"at most {high} {unit_high}"
    return f"about {low}{'' if unit_low == unit_high else f' {unit_low}'} to {high} {unit_high}"


def _rough(seconds: float) -> tuple[str, str]:
    """Return a time in two digits at most, and its unit: whole minutes would be a third off."""
    if seconds < 90:
        return f"{seconds:.0f}", "s"
    minutes = seconds / 60
    return (f"{minutes:.2g}", "min") if minutes < 90 else (f"{minutes / 60:.1f}", "h")


def cost(expected: Estimate, share: float = 1.0) -> str:
    """Return the cost of a share of a run on AWS, ``about 0.05 USD``, or its upper limit."""
    return f"{bound(expected)} {share * expected.usd:,.2f} USD"


def bound(expected: Estimate) -> str:
    """Return ``about``, or ``at most`` for an estimate from time limits."""
    return "about" if expected.basis == "declared times" else "at most"


def ending(run_id: str, outcome: Outcome | None, progress: Progress | None, flags: str = "") -> str:
    """Return how a run ended: ``aborted, 4 of 9 trials kept; resume it with …``.

    ``flags`` are the options that give a command the place of the run.
    """
    status = outcome.status if outcome else "without an outcome"
    kept = f", {progress.recorded} of {plural(progress.planned, 'trial')} kept" if progress else ""
    return f"{status}{kept}{resume_hint(run_id, progress, flags, before='; ')}"


def active_state(run_id: str, progress: Progress, status: ClaimStatus, flags: str = "") -> str:
    """Return the state of a run that holds a claim, and the command that ends it.

    ``is active, 4 of 9 trials recorded; `tidemark stop …` ends it``
    """
    recorded = f"{progress.recorded} of {plural(progress.planned, 'trial')} recorded"
    if status == "interrupted":
        return (
            f"was interrupted, {recorded}; `tidemark run --resume {run_id}{flags}` resumes "
            f"it, `tidemark stop {run_id}{flags}` ends it"
        )
    return f"is active, {recorded}; `tidemark stop {run_id}{flags}` ends it"


def resume_hint(run_id: str, progress: Progress | None, flags: str = "", before: str = "") -> str:
    """Return how to resume a run, '' if no trial is missing."""
    if progress is None or progress.recorded == progress.planned:
        return ""
    return f"{before}resume it with `tidemark run --resume {run_id}{flags}`"
