"""The slowness of this machine now, by a short piece of work."""

from __future__ import annotations

import time
import zlib
from concurrent.futures import ThreadPoolExecutor

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
