"""Load on Kiwi TCMS: ``python load.py TEST``, the name of a module beside this one.

``python load.py supported_users`` logs what each search of the unbounded test found.

Exit codes: 0, 1 when a check failed or a call was refused.
"""

from __future__ import annotations

import sys

if sys.argv[1:] in (["bounded"], ["agent"]):
    # Locust changes modules of Python, which are best not loaded before.
    import locust  # noqa: F401

import os
from http.client import HTTPException
from importlib import import_module
from importlib.metadata import version

from harness import log
from harness.load import Levels, report
from harness.machine import keep_apart, log_machine
from harness.task import CheckFailedError
from json_rpc import Refusal

PORT = 8080


def main(test: str) -> int:
    """Run a test; return the exit code."""
    log_machine(**_tool())
    keep_apart(os.environ["TIDEMARK_SERVER"], serves=False)
    try:
        if test == "supported_users":
            report(Levels.of_task(os.environ))
        else:
            # Not every test needs Locust.
            import_module(test).run(os.environ["TIDEMARK_SERVER"], PORT, os.environ)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (Refusal, OSError, HTTPException) as fault:
        log.error("Load", f"The server failed: {fault or type(fault).__name__}.")
        return 1
    return 0


def _tool() -> dict[str, str]:
    """Return the tool that makes the load; nothing if none does."""
    return {"load_tool": f"Locust {version('locust')}"} if "locust" in sys.modules else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
