"""The decisions of people on stored results: trials that do not count, and accepted levels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tidemark.client.deployed import Stored
from tidemark.client.history import Row
from tidemark.store import history, run_objects


def exclude(stored: Stored, run_id: str, trial: int | None, reason: str, *, excluded: bool) -> None:
    """Exclude a trial, or the whole run, from every figure, or include it again."""
    run_objects.exclude(stored.bucket, run_id, trial, reason, excluded=excluded)
    stored.publisher.rates(run_id)
    stored.publisher.report(run_id)
    # The end of a run refreshes QuickSight, and here no run ends.
    stored.publisher.refresh()


def acknowledge(stored: Stored, changes: Sequence[Row], reason: str, until: date) -> None:
    """Accept the levels since some changes, which are rows of ``level_changes.sql``."""
    for row in changes:
        place = row["changed_run"] or "", row["test"] or "", row["metric"] or ""
        history.acknowledge(stored.bucket, row["suite"] or "", place, reason, until)
    # The newest run of a suite has its changes of level.
    for run_id in {row["run_id"] or "" for row in changes}:
        stored.publisher.report(run_id)
    stored.publisher.refresh()
