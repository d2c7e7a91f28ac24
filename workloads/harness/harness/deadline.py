"""The deadline of a load, which no other process of its task watches."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import NoReturn

from harness import log


def keep(variables: Mapping[str, str]) -> None:
    """End this process with its reason and exit code 1 when the deadline of its task passes."""
    seconds = float(variables["TIDEMARK_DEADLINE_SECONDS"])
    left = seconds - (time.monotonic() - float(variables["TIDEMARK_BEGAN"]))

    def end(_number: int, _frame: object) -> NoReturn:
        log.error("Deadline", f"The task was ended because it took more than {seconds:g} seconds.")
        # Locust runs its users inside this one thread: an exception would end one of them alone.
        os._exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
