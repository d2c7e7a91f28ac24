"""Sentences about active runs and the ends of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.model.sentences import plural

if TYPE_CHECKING:  # a command without a model does not import it
    from tidemark.client.deployed import ClaimStatus
    from tidemark.model.outcome import Outcome
    from tidemark.store.stored_run import Progress


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
