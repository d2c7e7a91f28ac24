"""A deployed stack: its results and its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.client.stack import Stack
from tidemark.client.stored import ClaimStatus, Stored

if TYPE_CHECKING:
    from tidemark.client.runs import RunClient


@dataclass(frozen=True)
class Deployed(Stored):
    """A stack of an account or of the one-machine cloud."""

    runs: RunClient
    stack: Stack

    def status_of(self, execution_arn: str) -> ClaimStatus:
        """Return the status of a run that holds a claim, from the ARN of its execution."""
        return "running" if self.runs.is_active(execution_arn) else "ending"
