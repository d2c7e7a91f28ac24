"""Control groups that limit the CPU and memory of a program and of all that it starts.

A group is made below this process's group, so that its own limits stay. Sources: Linux
kernel documentation, "CFS Bandwidth Control", "Memory Resource Controller" (version 1), and
"Control Group v2".
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PERIOD_MICROSECONDS = 100_000
# A task on Fargate cannot swap. A kernel may count no swap, and then has no such file.
_SWAP = {"memory.memsw.limit_in_bytes", "memory.swap.max"}
_EVENTS = ("memory.oom_control", "memory.events")
_PREFIX = "tidemark-"
# A killed process leaves its group once the kernel has freed its memory.
_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.01
# The process moves itself, and then becomes the program: none of its children is missed.
_ENTER = 'echo 0 > "$0" && exec "$@"'


class NotWritableError(Exception):
    """A resource that this process may not limit; the message says where it tried."""


@dataclass(frozen=True)
class Limits:
    """The limits of one program; None means no limit."""

    cpu: float | None = None
    """The cores that the program and its children may use together."""
    memory_bytes: int | None = None
    """The memory that they may use together [B]."""

    @property
    def controllers(self) -> Sequence[str]:
        """The names of the kernel's controllers of what is limited."""
        limited = {"cpu": self.cpu, "memory": self.memory_bytes}
        return [name for name, limit in limited.items() if limit is not None]


@dataclass(frozen=True)
class Hierarchy:
    """The place of the groups of one controller that this process may make."""

    parent: Path
    unified: bool
    """Whether it is of version 2, which has one hierarchy of all controllers."""

    def settings(self, controller: str, limits: Limits) -> Mapping[str, str]:
        """Return the content of the files that limit a resource."""
        quota = str(round((limits.cpu or 0) * _PERIOD_MICROSECONDS))
        if controller == "memory":
            most = str(limits.memory_bytes)
            if self.unified:
                return {"memory.max": most, "memory.swap.max": "0"}
            return {"memory.limit_in_bytes": most, "memory.memsw.limit_in_bytes": most}
        if self.unified:
            return {"cpu.max": f"{quota} {_PERIOD_MICROSECONDS}"}
        return {"cpu.cfs_period_us": str(_PERIOD_MICROSECONDS), "cpu.cfs_quota_us": quota}


@dataclass(frozen=True)
class Groups:
    """The control groups of one program."""

    folders: Sequence[Path]

    @classmethod
    def make(cls, name: str, limits: Limits, root: Path = Path("/")) -> Groups:
        """Return new groups with some limits; none for no limits.

        ``root`` is the folder of ``proc`` and of the mounted hierarchies.

        Raises
        ------
        NotWritableError
            If this process cannot limit a resource; no group is left then.
        """
        made: dict[Path, None] = {}
        try:
            for controller in limits.controllers:
                place = hierarchy(controller, root)
                folder = place.parent / f"{_PREFIX}{name}"
                folder.mkdir(exist_ok=folder in made)
                made[folder] = None
                for file, content in place.settings(controller, limits).items():
                    if file not in _SWAP or (folder / file).exists():
                        (folder / file).write_text(content, encoding="ascii")
        except OSError as error:
            cls(list(made)).remove()
            raise NotWritableError(f"{error.filename}: {error.strerror}") from None
        return cls(list(made))

    def entered(self, command: Sequence[str]) -> list[str]:
        """Return the command that starts a program inside the groups."""
        for folder in self.folders:
            command = ["/bin/sh", "-c", _ENTER, str(folder / "cgroup.procs"), *command]
        return list(command)

    def out_of_memory(self) -> bool:
        """Tell whether the kernel has killed a process in the groups for lack of memory."""
        events = [_words(folder / file) for folder in self.folders for file in _EVENTS]
        counts = [dict(zip(words[::2], words[1::2], strict=True)) for words in events]
        # Linux before 4.13 does not tell.
        return any(int(count.get("oom_kill", 0)) for count in counts)

    def remove(self) -> None:
        """Kill what is left in the groups, and remove them."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < until:
                for pid in _pids(folder):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(_PAUSE_SECONDS)


def hierarchy(controller: str, root: Path = Path("/")) -> Hierarchy:
    """Return where this process may make groups of a controller.

    Raises
    ------
    NotWritableError
        If the kernel has no such controller, or this process may not make a group.
    """
    own = dict(_own_groups(root))
    for mounted, kind, options in _mounts(root):
        unified = kind == "cgroup2"
        name = "" if unified else controller
        if name not in own or (not unified and controller not in options):
            continue
        group = root / f"{mounted}/{own[name]}".replace("//", "/").lstrip("/")
        # A group of version 2 with processes has no children with controllers; its parent may.
        parent = group.parent if unified and own[name] != "/" else group
        if unified and controller not in _words(parent / "cgroup.subtree_control"):
            continue
        if not os.access(parent, os.W_OK):
            raise NotWritableError(f"{parent}: not writable")
        return Hierarchy(parent, unified)
    raise NotWritableError(f"{controller}: no group of this process can be limited")


def remove_left(root: Path = Path("/")) -> None:
    """Remove the groups that a killed process left; those with processes stay."""
    for controller in ("cpu", "memory"):
        with suppress(NotWritableError):
            for folder in hierarchy(controller, root).parent.glob(f"{_PREFIX}*"):
                _removed(folder)


def _own_groups(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each controller with the group of this process; '' stands for version 2."""
    with suppress(FileNotFoundError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, group = line.split(":", 2)
            for controller in controllers.split(","):
                yield controller, group


def _mounts(root: Path) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the folder, the kind and the options of each mounted hierarchy."""
    with suppress(FileNotFoundError):
        for line in (root / "proc/self/mounts").read_text(encoding="utf-8").splitlines():
            _, folder, kind, options, *_ = line.split(" ")
            if re.fullmatch(r"cgroup2?", kind):
                yield folder, kind, options.split(",")


def _words(file: Path) -> Sequence[str]:
    with suppress(OSError):
        return file.read_text(encoding="ascii").split()
    return ()


def _pids(folder: Path) -> Iterator[int]:
    yield from map(int, _words(folder / "cgroup.procs"))


def _removed(folder: Path) -> bool:
    """Remove a group without processes; tell whether it is gone."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
