"""How other processes find the cloud that is up on a state folder: the note ``cloud.json`` in it.

The note is a hint: a process that is killed leaves it behind. Who reads it asks the cloud itself.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from local.cloud.endpoint import Endpoint
from local.stack import DeploymentFailed, Stack, find_stack

# What a client may meet where a cloud has gone, or something else has its port.
GONE = (BotoCoreError, ClientError, ResponseParserError)

_URL = re.compile(r"http://localhost:(\d{1,5})")  # nothing that is not on this machine
_PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class Presence:
    """A cloud that is up, and the id of the process that has it."""

    endpoint: Endpoint
    stack: Stack
    pid: int


@contextmanager
def announced(state: Path, endpoint: Endpoint, stack: str) -> Iterator[None]:
    """Let other processes find this process's cloud, once it has the stack of this name or ARN."""
    note = state / "cloud.json"
    unfinished = note.with_suffix(f".{os.getpid()}")
    said = {"url": endpoint.url, "pid": os.getpid(), "stack": stack}
    unfinished.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    unfinished.rename(note)  # in one step: a reader finds all of it or nothing
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def forget(state: Path) -> None:
    """Take away the note of a process that was killed; for who has the folder to itself."""
    (state / "cloud.json").unlink(missing_ok=True)


def find_cloud(state: Path) -> Presence | None:
    """Return the cloud that is up on a state folder, in any process; None if there is none."""
    try:
        said = json.loads((state / "cloud.json").read_text(encoding="utf-8"))
        url, pid, arn = (said[name] for name in ("url", "pid", "stack"))
        port = _URL.fullmatch(url)
        os.kill(pid, 0)
    # No note, half of one, or one of a process that has ended.
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    if port is None:
        return None
    endpoint = Endpoint(int(port[1]))
    try:
        stack = find_stack(endpoint.client("cloudformation", _PATIENCE_SECONDS), arn)
    except (*GONE, DeploymentFailed):
        return None
    return Presence(endpoint, stack, pid)
