"""Stored results: their readers, their publisher and their exclusions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from tidemark.client.history import Row
from tidemark.client.publisher import Publisher
from tidemark.client.results import Results
from tidemark.client.tables import Tables

ClaimStatus = Literal["running", "ending", "interrupted"]
"""``ending``: the execution has ended, but the outcome is not recorded yet. ``interrupted``: the
cloud of the run is down, and the next cloud records the outcome."""


@dataclass(frozen=True)
class Stored:
    """The results of one stack: its bucket, its tables and their publisher."""

    results: Results
    tables: Tables
    publisher: Publisher
    damaged: Collection[str] = field(default=(), kw_only=True)
    """A sentence about each damaged object that was left out of an answer so far."""

    def status_of(self, execution_arn: str) -> ClaimStatus:
        """Return the status of a run that holds a claim, from the ARN of its execution.

        Without a cloud no execution runs.
        """
        return "interrupted"

    def exclude(self, run_id: str, trial: int | None, reason: str, *, excluded: bool) -> None:
        """Exclude a trial, or the whole run, from every figure, or include it again."""
        self.results.exclude(run_id, trial, reason, excluded=excluded)
        self.publisher.rates(run_id)
        self.publisher.report(run_id)
        # The end of a run refreshes QuickSight, and here no run ends.
        self.publisher.refresh()

    def acknowledge(self, changes: Sequence[Row], reason: str, until: date) -> None:
        """Accept the levels since some changes, which are rows of ``level_changes.sql``."""
        for row in changes:
            place = row["changed_run"] or "", row["test"] or "", row["metric"] or ""
            self.results.acknowledge(row["suite"] or "", place, reason, until)
        # The newest run of a suite has its changes of level.
        for run_id in {row["run_id"] or "" for row in changes}:
            self.publisher.report(run_id)
        self.publisher.refresh()
