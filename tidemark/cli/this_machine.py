"""The cloud of this machine with the deployed app, or its stored results, for commands.

The checks of a state folder and of the machine that come before both are here, too.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from onebox.app import DeploymentFailed
from onebox.cloud.cloud_note import Presence, announced, find_cloud, forget, has_ended, make_private
from onebox.store.index import FolderInUse, Index, ObjectFilesError
from tidemark.client.deployed import Deployed, Stack, Stored
from tidemark.model.checkout import (
    context_digest,
    stored_suites,
    written_stack,
    written_systems,
)
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed

if TYPE_CHECKING:
    from onebox.cloud.cloud import Cloud
    from onebox.cloud.endpoint import Endpoint
    from tidemark.client.runs import RunClient
    from tidemark.model.suite import Suite

_Opened = TypeVar("_Opened")
_POLL_SECONDS = 0.5
# A reading command holds the files for less than a second.
_READING_POLL_SECONDS = 0.02
# The very first start synthesises the template; an ending cloud waits for its last functions.
_LONGEST_WAIT_SECONDS = 120
# The template, the functions, the objects and the logs of a small run need a third of it.
_LEAST_ROOM_BYTES = 64 << 20
# A cloud has some 60 threads, a task and a function a few each.
_LEAST_PROCESSES = 200
# The first start synthesises the template.
_START_SECONDS, _FIRST_START_SECONDS = 3.0, 12.0


class CloudLost(click.ClickException):
    """The cloud of another process does not answer a command any more."""


@dataclass(frozen=True)
class Here(Deployed):
    """The app in a running cloud of this or another process."""

    endpoint: Endpoint
    pid: int | None
    """The process that runs the cloud, None for this process."""


@contextmanager
def empty_cloud(state: Path, port: int) -> Iterator[Cloud]:
    """Yield a new cloud of this process without a stack, for deployments by the CDK CLI.

    Other processes find the cloud as soon as it has the stack of the settings.
    """
    with ExitStack() as opened:
        found = _start(state, port, opened)
        if isinstance(found, Presence):
            raise in_use(state, found.endpoint, found.pid)
        found.bootstrap()
        opened.enter_context(announced(state, found.endpoint, written_stack(), _about()))
        yield found


def in_use(state: Path, endpoint: Endpoint, pid: int) -> click.ClickException:
    """Return the error that another process already runs the cloud of the state folder."""
    return click.ClickException(
        f"--state: process {pid} runs the cloud of {state} already, at {endpoint.url}"
    )


@contextmanager
def on_this_machine(
    state: Path, port: int = 0, *, shared: bool = False, flags: str = ""
) -> Iterator[Here]:
    """Yield the cloud of the state folder: a running one, or else a new one of this process.

    With ``shared`` other processes find the new cloud, and it stays until their runs have ended.
    Without it no folder is made, and other commands wait until the cloud is gone. A failure is
    one sentence with exit code 1. ``flags`` are the options that give another command the same
    folder.

    Raises
    ------
    Refused
        If the cloud is not ``shared`` and the folder holds no results.

    """
    if not shared:
        check_state(state, flags)
    with ExitStack() as opened:
        found = _start(state, port, opened)
        if isinstance(found, Presence):
            opened.enter_context(_one_sentence_if_gone(state, found, flags))
            yield _here(found.endpoint, _stack(found), found.pid)
            return
        here = _deploy(found, flags)
        if shared:
            with announced(state, here.endpoint, here.stack.arn, _about()):
                yield here
                _await_others(here)
        else:
            yield here


@contextmanager
def stored_on_this_machine(state: Path, flags: str = "", *, new: bool = False) -> Iterator[Stored]:
    """Yield the results in a state folder, from its files or from its running cloud.

    The command fails at its end if it has read damaged objects; it has shown all others by then.
    With ``new`` a folder without results becomes a state folder.

    Raises
    ------
    Refused
        If the folder holds no results and may not be ``new``.

    """
    if new:
        _make(state)
    else:
        check_state(state, flags)
    with ExitStack() as opened:
        try:
            yield _open(state, flags, opened)
        except ObjectFilesError as error:
            raise click.ClickException(str(error)) from None


def _damage() -> dict[str, None]:
    """Return sentences about damage, none yet; with any, the command ends with exit code 1.

    It ends with the sentences, and with their number if there are several.
    """
    sentences: dict[str, None] = {}

    def end() -> None:
        count = f"{len(sentences)} objects are damaged; all others are shown."
        if sentences:
            told = [*sentences, count] if len(sentences) > 1 else sentences
            raise click.ClickException("\n".join(told))

    if context := click.get_current_context(silent=True):
        context.call_on_close(end)
    return sentences


def _open(state: Path, flags: str, opened: ExitStack) -> Stored:
    from tidemark.one_machine.stored import stored_in  # noqa: PLC0415

    def read() -> Stored:
        damaged = _damage()
        stored = stored_in(state, written_stack(), stored_suites(), damaged.setdefault)
        return replace(opened.enter_context(stored), damaged=damaged)

    found = _first_of(state, read, _READING_POLL_SECONDS)
    if isinstance(found, Stored):
        return found
    opened.enter_context(_one_sentence_if_gone(state, found, flags))
    return _here(found.endpoint, _stack(found), found.pid)


def _first_of(
    state: Path, opening: Callable[[], _Opened], poll_seconds: float
) -> _Opened | Presence:
    """Return the running cloud of a state folder, or what opens its files once they are free."""
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while True:
        if found := find_cloud(state):
            return found
        try:
            return opening()
        except FolderInUse as error:
            # Another process is reading the files, or is starting or ending its cloud.
            if time.monotonic() > deadline:
                raise click.ClickException(f"{error} Give this command another --state.") from None
            time.sleep(poll_seconds)
        except PermissionError as error:
            raise _unusable(state, error) from None


def await_files(state: Path) -> None:
    """Wait until no other process has the files of a state folder open.

    Raises
    ------
    Refused
        If one keeps them for long.

    """
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    file = state / "objects" / "index.sqlite"
    while file.is_file():
        try:
            Index(file).close()
        except FolderInUse as error:
            if time.monotonic() > deadline:
                raise Refused(f"--state: {error}") from None
            time.sleep(_READING_POLL_SECONDS)
        except (ObjectFilesError, OSError):  # damaged
            return
        else:
            return


def _start(state: Path, port: int, opened: ExitStack) -> Cloud | Presence:
    """Return the running cloud, or else a new one of this process."""
    if found := find_cloud(state):
        return found
    check_processes()
    _make(state)
    # On import moto looks up the user's AWS profile and fails if it does not exist.
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)
    # The import of moto takes seconds, so it follows the check of the input.
    from onebox.cloud.cloud import start_cloud  # noqa: PLC0415
    from onebox.cloud.server import PortTaken  # noqa: PLC0415
    from tidemark.one_machine.app import machine_app  # noqa: PLC0415

    def start() -> Cloud:
        cloud = opened.enter_context(start_cloud(machine_app(), state, port))
        forget(state)
        return cloud

    try:
        return _first_of(state, start, _POLL_SECONDS)
    except (ObjectFilesError, PortTaken) as error:
        raise click.ClickException(str(error)) from None


def _make(state: Path) -> None:
    try:
        make_private(state)
    except OSError as error:
        raise _unusable(state, error) from None
    check_room(state)


def has_results(state: Path) -> bool:
    """Tell whether a state folder holds results."""
    try:
        return (state / "objects").is_dir()
    except OSError as error:
        raise _unusable(state, error) from None


def starting_seconds(state: Path) -> float:
    """Return about how long the cloud of a state folder takes to start on an idle machine [s]."""
    if find_cloud(state):
        return 0.0
    return _START_SECONDS if (state / "assemblies").is_dir() else _FIRST_START_SECONDS


def check_state(state: Path, flags: str) -> None:
    """Refuse a state folder that holds no results."""
    if not has_results(state):
        raise Refused(
            f"--state: {state} holds no results; expected the state folder of a run "
            f"(`tidemark run{flags}` makes one)"
        )


def check_cloud(state: Path, suite: Suite) -> None:
    """Refuse a state folder whose cloud has another copy of a suite or of the settings."""
    # Commands that only read start without the models of suites.
    from tidemark.model.suite_asset import copy_digest  # noqa: PLC0415

    found, systems = find_cloud(state), written_systems()
    if found is None:
        return
    cloud = f"process {found.pid} runs the cloud of {state}"
    advice = "give this command another --state, or wait for the end of that process"
    if found.about["systems"] != str(systems):
        suites = f"with the suites of {found.about['systems']}, not of {systems}"
        raise Refused(f"--state: {cloud} {suites}; {advice}")
    if found.about["context"] != context_digest():
        raise Refused(f"--state: {cloud}, which read cdk.json before its last edit; {advice}")
    copied = _stack(found).digests(suite.name)
    if copied[0] != copy_digest(suite, systems):
        edit = f"copied {suite.name} and its log queries before their last edit"
        raise Refused(f"suite: {cloud}, which {edit}; {advice}")


def _about() -> dict[str, str]:
    """Return what other commands need to know of this command's suites and settings."""
    return {"systems": str(written_systems()), "context": context_digest()}


def _stack(found: Presence) -> Stack:
    return Stack(found.stack.arn, found.stack.outputs)


def check_room(state: Path, more_bytes: int = 0) -> None:
    """Refuse a state folder on a disk without room for the files of a cloud, and for more."""
    existing = next(folder for folder in (state, *state.parents) if folder.exists())
    free, least = shutil.disk_usage(existing).free, _LEAST_ROOM_BYTES + more_bytes
    if free < least:
        raise Refused(
            f"--state: {free >> 20:,} MiB are free on the disk of {state}; expected at least "
            f"{least >> 20:,} MiB"
        )


def check_processes() -> None:
    """Refuse a start if this user may have too few processes and threads; raise a soft limit."""
    import psutil  # noqa: PLC0415

    limit = resource.RLIMIT_NPROC
    soft, hard = resource.getrlimit(limit)
    if soft != hard:
        resource.setrlimit(limit, (hard, hard))
    # The kernel counts the threads of all processes of a user, but of root's none.
    if os.geteuid() == 0 or hard == resource.RLIM_INFINITY:
        return
    own = (each for each in psutil.process_iter(["uids", "num_threads"]) if each.info["uids"])
    running = sum(
        each.info["num_threads"] or 1 for each in own if each.info["uids"].real == os.getuid()
    )
    if hard - running < _LEAST_PROCESSES:
        raise Refused(
            f"ulimit -u: this user may have {hard:,} processes and threads, and {running:,} run; "
            f"expected room for {_LEAST_PROCESSES} more, which a cloud needs"
        )


def _unusable(state: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"--state: {state} cannot be used: {error.strerror}")


def _here(endpoint: Endpoint, stack: Stack, pid: int | None) -> Here:
    from aws.client.deployed import deployed_stack  # noqa: PLC0415

    damaged = _damage()
    found = deployed_stack(endpoint.client, stack, _POLL_SECONDS, damaged.setdefault)
    parts = found.bucket, found.tables, found.publisher, found.runs
    return Here(*parts, stack, endpoint, pid, damaged=damaged)


def _deploy(cloud: Cloud, flags: str) -> Here:
    from tidemark.one_machine.app import deploy  # noqa: PLC0415

    try:
        stack = deploy(cloud, schedules=False)
    except DeploymentFailed as error:
        raise click.ClickException(str(error)) from None
    here = _here(cloud.endpoint, stack, None)
    dead = here.runs.end_dead()
    cloud.start_schedules()
    _report_dead(here.runs, dead, flags)
    return here


def _report_dead(client: RunClient, dead: Collection[str], flags: str) -> None:
    if not client.await_end(dead):
        click.echo(
            f"These runs are unfinished and have not been ended yet: {listed(dead)}.", err=True
        )
        return
    # A reading command starts no cloud and needs no models; `runs` reads by this module.
    from tidemark.cli.runs import ending  # noqa: PLC0415
    from tidemark.store.run_ends import find_outcome  # noqa: PLC0415
    from tidemark.store.stored_run import read_progress  # noqa: PLC0415

    for run_id in dead:
        outcome, progress = (
            find_outcome(client.bucket, run_id),
            read_progress(client.bucket, run_id),
        )
        text = ending(run_id, outcome, progress, flags)
        click.echo(f"Run {run_id} was found unfinished: {text}", err=True)


def _await_others(here: Here) -> None:
    client = here.runs
    if client.any_active():
        click.echo(
            "A run of another terminal uses the cloud of this command. This command waits for the "
            "end of that run; Ctrl-C ends both.",
            err=True,
        )
    while client.any_active():
        time.sleep(_POLL_SECONDS)


@contextmanager
def _one_sentence_if_gone(state: Path, found: Presence, flags: str) -> Iterator[None]:
    from onebox.cloud.endpoint import GONE  # noqa: PLC0415

    try:
        yield
    except GONE:
        answering = find_cloud(state)
        if answering and answering.pid == found.pid:
            raise
        raise CloudLost(_lost(found, flags)) from None


def _lost(found: Presence, flags: str) -> str:
    """Return why the cloud of another process may not answer any more."""
    cloud, runs = f"the cloud at {found.endpoint.url}", f"`tidemark runs{flags}` shows"
    if has_ended(found.pid):
        why = f"is gone: process {found.pid} has ended. Finished trials are kept"
        return f"{cloud} {why}; {runs} how each run ended."
    why = f"does not answer: process {found.pid} is ending it, or has too much to do"
    return f"{cloud} {why}; {runs} whether each run has ended."
