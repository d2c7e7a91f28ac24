"""The target of a command: the cloud of this machine, or a stack in an AWS account."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.options import state_flag, state_option
from tidemark.cli.this_machine import has_results, on_this_machine, stored_on_this_machine
from tidemark.client.deployed import Deployed, Stack, Stored
from tidemark.client.tables import StatementFailed
from tidemark.model.checkout import written_stack
from tidemark.model.refusal import Refused
from tidemark.model.telemetry import CONSOLES

if TYPE_CHECKING:
    from tidemark.model.plan import Plan
    from tidemark.store.bucket import Bucket

# AWS documentation, "AWS Management Console endpoints", "AWS GovCloud", "China".


@contextmanager
def in_account(name: str) -> Iterator[Deployed]:
    """Yield the stack ``name`` of the account; a failure is one sentence with exit code 1."""
    # The import of boto3 takes half a second, which only a command with --aws needs.
    from aws.client import AccountFailed, account  # noqa: PLC0415

    try:
        with account.in_account(name) as stack:
            yield stack
    except AccountFailed as error:
        raise click.ClickException(str(error)) from None


def place(stack: Stack) -> str:
    """Return the place of a stack: ``Tidemark in us-east-1 of account 123456789012``."""
    _, _, _, region, account, resource = stack.arn.split(":", 5)
    return f"{resource.split('/')[1]} in {region} of account {account}"


def console_link(execution_arn: str) -> str | None:
    """Return the link to an execution in the Step Functions console, None if it is unknown."""
    _, partition, _, region, *_ = execution_arn.split(":")
    if partition not in CONSOLES:
        return None
    page = f"https://{region}.{CONSOLES[partition]}/states/home?region={region}"
    return f"{page}#/v2/executions/details/{execution_arn}"


@dataclass(frozen=True)
class Target:
    """The place where a command works."""

    state: Path
    """The folder of this machine's cloud, and of files that are saved from either place."""
    stack: str | None
    """The stack in an AWS account, None for this machine."""
    flags: str = ""
    """The options that give another command the same place, with a space before."""

    @property
    def at_once(self) -> int:
        """The number of tasks that run side by side without waiting for each other."""
        from tidemark.model.parameters import MOST_TASKS  # noqa: PLC0415 (only a run asks for it)

        return (os.cpu_count() or 1) if self.stack is None else MOST_TASKS

    @property
    def is_empty(self) -> bool:
        """Whether this is a state folder without results."""
        return self.stack is None and not has_results(self.state)

    @property
    def nothing_stored(self) -> str:
        """The sentence that no run is stored here, with the command that makes one."""
        return f"no run is stored yet; `tidemark run{self.flags}` measures some versions"

    def plan(self, bucket: Bucket, run_id: str, parameter: str = "RUN") -> Plan:
        """Return the plan of a run; refuse a run that is not stored here."""
        # A command that reads tables alone imports no models.
        from tidemark.store.stored_plan import find_plan  # noqa: PLC0415

        plan = find_plan(bucket, run_id)
        if plan is None:
            raise self.not_stored(run_id, parameter)
        return plan

    def not_stored(self, run_id: str, parameter: str = "RUN") -> Refused:
        """Return the refusal of a run that is not stored here, for a parameter of the command."""
        return Refused(
            f"{parameter}: {run_id} is not stored; `tidemark runs{self.flags}` lists the runs"
        )


@contextmanager
def deployed(target: Target, *, shared: bool = False) -> Iterator[Deployed]:
    """Yield the app at the target; a failure is one sentence with exit code 1.

    With ``shared`` other processes of this machine find a cloud that this process starts.
    """
    if target.stack is None:
        with on_this_machine(target.state, shared=shared, flags=target.flags) as here:
            yield here
    else:
        with in_account(target.stack) as there:
            yield there


@contextmanager
def stored(target: Target, *, new: bool = False) -> Iterator[Stored]:
    """Yield the stored results at the target; on this machine this starts no cloud.

    With ``new`` the state folder may hold no results yet. A failure is one sentence with exit code
    1, or 2 for a statement that Athena refuses.
    """
    try:
        with _stored(target, new=new) as store:
            yield store
    except StatementFailed as error:
        raise Refused(str(error)) from None


def _stored(target: Target, *, new: bool) -> AbstractContextManager[Stored]:
    if target.stack is None:
        return stored_on_this_machine(target.state, target.flags, new=new)
    return in_account(target.stack)


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the target to a command; the command gets a ``target``."""

    @state_option
    @click.option(
        "--aws", is_flag=True, help="Work in your AWS account, with the AWS CLI's settings."
    )
    @click.option(
        "--stack", metavar="NAME", help="Stack in the account; if not given, the stack of cdk.json."
    )
    @functools.wraps(command)
    def wrapper(*, state: Path, aws: bool, stack: str | None, **options: object) -> None:
        if stack is not None and not aws:
            raise Refused(f"--stack: {stack!r} is a stack in an AWS account; it needs --aws")
        target = _in_account(state, stack) if aws else Target(state, None, state_flag(state))
        command(target=target, **options)

    return wrapper


def _in_account(state: Path, stack: str | None) -> Target:
    if stack is None:
        return Target(state, written_stack(), f" --aws{state_flag(state)}")
    return Target(state, stack, f" --aws --stack {shlex.quote(stack)}{state_flag(state)}")
