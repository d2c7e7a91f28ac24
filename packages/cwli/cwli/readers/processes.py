"""Reading by several processes, since the work holds the lock of Python's threads.

A process is forked: the modules for pools of processes take longer to import than such work takes.
Each reads its part of a file in place, by a memory map.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from mmap import ACCESS_READ, MADV_DONTNEED, PAGESIZE, mmap
from typing import BinaryIO, NoReturn, TypeVar

_Task = TypeVar("_Task")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ProcessFailedError(Exception):
    """The end of another process before it had done its tasks."""


def in_processes(work: Callable[[_Task], None], tasks: Sequence[_Task], processes: int) -> None:
    """Work on each task, in this process and in others, each with its share of the tasks.

    The caller has no other thread and awaits its children, and ``work`` leaves its result in files.

    Raises
    ------
    ProcessFailedError
        If the work failed in another process, which says nothing more. An error in this process is
        raised as it is.
    """
    children: list[int] = []
    try:
        for number in range(1, min(processes, len(tasks))):
            _fork(work, tasks[number::processes], children)
        for task in tasks[::processes]:
            work(task)
        while children:
            if _ended(children):
                raise ProcessFailedError
    finally:
        with _signals_held():
            for child in children:
                os.kill(child, signal.SIGKILL)
            for child in children:
                os.waitpid(child, 0)


def _ended(children: list[int]) -> int:
    """Wait for the end of the last child, remove it, and return its status."""
    # The id of a child is its own until it is reaped, which no signal may part from its removal.
    os.waitid(os.P_PID, children[-1], os.WEXITED | os.WNOWAIT)
    with _signals_held():
        _, status = os.waitpid(children.pop(), 0)
    return status


@contextmanager
def _signals_held() -> Iterator[Iterable[int]]:
    """Hold back the signals that end the program; yield those that were held before."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork(work: Callable[[_Task], None], tasks: Sequence[_Task], children: list[int]) -> None:
    """Add to ``children`` the id of a new process that works on tasks."""
    # A signal between the fork and the note of the child would leave a process without its end.
    with _signals_held() as before:
        if child := os.fork():
            children.append(child)
        else:
            _work(work, tasks, before)


def _work(
    work: Callable[[_Task], None], tasks: Sequence[_Task], signals: Iterable[int]
) -> NoReturn:
    """Work on tasks and end the process: whatever happens, this copy of the caller ends here."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        for task in tasks:
            work(task)
        code = 0
    finally:
        os._exit(code)


# MADV_POPULATE_READ (Linux, uapi/asm-generic/mman-common.h), which Python 3.11 does not name.
_POPULATE_READ = 22


class TruncatedError(Exception):
    """A file that another process has truncated."""


def mapped(file: BinaryIO) -> mmap:
    """Return the map of a file; it keeps these bytes, whatever becomes of the path.

    Raises
    ------
    TruncatedError
        If the file is empty.
    """
    try:
        return mmap(file.fileno(), 0, access=ACCESS_READ)
    except ValueError as error:
        raise TruncatedError from error


def windows(file: mmap, begin: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the places between which a part of a file is read; the bytes are in memory meanwhile.

    Raises
    ------
    TruncatedError
        If the file has no longer these bytes. The system ends a process that reads them.
    """
    for first in range(begin, end, size):
        last = min(first + size, end)
        _load(file, first, last)
        yield first, last
        _advise(file, MADV_DONTNEED, first, last)


def _load(file: mmap, begin: int, end: int) -> None:
    """Map the pages of a part at once: one by one they take a sixteenth of a search."""
    try:
        _advise(file, _POPULATE_READ, begin, end)
    except OSError as error:
        # Other systems, and Linux before 5.14, do not know this advice.
        if error.errno != errno.EINVAL:
            raise TruncatedError from error


def _advise(file: mmap, advice: int, begin: int, end: int) -> None:
    """Advise the system about the whole pages of a part, and the page in which it begins."""
    pages = range(begin - begin % PAGESIZE, end - end % PAGESIZE)
    if pages:
        file.madvise(advice, pages.start, len(pages))
