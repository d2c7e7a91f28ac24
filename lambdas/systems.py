"""Where the system tests of each suite run: what the stack tells the functions."""

from __future__ import annotations

import json
import os

from suites.model import Frozen


class System(Frozen):
    """The ECS side of one suite."""

    task_definition: str
    """ARN with revision: a family's name would run whatever revision came last."""
    container: str
    log_group: str
    stream_prefix: str
    usage_log_group: str | None = None
    """Where Container Insights logs what tasks use; None if it is not on."""

    def stream(self, task_id: str) -> str:
        """Return the log stream that the awslogs driver gives to a task."""
        return f"{self.stream_prefix}/{self.container}/{task_id}"


def system(suite: str) -> System:
    """Return where a suite's tests run, from ``SYSTEMS``; KeyError for an unknown suite."""
    return System.model_validate(json.loads(os.environ["SYSTEMS"])[suite])
