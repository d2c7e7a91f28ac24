"""Numbers and endings as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a command that has no model starts without it
    from local.results import Progress
    from suites.estimate import Estimate


def duration(seconds: float) -> str:
    """Return a duration in the units that suit it: ``3.2 s``, ``2 min 5 s``, ``1 h 4 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def cost(expected: Estimate, share: float = 1.0) -> str:
    """Return what a share of a run costs on AWS: ``about 0.05 USD``, or the most that it may."""
    how = "about" if expected.basis == "declared times" else "at most"
    return f"{how} {share * expected.usd:,.2f} USD"


def plural(count: int, noun: str) -> str:
    """Return ``1 task`` or ``2 tasks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def ending(
    run_id: str, outcome: Mapping[str, Any] | None, progress: Progress | None, flags: str = ""
) -> str:
    """Return how a run ended: ``aborted, 4 of 9 trials kept; resume it with …``.

    ``flags`` tell a command where the run is.
    """
    status = outcome["status"] if outcome else "without an outcome"
    kept = f", {progress.recorded} of {plural(progress.planned, 'trial')} kept" if progress else ""
    return f"{status}{kept}{resume_hint(run_id, progress, flags, before='; ')}"


def going_on(run_id: str, progress: Progress, flags: str = "") -> str:
    """Return how far a run is: ``goes on, 4 of 9 trials recorded; `tidemark stop …` ends it``."""
    recorded = f"{progress.recorded} of {plural(progress.planned, 'trial')} recorded"
    return f"goes on, {recorded}; `tidemark stop {run_id}{flags}` ends it"


def resume_hint(run_id: str, progress: Progress | None, flags: str = "", before: str = "") -> str:
    """Return how to go on with a run, '' if none of its trials is missing."""
    if progress is None or progress.recorded == progress.planned:
        return ""
    return f"{before}resume it with `tidemark run --resume {run_id}{flags}`"
