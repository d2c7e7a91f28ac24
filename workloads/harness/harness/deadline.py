"""The end of a task's processes: at its deadline, whatever they do, or after the program.

A program may hold Python's lock, ignore a signal or hang, so that another process watches it.
Nothing else ends a task that takes too long: Amazon ECS has no limit of its own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from harness import log

PASSED = 124
"""The exit code of a task that its deadline ended; GNU's ``timeout`` has the same."""
_GRACE_SECONDS = 5
_PR_SET_CHILD_SUBREAPER = 36  # Linux manual, prctl(2)
_ENDED = "Z"


class _Passed(Exception):
    pass


def run(words: list[str], variables: Mapping[str, str], left: float | None, limit: str) -> int:
    """Run a program to its end; return its exit code.

    After ``left`` seconds it is told to end, and a few seconds later it is killed with its
    children. None stands for no deadline. ``limit`` is the time of the whole task [s], for the log.
    """
    stops = {signal.SIGTERM}
    # A stop in the middle of the start would leave a program that nobody stops.
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        program = subprocess.Popen(
            words,
            env=dict(variables),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, stops),  # noqa: PLW1509
        )
        signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stops)
    try:
        code = _exit_code(program, left)
    except _Passed:
        log.error("Deadline", f"The task was ended because it took more than {limit} seconds.")
        _end(program)
        return PASSED
    return code if code >= 0 else 128 - code


def _exit_code(program: subprocess.Popen[bytes], left: float | None) -> int:
    # A wait with a timeout would look at the program twenty times a second, beside its measurement.
    signal.signal(signal.SIGALRM, _pass)
    signal.setitimer(signal.ITIMER_REAL, 0 if left is None else max(left, 0.001))
    code = program.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return code


def _pass(_number: int, _frame: object) -> NoReturn:
    raise _Passed


def _end(program: subprocess.Popen[bytes]) -> None:
    adopt()
    program.terminate()
    try:
        program.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    end_left()


def adopt() -> None:
    """Become the parent of every process that a child of this process leaves behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_left() -> list[str]:
    """Kill the children of this process, and theirs; return the names of those that still ran."""
    names = []
    while children := list(_children()):
        for process, name, state in children:
            if state != _ENDED:
                names.append(name)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return names


def _children() -> Iterator[tuple[int, str, str]]:
    """Yield the number, name and state of each child (Linux manual, proc_pid_stat(5))."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        name, _, fields = text.partition("(")[2].rpartition(")")
        state, parent, *_ = fields.split()
        if int(parent) == os.getpid():
            yield int(stat.parent.name), name, state
