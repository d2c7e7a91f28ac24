"""A deployed stack, and its services besides the results bucket and the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


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

    def digests(self, suite: str) -> tuple[str, str]:
        """Return the digests of the stack's copies of a suite and of its programs.

        They are empty for a suite that it does not have.
        """
        copies = dict(each.split("=") for each in self.outputs["Suites"].split())
        of_suite, _, of_programs = copies.get(suite, "").partition(".")
        return of_suite, of_programs

    @property
    def bucket(self) -> str:
        """The name of the results bucket."""
        return self.outputs["ResultsBucket"]


class FunctionFailed(RuntimeError):
    """A Lambda function that failed; the message names the function and the error."""


class StateMachines(Protocol):
    """State machines and their executions."""

    def start(self, machine: str, name: str, execution_input: str) -> tuple[str, datetime]:
        """Start an execution of the machine with this ARN; return its own ARN and start in UTC."""

    def status(self, execution: str) -> tuple[str, str]:
        """Return an execution's status and the cause of its failure, '' if there is none.

        ``GONE`` is the status of an execution that the service does not know.
        """

    def stop(self, execution: str, cause: str) -> None:
        """Stop an execution."""

    def any_running(self, machine: str) -> bool:
        """Tell whether any execution of a state machine is running."""

    def states_entered(self, execution: str) -> list[str] | None:
        """Return the names of the states that an execution entered, None if it is unknown."""


class Functions(Protocol):
    """Lambda functions."""

    def invoke(self, name: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return a function's answer to an event.

        Raises
        ------
        Refused
            If the function refused the event; the sentence is the function's.
        FunctionFailed
            If the function failed.

        """

    def send(self, name: str, event: Mapping[str, Any]) -> None:
        """Send a function an event without waiting for it."""
