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

    def digests(self, suite: str) -> tuple[str, str] | None:
        """Return the digests of the stack's copies of a suite and of its programs.

        They are empty for a suite that it does not have. Return None if it does not say, since an
        older Tidemark deployed it.
        """
        if "Suites" not in self.outputs:
            return None
        copies = dict(each.split("=") for each in self.outputs["Suites"].split())
        of_suite, _, of_programs = copies.get(suite, "").partition(".")
        return of_suite, of_programs

    @property
    def bucket(self) -> str:
        """The name of the results bucket."""
        return self.outputs["ResultsBucket"]
