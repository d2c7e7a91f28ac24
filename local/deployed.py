"""The app where it is deployed, and what is asked of it: runs, and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from local.following import RunClient
from local.sql_client import SqlClient
from local.stack import Stack


@dataclass(frozen=True)
class Deployed:
    """A deployed app. ``client`` gives a boto3 client of its cloud by the service's name."""

    client: Callable[[str], Any]
    stack: Stack
    poll_seconds: float
    """How long to wait before asking again how a run goes on [s]."""

    def runs(self) -> RunClient:
        """Return a client of its runs."""
        return RunClient(self.client, self.stack, self.poll_seconds)

    def tables(self) -> SqlClient:
        """Return a client of its tables."""
        return SqlClient(self.client, self.stack)
