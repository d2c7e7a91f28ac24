"""The environment variables that the stack sets for the functions, with their types."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Json

from tidemark.run.links import ObjectLinks
from tidemark.run.system import System


class Environment(BaseModel):
    """The variables of every function."""

    model_config = ConfigDict(frozen=True, alias_generator=str.upper)

    bucket: str
    """Name of the results bucket."""
    stack: str
    topic: str
    """ARN of the topic of outcomes."""
    systems: Json[Mapping[str, System]]
    """ECS task definition and log groups of each suite."""
    logs_deadline_seconds: float
    """The longest wait for the logs of a test after its tasks have ended [s]."""
    aws_region: str
    aws_endpoint_url: str | None = None
    """Endpoint of the one-machine cloud; None in AWS."""

    @classmethod
    def read(cls) -> Self:
        """Return the environment; raise pydantic's ValidationError if a variable is missing."""
        return cls.model_validate(dict(os.environ))

    def links(self) -> ObjectLinks:
        """Return the links to objects of the results bucket."""
        # AWS SDKs and Tools Reference, "Service-specific endpoints": only the one-machine cloud
        # sets this variable, and it has no console.
        return ObjectLinks(self.bucket, self.aws_region, in_console=self.aws_endpoint_url is None)


class EndingEnvironment(Environment):
    """The variables of the functions that end runs."""

    cluster: str
    """ARN of the cluster that tasks run in."""
    trial_state_machine: str
    """ARN of the state machine of a trial."""
    schedules: Json[Mapping[str, str]] = {}
    """Name of each suite's schedule."""
