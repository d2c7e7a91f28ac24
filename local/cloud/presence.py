"""The note ``cloud.json``, by which other processes find the cloud of a state folder.

The note is a hint: a killed process leaves it behind. A reader of the note asks the cloud itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.client.stack import DeploymentFailed, Stack

if TYPE_CHECKING:
    from local.cloud.endpoint import Endpoint

_URL = re.compile(r"http://localhost:(\d{1,5})")  # nothing that is not on this machine
_PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class Presence:
    """A cloud that is up, and the id of its process."""

    endpoint: Endpoint
    stack: Stack
    pid: int


@contextmanager
def announced(state: Path, endpoint: Endpoint, stack: str) -> Iterator[None]:
    """Let other processes find this process's cloud, once it has the stack of this name or ARN."""
    note = state / "cloud.json"
    unfinished = note.with_suffix(f".{os.getpid()}")
    content = {"url": endpoint.url, "pid": os.getpid(), "stack": stack}
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
        url, pid, arn = (note[name] for name in ("url", "pid", "stack"))
        port = _URL.fullmatch(url)
        os.kill(pid, 0)
    # No note, half of one, or one of a process that has ended.
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return _ask(int(port[1]), arn, pid) if port else None


def _ask(port: int, arn: str, pid: int) -> Presence | None:
    # boto3 takes half a second to import: a command waits for it only where a cloud may be up.
    from aws.client.cloudformation import find_stack  # noqa: PLC0415
    from local.cloud.endpoint import GONE, Endpoint  # noqa: PLC0415

    endpoint = Endpoint(port)
    try:
        stack = find_stack(endpoint.client("cloudformation", _PATIENCE_SECONDS), arn)
    except (*GONE, DeploymentFailed):
        return None
    return Presence(endpoint, stack, pid)
