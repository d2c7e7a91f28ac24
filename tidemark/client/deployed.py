"""A deployed stack: its stored results and its runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tidemark.client.ports import Stack
from tidemark.client.publisher import Publisher
from tidemark.client.tables import Tables
from tidemark.store.bucket import Bucket

if TYPE_CHECKING:
    from tidemark.client.runs import RunClient


ClaimStatus = Literal["running", "ending", "interrupted"]
"""``ending``: the execution has ended, but the outcome is not recorded yet. ``interrupted``: the
cloud of the run is down, and the next cloud records the outcome."""


@dataclass(frozen=True)
class Stored:
    """The results of one stack: its bucket, its tables and their publisher."""

    bucket: Bucket
    tables: Tables
    publisher: Publisher
    damaged: Collection[str] = field(default=(), kw_only=True)
    """A sentence about each damaged object that was left out of an answer so far."""

    def status_of(self, execution_arn: str) -> ClaimStatus:
        """Return the status of a run that holds a claim, from the ARN of its execution.

        Without a cloud no execution runs.
        """
        return "interrupted"


@dataclass(frozen=True)
class Deployed(Stored):
    """A stack of an account or of the one-machine cloud."""

    runs: RunClient
    stack: Stack

    def status_of(self, execution_arn: str) -> ClaimStatus:
        """Return the status of a run that holds a claim, from the ARN of its execution."""
        return "running" if self.runs.is_active(execution_arn) else "ending"
