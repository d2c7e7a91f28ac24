"""Run one test of a workload: ``python -m harness MODULE ingest|compaction``.

This process runs the test in a measuring process, and ends that process when the task is stopped. A
thread of the measuring process could not do so, because a call of the engine may hold Python's lock
for its whole length. In a round it runs one measuring process for each version.

Exit codes: 0, 1 when a check failed, 2 when the configuration is not accepted, 143 when stopped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import log, rounds
from harness.deadline import adopt, end_left
from harness.task import Configuration, ConfigurationError

TESTS = ("ingest", "compaction")


def main(module: str, arguments: list[str]) -> int:
    """Run the test that ``arguments`` name; return the exit code."""
    try:
        test = _test(arguments)
        Configuration.from_environment(os.environ)  # refused before anything is measured
        return _run(module, test)
    except ConfigurationError as refusal:
        log.error("Configuration", str(refusal))
        return 2


def _test(arguments: list[str]) -> str:
    if len(arguments) != 1 or arguments[0] not in TESTS:
        raise ConfigurationError(
            f"The test is {' '.join(arguments)!r}: ingest or compaction is accepted."
        )
    return arguments[0]


def _run(module: str, test: str) -> int:
    with tempfile.TemporaryDirectory(prefix="tidemark-") as scratch:
        adopt()
        try:
            code = _code(module, test, scratch)
        finally:
            left_behind = end_left()
    if code < 0:
        log.error("Task", f"The {test} test was ended by {signal.Signals(-code).name}.")
        return 1
    # A version that dropped out of a round may leave processes; the others have their rates.
    if left_behind and not code and rounds.ROUND not in os.environ:
        log.error("Task", f"The {test} test left processes behind: {', '.join(left_behind)}.")
        return 1
    return code


def _code(module: str, test: str, scratch: str) -> int:
    if rounds.ROUND in os.environ:
        return rounds.run(module, test, Path(scratch), os.environ)
    return _measured([sys.executable, "-m", "harness.measurement", module, test, scratch])


def _measured(command: list[str]) -> int:
    """Return the return code of the measuring process, which never outlives this function."""
    stops = {signal.SIGTERM}
    # A stop in the middle of the start would leave a process without anybody to kill it.
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    process = subprocess.Popen(
        command,
        # A process has the signal mask of its parent. No other thread runs here.
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, stops),  # noqa: PLW1509
    )
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
        return process.wait()
    finally:
        process.kill()
        process.wait()


def _stop(number: int, _frame: object) -> None:
    # SystemExit unwinds the stack, which kills the measuring process and removes its files.
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
