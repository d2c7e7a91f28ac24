"""The note ``cloud.json``, by which other processes find the cloud of a state folder.

The note is a hint: a killed process leaves it behind. A reader of the note asks the cloud itself.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.client.stack import DeploymentFailed, Stack
from tidemark.model.context import context_digest, written_systems

if TYPE_CHECKING:
    from onebox.cloud.endpoint import Endpoint

_PATIENCE_SECONDS = 10
_PORTS = 1 << 16


@dataclass(frozen=True)
class Presence:
    """A cloud that is up, and the id of its process."""

    endpoint: Endpoint
    stack: Stack
    pid: int
    systems: str | None = None
    """The folder of its suites; None in the note of an older version."""
    context: str | None = None
    """The digest of its settings; None in the note of an older version."""


@contextmanager
def announced(state: Path, endpoint: Endpoint, stack: str) -> Iterator[None]:
    """Let other processes find this process's cloud, once it has the stack of this name or ARN."""
    note = state / "cloud.json"
    unfinished = note.with_suffix(f".{os.getpid()}")
    content = {
        "port": endpoint.port,
        "key": endpoint.key,
        "pid": os.getpid(),
        "stack": stack,
        "systems": str(written_systems()),
        "context": context_digest(),
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
    (state / "cloud.json").unlink(missing_ok=True)


def find_cloud(state: Path) -> Presence | None:
    """Return the cloud that is up on a state folder, in any process; None if there is none."""
    try:
        note = json.loads((state / "cloud.json").read_text(encoding="utf-8"))
        port, key, pid, arn = (note[name] for name in ("port", "key", "pid", "stack"))
        os.kill(pid, 0)
    # No note, half of one, or one of a process that has ended.
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    if port not in range(1, _PORTS):
        return None
    found = _ask(port, str(key), arn, pid)
    return found and replace(found, systems=note.get("systems"), context=note.get("context"))


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


def _ask(port: int, key: str, arn: str, pid: int) -> Presence | None:
    # boto3 takes half a second to import: a command waits for it only where a cloud may be up.
    from aws.client.cloudformation import find_stack  # noqa: PLC0415
    from onebox.cloud.endpoint import GONE, Endpoint  # noqa: PLC0415

    endpoint = Endpoint(port, key)
    try:
        stack = find_stack(endpoint.client("cloudformation", _PATIENCE_SECONDS), arn)
    except (*GONE, DeploymentFailed):
        return None
    return Presence(endpoint, stack, pid)
