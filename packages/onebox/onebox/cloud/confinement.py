"""Programs that the kernel keeps out of a folder.

A system under test runs as the user, and so do the files of all results. A confined program and its
children use everything as before, except the folder, and make no new entry in the folders above it.

Two fences stand behind each other, where the kernel has them. In a mount namespace of the program
an empty, read-only file system covers the folder: no call reaches a name, mode, time or attribute
in it. Landlock refuses what opens, makes or moves a file, all mounts, and to trace (since Linux
6.12 also to signal) another program. Sources: Linux manual, mount_namespaces(7),
user_namespaces(7), landlock(7).

This file is also the program that makes the fences and then becomes the confined program.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38
# The number of rights on files by the version of Landlock, and the rights that a file can have:
# execute, write, read, truncate, control of a device.
_RIGHTS = (0, 13, 14, 15, 15, 16)
_OF_A_FILE = 0b1100_0000_0000_0111
# Abstract sockets and signals, from the sixth version on.
_SCOPED, _SCOPED_SINCE = 0b11, 6
_NEW_USER, _NEW_MOUNTS = 0x1000_0000, 0x2_0000
_READ_ONLY, _NO_SUID_NO_DEVICES, _REMOUNT, _BIND = 1, 6, 32, 4096
_RECURSIVELY_PRIVATE = 0x4000 | 1 << 18
_COVER = b"size=64k,mode=700"
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


def confined(
    command: Sequence[str], outside: str, inside: str, cores: Collection[int] = ()
) -> list[str]:
    """Return the command of a program that uses no file in ``outside``, except in ``inside``.

    It runs on ``cores``, by default on the cores of this thread. A kernel without the fences
    starts it as it is.
    """
    places = outside, inside, ",".join(map(str, cores))
    return [sys.executable, "-IS", __file__, *places, *command]


def covers() -> bool:
    """Tell whether this process can cover a folder in a mount namespace."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    code = 1
    try:
        _enter_namespace()
        _mount("tidemark", "/", "tmpfs", _NO_SUID_NO_DEVICES, _COVER)
        code = 0
    finally:  # whatever the error, the child does not go on in place of its parent
        os._exit(code)


def landlock() -> int:
    """Return the version of the kernel's Landlock, 0 if it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, _VERSION)))


def _cover(outside: str, inside: str) -> None:
    """Put an empty file system over a folder, which shows nothing but the path of ``inside``."""
    # A container, or an administrator, may allow no namespace, or only half of one: a child tries.
    if not covers():
        return
    _enter_namespace()
    kept = os.open(inside, os.O_PATH | os.O_CLOEXEC)
    _mount("tidemark", outside, "tmpfs", _NO_SUID_NO_DEVICES, _COVER)
    os.makedirs(inside)  # noqa: PTH103 (an import of pathlib would delay each program)
    _mount(f"/proc/self/fd/{kept}", inside, "", _BIND)
    os.close(kept)
    flags = _REMOUNT | _READ_ONLY | _NO_SUID_NO_DEVICES
    _mount("tidemark", outside, "tmpfs", flags, _COVER)


def _enter_namespace() -> None:
    """Get mounts of our own; only root needs no user namespace for it."""
    user, group = os.geteuid(), os.getegid()
    _checked(_libc.unshare(_NEW_MOUNTS | (_NEW_USER if user else 0)), "unshare")
    if user:
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for file, content in maps.items():
            with open(f"/proc/self/{file}", "w", encoding="ascii") as opened:  # noqa: PTH123
                opened.write(content)
    _mount("none", "/", "", _RECURSIVELY_PRIVATE)


def _mount(source: str, target: str, kind: str, flags: int, data: bytes | None = None) -> None:
    names = (os.fsencode(name) for name in (source, target, kind))
    _checked(_libc.mount(*names, ctypes.c_ulong(flags), data), "mount")


def _restrict(outside: str, inside: str) -> None:
    """Allow all use of files beside a folder, and in ``inside``; nothing else from now on."""
    version = landlock()
    if not version:
        return
    rights = (1 << _RIGHTS[min(version, len(_RIGHTS) - 1)]) - 1
    scoped = _SCOPED if version >= _SCOPED_SINCE else 0
    rules = _Ruleset(rights, 0, scoped)
    ruleset = _call(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    for path in (*_beside(outside), inside):
        _allow(ruleset, path, rights)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _beside(folder: str) -> Iterator[str]:
    """Yield all that lies beside a folder and beside each folder above it."""
    while folder != "/":
        parent, name = os.path.split(folder)
        with suppress(PermissionError):
            # An import of pathlib would delay each program.
            yield from (
                os.path.join(parent, each)  # noqa: PTH118
                for each in os.listdir(parent)  # noqa: PTH208
                if each != name
            )
        folder = parent


def _allow(ruleset: int, path: str, rights: int) -> None:
    # The target of a link has a place of its own.
    with suppress(FileNotFoundError, PermissionError):
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not os.path.islink(path):  # noqa: PTH114
                is_folder = os.path.isdir(path)  # noqa: PTH112
                rule = _PathBeneath(rights if is_folder else rights & _OF_A_FILE, descriptor)
                _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(descriptor)


def _call(*arguments: object) -> int:
    return _checked(_libc.syscall(*arguments), "landlock")


def _checked(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def _become(outside: str, inside: str, cores: str, *command: str) -> None:
    """Confine this process, and become the program of a command."""
    if cores:
        os.sched_setaffinity(0, map(int, cores.split(",")))
    try:
        directory = os.getcwd()  # noqa: PTH109
        _cover(outside, inside)
        os.chdir(directory)
        _restrict(outside, inside)
        os.execvp(command[0], command)  # noqa: S606 (its arguments are a list)
    except OSError as error:
        sys.exit(f"The program cannot be confined: {error}")


if __name__ == "__main__":
    _become(*sys.argv[1:])
