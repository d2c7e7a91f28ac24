"""Where faults happen: a cloud of this process with the scripted system in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.cloud.cloud import Cloud, start_cloud
from local.cloud.deployment import Stack
from local.cloud.replacements import Replacements
from local.following import Run, RunClient
from local.logs.store import LogStore
from tests.faults.wire import Wire

SYSTEM = Path(__file__).parent / "system"
SUITE = "scripted"
LOG_GROUP = f"/Tidemark/{SUITE}"
_POLL_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 600


class NeverHappened(AssertionError):
    """What a fault waited for did not come."""


@dataclass
class Ground:
    """A cloud, and what faults need to act in it.

    Attributes
    ----------
    wire
        Where services can fail.
    replaced
        What a fault replaces of the cloud; put back after it.
    """

    cloud: Cloud
    stack: Stack
    wire: Wire
    replaced: Replacements

    @property
    def client(self) -> RunClient:
        """The runs, as any program would start and follow them."""
        return RunClient(self.cloud.endpoint.client, self.stack)

    @property
    def logs(self) -> LogStore:
        """What was logged, as it is stored."""
        return LogStore(self.cloud.state / "logs")

    def start(self, **asked: object) -> Run:
        """Start a run."""
        return self.client.start({"suite": SUITE, **asked})

    def run(self, *versions: str, **asked: object) -> Run:
        """Measure versions, and one that is healthy beside them; return the run when it has ended.

        Each version is one trial.
        """
        return self.ended(self.start(versions=[*versions, "healthy"], **asked))

    def ended(self, run: Run) -> Run:
        """Return a run when its execution has ended."""
        client = self.client
        self.until(lambda: not client.active(run))
        return run

    def until(self, happened: Callable[[], object]) -> None:
        """Wait for something to happen."""
        deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not happened():
            if time.monotonic() > deadline:
                raise NeverHappened(f"it did not happen within {_LONGEST_WAIT_SECONDS} s")
            time.sleep(_POLL_SECONDS)


def settings(logs_deadline_seconds: int) -> Mapping[str, Any]:
    """Return the app's context: the scripted system, and how long a test waits for its logs."""
    return {"systems": str(SYSTEM), "logsDeadlineSeconds": logs_deadline_seconds}


@contextmanager
def ground(state: Path, logs_deadline_seconds: int) -> Iterator[Ground]:
    """Have a cloud over a state folder, in which no retry waits."""
    wire = Wire()
    with start_cloud(state, context=settings(logs_deadline_seconds), jitter=lambda _: 0.0) as cloud:
        wire.install()
        try:
            yield Ground(cloud, cloud.deploy(), wire, Replacements())
        finally:
            wire.restore()
