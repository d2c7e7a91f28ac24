"""Load on Kiwi TCMS: ``python load.py api_baseline``.

Exit codes: 0, 1 when a check failed, a call was refused or the deadline passed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import closing

import api_baseline
from harness import log
from harness.checks import CheckFailedError
from harness.machine import log_machine
from json_rpc import Refusal, Session

PORT = 8080
TESTS = {"api_baseline": api_baseline.run}


def main(test: str) -> int:
    """Run a test; return the exit code."""
    keep_deadline()
    log_machine()
    try:
        r, jobs = (int(os.environ[f"TIDEMARK_{name}"]) for name in ("R", "JOBS"))
        with closing(Session(os.environ["TIDEMARK_SERVER"], PORT)) as session:
            TESTS[test](session, r, jobs)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except Refusal as refusal:
        log.error("Load", f"The server failed: {refusal}.")
        return 1
    return 0


def keep_deadline() -> None:
    """End this process with its reason when the deadline of the task passes."""
    seconds = float(os.environ["TIDEMARK_DEADLINE_SECONDS"])
    left = seconds - (time.monotonic() - float(os.environ["TIDEMARK_BEGAN"]))

    def end(_number: int, _frame: object) -> None:
        log.error("Deadline", f"The task was ended because it took more than {seconds:g} seconds.")
        sys.exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
