"""A deployed stack, as a program outside the cloud needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class DeploymentFailed(RuntimeError):
    """A stack that cannot be deployed or used; the message says why."""


@dataclass(frozen=True)
class Stack:
    """A deployed stack."""

    arn: str
    """The StackId, which is unique even among stacks of the same name."""
    outputs: Mapping[str, str]

    @property
    def state_machine(self) -> str:
        """The ARN of the state machine of a run."""
        return self.outputs["StateMachine"]

    @property
    def bucket(self) -> str:
        """The name of the results bucket."""
        return self.outputs["ResultsBucket"]
