"""The cloud of this machine that a command works in, with the app deployed."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from local.cloud.object_files import FolderInUse, ObjectFilesError
from local.commands.wording import ending
from local.deployed import Deployed
from local.following import RunClient
from local.presence import GONE, Presence, announced, find_cloud, forget
from local.stack import DeploymentFailed, Stack
from suites.refusal import Refused, listed

if TYPE_CHECKING:
    from local.cloud.cloud import Cloud
    from local.cloud.endpoint import Endpoint

_POLL_SECONDS = 0.2
# The first start of all synthesises the template; a cloud that ends waits for its last functions.
_LONGEST_WAIT_SECONDS = 120


@dataclass(frozen=True)
class Here(Deployed):
    """The app in a cloud that is up, of this process or of another one."""

    endpoint: Endpoint
    pid: int | None
    """Whose it is; None if it is this process's own."""


@contextmanager
def empty_cloud(state: Path, port: int) -> Iterator[Cloud]:
    """Have a cloud of this process without a stack, for the CDK CLI to deploy into.

    Other processes find it as soon as it has the stack of the settings.
    """
    with ExitStack() as opened:
        found = _start(state, port, opened)
        if isinstance(found, Presence):
            raise in_use(state, found.endpoint, found.pid)
        found.bootstrap()
        opened.enter_context(announced(state, found.endpoint, found.settings.stack_name))
        yield found


def in_use(state: Path, endpoint: Endpoint, pid: int) -> click.ClickException:
    """Return that another process has the cloud of the state folder up."""
    return click.ClickException(
        f"--state: process {pid} has the cloud of {state} up already, at {endpoint.url}"
    )


@contextmanager
def on_this_machine(
    state: Path, port: int = 0, *, shared: bool = False, flags: str = ""
) -> Iterator[Here]:
    """Have the cloud of the state folder: the one that is up, or else one of this process.

    ``shared`` lets other processes find it. At the end of the command it then stays for as long as
    their runs go on in it. Who only reads does not share: its cloud is gone in a moment, and others
    wait for that; and nothing is made for it. What prevents a cloud is said in one sentence, exit
    code 1. ``flags`` tell another command of the same folder.

    Raises
    ------
    Refused
        If it is not ``shared``, and the folder is none that holds results.

    """
    if not shared:
        check_kept(state, flags)
    with ExitStack() as opened:
        found = _start(state, port, opened)
        if isinstance(found, Presence):
            opened.enter_context(_told_if_gone(state, found, flags))
            yield _here(found.endpoint, found.stack, found.pid)
            return
        own = _deploy(found, flags)
        if shared:
            with announced(state, own.endpoint, own.stack.arn):
                yield own
                _await_others(own)
        else:
            yield own


def _start(state: Path, port: int, opened: ExitStack) -> Cloud | Presence:
    """Return the cloud that is up, or else a new one of this process."""
    if already := find_cloud(state):
        return already
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(state, error) from None
    # moto looks for the user's AWS profile as it is imported, and fails if there is none.
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)
    # moto takes seconds to import: not before the input has been accepted.
    from local.cloud.cloud import start_cloud  # noqa: PLC0415
    from local.cloud.server import PortTaken  # noqa: PLC0415

    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    try:
        while True:
            try:
                cloud = opened.enter_context(start_cloud(state, port))
                forget(state)
                return cloud
            except FolderInUse as error:
                # Another process starts its cloud, or ends it.
                if time.monotonic() > deadline:
                    raise click.ClickException(f"{error} Give this one --state.") from None
                time.sleep(_POLL_SECONDS)
            if found := find_cloud(state):
                return found
    except (ObjectFilesError, PortTaken) as error:
        raise click.ClickException(str(error)) from None
    except PermissionError as error:
        raise _unusable(state, error) from None


def check_kept(state: Path, flags: str) -> None:
    """Refuse a folder that holds no results: what it names is another, or not there."""
    try:
        kept = (state / "objects").is_dir()
    except OSError as error:
        raise _unusable(state, error) from None
    if not kept:
        raise Refused(
            f"--state: {state} holds no results; expected the folder of a run, which "
            f"`tidemark run{flags}` would make of it"
        )


def _unusable(state: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"--state: {state} cannot be used: {error.strerror}")


def _here(endpoint: Endpoint, stack: Stack, pid: int | None) -> Here:
    return Here(endpoint.client, stack, _POLL_SECONDS, endpoint, pid)


def _deploy(cloud: Cloud, flags: str) -> Here:
    try:
        stack = cloud.deploy(schedules=False)
    except DeploymentFailed as error:
        raise click.ClickException(str(error)) from None
    own = _here(cloud.endpoint, stack, None)
    dead = own.runs().end_dead()
    cloud.start_schedules()
    _tell_of_the_dead(own.runs(), dead, flags)
    return own


def _tell_of_the_dead(client: RunClient, dead: Collection[str], flags: str) -> None:
    if not client.await_end(dead):
        click.echo(f"Run {listed(dead)} was found unfinished, and is not ended yet.", err=True)
        return
    for run_id in dead:
        outcome, progress = client.results.outcome(run_id), client.results.progress(run_id)
        ended = ending(run_id, outcome, progress, flags)
        click.echo(f"Run {run_id} was found unfinished: {ended}", err=True)


def _await_others(own: Here) -> None:
    client = own.runs()
    if client.any_active():
        click.echo(
            "A run of another terminal goes on in the cloud of this command, which waits for it; "
            "Ctrl-C ends both.",
            err=True,
        )
    while client.any_active():
        time.sleep(_POLL_SECONDS)


@contextmanager
def _told_if_gone(state: Path, found: Presence, flags: str) -> Iterator[None]:
    try:
        yield
    except GONE:
        if find_cloud(state) == found:
            raise
        raise click.ClickException(
            f"the cloud at {found.endpoint.url} is gone: process {found.pid}, which had it, has "
            f"ended. What was measured is kept; `tidemark runs{flags}` shows how each run ended."
        ) from None
