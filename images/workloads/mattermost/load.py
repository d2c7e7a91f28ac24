"""Load on Mattermost: ``python load.py init``, ``bounded``, ``supported_users``, or an agent.

Exit codes: 0, 1 when a check failed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import NoReturn

from harness import log
from harness.load import Levels, report
from harness.machine import log_machine
from harness.task import CheckFailedError
from load_test import ADMIN, PORT, VERSION, configuration
from tool import Measurements, Tool
from web import ask

# The trial takes an agent for ready once it accepts connections here.
_READY_PORT = 8090
_INTERVAL_SECONDS = 10
_POLL_SECONDS = 1.0
_JOINING_SECONDS = 300


def main(word: str, variables: Mapping[str, str]) -> int:
    """Do a step of a test, or be an agent until the end; return the exit code."""
    log_machine(load_tool=VERSION)
    steps = {"init": initialise, "bounded": bounded, "supported_users": supported_users}
    try:
        if word in steps:
            steps[word](variables)
        else:
            agent(word, variables)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    return 0


def initialise(variables: Mapping[str, str]) -> None:
    """Make the administrator, and the teams, channels and posts of a new server.

    Raises
    ------
    CheckFailedError
        If the server or the tool refuses it.
    """
    ask(variables["TIDEMARK_SERVER"], PORT, "/api/v4/users", ADMIN)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(configuration(variables), file)
        file.flush()
        done = subprocess.run(["ltagent", "init", "--config", file.name], check=False)
    if done.returncode:
        raise CheckFailedError(f"ltagent init ended with exit code {done.returncode}.")


def bounded(variables: Mapping[str, str]) -> None:
    """Let the users of this task work for the duration, once all of them are connected.

    Raises
    ------
    CheckFailedError
        If the users cannot connect, or nothing was requested.
    """
    tool = Tool(int(variables["TIDEMARK_TASK"]))
    users, seconds = int(variables["TIDEMARK_USERS"]), int(variables["TIDEMARK_DURATION"])
    program = tool.start(variables)
    try:
        if _join(tool, users) < users:
            raise CheckFailedError(f"{tool.users} of {users} users were connected.")
        begin, until = tool.measured(), time.monotonic() + seconds
        last = begin
        while (left := until - time.monotonic()) > 0:
            last = _interval(tool, last, min(left, _INTERVAL_SECONDS))
        of_test = last.since(begin)
        if not of_test.requests:
            raise CheckFailedError(f"Nothing was requested within {seconds} seconds.")
        log.info("Bounded", f"Requests {_words(of_test)}")
    finally:
        program.terminate()


def supported_users(variables: Mapping[str, str]) -> None:
    """Log what each search of the test found."""
    report(Levels.of_task(variables))


def agent(name: str, variables: Mapping[str, str]) -> NoReturn:
    """Hold one level after the other until this process is stopped.

    Raises
    ------
    CheckFailedError
        If the level cannot be read, or the tool fails.
    """
    levels = Levels.of_task(variables)
    tool, last = Tool(int(name.rpartition("_")[2])), 0
    with socket.create_server((variables["TIDEMARK_ADDRESS"], _READY_PORT)):
        program = None
        while True:
            course = levels.read()
            if course and not course["over"] and course["level"] > last:
                program = program or tool.start(variables)
                last = course["level"]
                _hold(tool, course["users"][name], course["settle_seconds"], course)
            time.sleep(_POLL_SECONDS)


def _hold(tool: Tool, users: int, settle_seconds: float, course: Mapping[str, int]) -> None:
    """Let the users of a level work for its time, and log what they measured."""
    _join(tool, users)
    time.sleep(settle_seconds)
    begin = tool.measured()
    _interval(tool, begin, course["hold_seconds"])
    of_level = tool.measured().since(begin)
    log.info(
        "Agent",
        f"Level {course['level']} users {tool.users} average {of_level.mean_ms:.3f} ms "
        f"p99 {of_level.p99_ms:.3f} ms failures {of_level.failures:.6f}",
    )


def _interval(tool: Tool, last: Measurements, seconds: float) -> Measurements:
    """Wait for some seconds; log and return what was measured until then."""
    time.sleep(seconds)
    now = tool.measured()
    log.info("Load", f"Users {tool.users}")
    log.info("Load", f"Interval {_words(now.since(last))} in {seconds:.3f} s")
    return now


def _words(measured: Measurements) -> str:
    return (
        f"{measured.requests:.0f} average {measured.mean_ms:.6f} ms p99 {measured.p99_ms:.3f} ms "
        f"failed {measured.failed:.0f}"
    )


def _join(tool: Tool, users: int) -> int:
    """Wait until as many users are connected, but not longer than they may take; return them."""
    tool.have(users)
    until = time.monotonic() + _JOINING_SECONDS
    while (connected := tool.users) != users and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
    return connected


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.environ))
