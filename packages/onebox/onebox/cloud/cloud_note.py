"""The note ``cloud.json``, by which other processes find the cloud of a state folder.

The note is a hint: a killed process leaves it behind. A reader of the note asks the cloud itself.
"""

from __future__ import annotations

import errno
import json
import os
import select
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onebox.app import Stack
from onebox.disk import read_regular

if TYPE_CHECKING:
    from onebox.cloud.endpoint import Endpoint


_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_NOTE = "cloud.json"


def make_private(state: Path) -> None:
    """Make the folder unless it exists, and close it and its note to all other users.

    Where no mount namespace covers the folder, a task can open it.

    Raises
    ------
    OSError
        If the folder cannot be made or closed, or is one that all users share, such as ``/tmp``.

    """
    state.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    mode = state.stat().st_mode
    if mode & stat.S_ISVTX:
        raise PermissionError(errno.EPERM, "all users share this folder", str(state))
    if not os.access(state, os.W_OK):  # a mounted backup, which no cloud uses
        return
    if mode & _OTHERS:
        state.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    note = state / _NOTE
    with suppress(FileNotFoundError):
        if note.stat().st_mode & _OTHERS:
            note.chmod(stat.S_IRUSR | stat.S_IWUSR)


_PATIENCE_SECONDS = 10
_WHOLE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
_PORTS = 1 << 16
_FIELDS = ("port", "key", "pid", "stack", "about")


@dataclass(frozen=True)
class Presence:
    """A cloud that is up, and the id of its process."""

    endpoint: Endpoint
    stack: Stack
    pid: int
    about: Mapping[str, str]
    """The facts that the owner of the cloud noted about the app."""


@contextmanager
def announced(
    state: Path, endpoint: Endpoint, stack: str, about: Mapping[str, str]
) -> Iterator[None]:
    """Let other processes find this process's cloud, once it has the stack of this name or ARN.

    ``about`` is noted for them, too.
    """
    note = state / _NOTE
    unfinished = note.with_suffix(f".{os.getpid()}")
    content = {
        "port": endpoint.port,
        "key": endpoint.key,
        "pid": os.getpid(),
        "stack": stack,
        "about": dict(about),
    }
    # The key lets its holder do all that the cloud does, as this user.
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    unfinished.rename(note)  # in one step: a reader finds all of it or nothing
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def forget(state: Path) -> None:
    """Delete the note of a killed process; only for the process that has the folder."""
    (state / _NOTE).unlink(missing_ok=True)


def find_cloud(state: Path) -> Presence | None:
    """Return the cloud that is up on a state folder, in any process; None if there is none."""
    try:
        note = json.loads(read_regular(state / _NOTE))
        port, key, pid, arn, about = (note[name] for name in _FIELDS)
        os.kill(pid, 0)
    # No note, half of one, or one of a process that has ended.
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    if port not in range(1, _PORTS):
        return None
    # boto3 takes half a second to import: a command waits for it only where a cloud may be up.
    from onebox.cloud.endpoint import GONE, Endpoint  # noqa: PLC0415

    endpoint = Endpoint(port, str(key))
    try:
        stack = describe(endpoint.client("cloudformation", _PATIENCE_SECONDS), arn)
    except GONE:
        return None
    return Presence(endpoint, stack, pid, about) if stack else None


def has_ended(pid: int) -> bool:
    """Tell whether a process has ended, also if its parent has not asked for its exit code yet."""
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([ended], [], [], 0)[0])
    finally:
        os.close(ended)


def describe(cloudformation: Any, name: str) -> Stack | None:  # noqa: ANN401 (of boto3)
    """Return a stack by its name or ARN, None if it is not created whole."""
    (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if stack["StackStatus"] not in _WHOLE:
        return None
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return Stack(stack["StackId"], outputs)
