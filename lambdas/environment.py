"""The environment variables that the stack sets for the functions, with their types."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from tidemark.run.ecs_resources import System


class Environment:
    """The variables of a function; one that its stack did not set raises KeyError."""

    @property
    def bucket(self) -> str:
        """Name of the results bucket."""
        return os.environ["BUCKET"]

    @property
    def stack(self) -> str:
        """Name of the stack."""
        return os.environ["STACK"]

    @property
    def topic(self) -> str:
        """ARN of the topic of outcomes."""
        return os.environ["TOPIC"]

    @property
    def systems(self) -> Mapping[str, System]:
        """ECS task definition and log groups of each suite."""
        systems: Mapping[str, Mapping[str, Any]] = json.loads(os.environ["SYSTEMS"])
        return {suite: System(**fields) for suite, fields in systems.items()}

    @property
    def logs_deadline_seconds(self) -> float:
        """The longest wait for the logs of a test after its tasks have ended [s]."""
        return float(os.environ["LOGS_DEADLINE_SECONDS"])

    @property
    def region(self) -> str:
        """Region of the stack."""
        return os.environ["AWS_REGION"]

    @property
    def endpoint_url(self) -> str | None:
        """Endpoint of the one-machine cloud; None in AWS."""
        return os.environ.get("AWS_ENDPOINT_URL")

    @property
    def cluster(self) -> str:
        """ARN of the cluster that tasks run in; for the functions that find or stop tasks."""
        return os.environ["CLUSTER"]

    @property
    def trial_state_machine(self) -> str:
        """ARN of the state machine of a trial; for the functions that end runs."""
        return os.environ["TRIAL_STATE_MACHINE"]

    @property
    def schedules(self) -> Mapping[str, str]:
        """Name of each suite's schedule; for the functions that end runs."""
        schedules: Mapping[str, str] = json.loads(os.environ.get("SCHEDULES", "{}"))
        return schedules
