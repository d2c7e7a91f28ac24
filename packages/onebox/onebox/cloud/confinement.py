"""Programs that the kernel keeps out of a folder (Landlock).

A system under test runs as the user, and so do the files of all results. A confined program and its
children use everything as before, except the folder, and make no new entry in the folders above it.
They signal and trace nobody else. Source: Linux manual, landlock(7).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_Result = TypeVar("_Result")

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38
# The number of rights on files by the version of Landlock, and the rights that a file can have:
# execute, write, read, truncate, control of a device.
_RIGHTS = (0, 13, 14, 15, 15, 16)
_OF_A_FILE = 0b1100_0000_0000_0111
# Abstract sockets and signals, from the sixth version on.
_SCOPED, _SCOPED_SINCE = 0b11, 6
_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


@dataclass(frozen=True)
class Confinement:
    """The confinement of a program: no file in ``outside``, except those in ``inside``."""

    outside: Path
    inside: Path

    def start(self, begin: Callable[[], _Result]) -> _Result:
        """Return what ``begin`` returns; the processes that it starts are confined.

        A kernel without Landlock starts them as they are.
        """
        # The kernel confines a thread and what it starts, and the thread ends here.
        with ThreadPoolExecutor(1, "confined", self._enter) as thread:
            return thread.submit(begin).result()

    def _enter(self) -> None:
        version = landlock()
        if not version:
            return
        rights = (1 << _RIGHTS[min(version, len(_RIGHTS) - 1)]) - 1
        scoped = _SCOPED if version >= _SCOPED_SINCE else 0
        rules = _Ruleset(rights, 0, scoped)
        ruleset = _call(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
        try:
            for path in (*_beside(self.outside), self.inside):
                _allow(ruleset, path, rights)
            _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            _call(_RESTRICT_SELF, ruleset, 0)
        finally:
            os.close(ruleset)


def landlock() -> int:
    """Return the version of the kernel's Landlock, 0 if it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, _VERSION)))


def _beside(folder: Path) -> Iterator[Path]:
    """Yield all that lies beside a folder and beside each folder above it."""
    for inner in (folder, *folder.parents[:-1]):
        with suppress(PermissionError):
            yield from (path for path in inner.parent.iterdir() if path != inner)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    # The target of a link has a place of its own.
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not path.is_symlink():
                allowed = rights if path.is_dir() else rights & _OF_A_FILE
                rule = _PathBeneath(allowed, descriptor)
                _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(descriptor)


def _call(*arguments: object) -> int:
    result = int(_libc.syscall(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"landlock: {os.strerror(number)}")
    return result
