"""The slowness of this machine now, and the turns of the runs that measure on it."""

from __future__ import annotations

import os
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from tidemark.cli.target import Target
from tidemark.model.run_spec import RunSpec

# Work that needs a core alone: zlib releases Python's lock.
_TEXT = bytes(range(256)) * 4096
_ROUNDS = 100
# The time of the work on an idle core of the machine that the declared times of suites are from.
_IDLE_SECONDS = 0.3


def slowness(request: RunSpec, target: Target) -> float:
    """Return how many times as long the tasks of a run take here now as on an idle machine.

    Return 1 for a run in an account.
    """
    if target.stack is not None:
        return 1.0
    start = time.monotonic()
    threads = min(target.at_once, request.tasks)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(_work, range(threads)))
    return (time.monotonic() - start) / _IDLE_SECONDS


def _work(_: int) -> None:
    for _ in range(_ROUNDS):
        zlib.compress(_TEXT)


# A name of Linux's abstract namespace: it is of no folder and no user, and its process's end frees
# it.
_TURN = "\0tidemark.measuring"
_BESIDE = "TIDEMARK_BESIDE_OTHERS"
_POLL_SECONDS = 0.5
_MOST_UNANSWERED = 3


@contextmanager
def turn(tell: Callable[[str], None], name: str = _TURN) -> Iterator[None]:
    """Yield as soon as no other process measures on this machine, whatever its state folder.

    Two runs at once spoil both. ``tell`` gets a sentence if there is a wait.
    """
    if os.environ.get(_BESIDE):
        yield
        return
    with socket.socket(socket.AF_UNIX) as own:
        told, unanswered = False, 0
        while not _taken(own, name):
            if not told:
                holder = _holder(name)
                unanswered += holder is None
                if unanswered > _MOST_UNANSWERED or (holder and holder.user != os.getuid()):
                    # Nobody may keep another user of the machine from measuring.
                    who = f"process {holder.process}" if holder else "a process"
                    tell(f"warning: {who} of another user measures on this machine, too.")
                    break
                if holder:
                    told = True
                    tell(
                        f"Waiting for the run of process {holder.process} on this machine, since "
                        f"two at once spoil both. Ctrl-C ends the wait; {_BESIDE}=1 measures "
                        "beside it."
                    )
            time.sleep(_POLL_SECONDS)
        yield


def _taken(own: socket.socket, name: str) -> bool:
    """Tell whether this process has the turn now."""
    try:
        own.bind(name)
    except OSError:
        return False
    own.listen()
    return True


class _Holder(NamedTuple):
    """The process that has the turn, and its user, by their numbers."""

    process: int
    user: int


def _holder(name: str) -> _Holder | None:
    """Return who has the turn, None if it has just ended or does not answer."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_POLL_SECONDS)
        try:
            asking.connect(name)
        except OSError:
            return None
        form = "3i"  # struct ucred, unix(7)
        peer = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(form))
        return _Holder(*struct.unpack(form, peer)[:2])
