"""Where a command works: in the cloud of this machine, or in an AWS account."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from cdk.settings import read_settings, written_context
from local.commands.account import in_account
from local.commands.options import state_flag, state_option
from local.commands.this_machine import on_this_machine
from local.deployed import Deployed
from suites.model import MOST_TASKS
from suites.refusal import Refused


@dataclass(frozen=True)
class Target:
    """Where a command works."""

    state: Path
    """The folder of the cloud of this machine, and of what is saved from either."""
    stack: str | None
    """The stack in an AWS account; None is this machine."""
    flags: str = ""
    """How another command is told of the same place, with a space before."""

    @property
    def at_once(self) -> int:
        """How many tasks run side by side and do not wait for each other."""
        return (os.cpu_count() or 1) if self.stack is None else MOST_TASKS

    @property
    def nothing_stored(self) -> str:
        """That there is no run here, and what makes one."""
        return f"no run is stored yet; `tidemark run{self.flags}` measures some versions"

    def not_stored(self, run_id: str, named: str = "RUN") -> Refused:
        """Return that there is no such run here; ``named`` is what named it."""
        return Refused(
            f"{named}: {run_id} is not stored; `tidemark runs{self.flags}` lists those that are"
        )


@contextmanager
def deployed(target: Target, *, shared: bool = False) -> Iterator[Deployed]:
    """Have the app where the command works; what prevents it is one sentence, exit code 1.

    ``shared`` lets other processes of this machine find a cloud of this one's own.
    """
    if target.stack is None:
        with on_this_machine(target.state, shared=shared, flags=target.flags) as here:
            yield here
    else:
        with in_account(target.stack) as there:
            yield there


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options by which a command is told where to work; it gets a ``target``."""

    @state_option
    @click.option("--aws", is_flag=True, help="Work in your AWS account, as the AWS CLI would.")
    @click.option(
        "--stack", metavar="NAME", help="The stack there; if not given, that of cdk.json."
    )
    @functools.wraps(command)
    def told(*, state: Path, aws: bool, stack: str | None, **given: object) -> None:
        if stack is not None and not aws:
            raise Refused(f"--stack: {stack!r} is a stack of an AWS account; it goes with --aws")
        target = _in_account(state, stack) if aws else Target(state, None, state_flag(state))
        command(target=target, **given)

    return told


def _in_account(state: Path, stack: str | None) -> Target:
    if stack is None:
        settled = read_settings(written_context()).stack_name
        return Target(state, settled, f" --aws{state_flag(state)}")
    return Target(state, stack, f" --aws --stack {shlex.quote(stack)}{state_flag(state)}")
