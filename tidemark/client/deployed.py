"""A deployed stack: its stored results, their publisher, its runs and its services."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tidemark.client.tables import Tables
from tidemark.store.bucket import Bucket

if TYPE_CHECKING:
    from tidemark.client.runs import RunClient


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


ClaimStatus = Literal["running", "ending", "interrupted"]
"""``ending``: the execution has ended, but the outcome is not recorded yet. ``interrupted``: the
cloud of the run is down, and the next cloud records the outcome."""


@dataclass(frozen=True)
class Stored:
    """The results of one stack: its bucket, its tables and their publisher."""

    bucket: Bucket
    tables: Tables
    publisher: Publisher
    check: Callable[[], None] = field(default=lambda: None, kw_only=True)
    """A function that raises an error if the names of stored objects are damaged."""
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


class Publisher(Protocol):
    """A publisher that works from stored results."""

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them."""

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the keys of ``md``, ``html`` and ``json``.

        Raises
        ------
        Refused
            If a side is not stored.

        """

    def refresh(self) -> None:
        """Refresh the reports in QuickSight, if there are any."""


class FunctionPublisher:
    """A publisher that invokes the functions of a deployed stack."""

    def __init__(self, functions: Functions, machines: StateMachines, stack: Stack) -> None:
        self._functions, self._machines, self._stack = functions, machines, stack

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""
        self._functions.invoke(self._stack.outputs["RecordRatesFunction"], {"run_id": run_id})

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""
        self._functions.invoke(self._stack.outputs["PublishReportFunction"], {"run_id": run_id})

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them."""
        for run_id in run_ids:
            self.report(run_id)
        for run_id in run_ids:
            self.rates(run_id)

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the key of each form."""
        event = {"suite": suite, "base": base, "new": new}
        return self._functions.invoke(self._stack.outputs["PublishComparisonFunction"], event)

    def refresh(self) -> None:
        """Start the state machine that refreshes QuickSight, if the stack has one."""
        if machine := self._stack.outputs.get("RefreshStateMachine"):
            self._machines.start(machine, "", "{}")


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
