"""Programs, each in its own process group, which are read line by line and end with the cloud.

A process that is killed (SIGKILL, out of memory) runs no code any more, and its children go on.
Linux can signal a child at its parent's death (prctl, PR_SET_PDEATHSIG), but the parent is the
thread that started the child, and the child's own children get no signal. So each program has a
companion in its process group: a shell that waits for the end of a pipe, which only the cloud
holds open, and then kills the group.
"""

from __future__ import annotations

import errno
import os
import reprlib
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

import psutil

from onebox.cloud.cgroups import Groups
from onebox.cloud.confinement import confined

_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# The companion outlives the signals that stop its program. The program is not its parent: a
# program may wait for all its children.
_GUARDED = """
( { trap '' TERM INT HUP; read -r _; kill -KILL 0; } <&3 >/dev/null 2>&1 & ) 3<&0
exec "$@" </dev/null
"""


class Guard:
    """A context that ends the guarded programs when it closes.

    A guarded command needs ``pipe``, a descriptor, as its standard input.
    """

    def __init__(self) -> None:
        self.pipe, self._held_open = os.pipe()

    @staticmethod
    def guarded(command: Sequence[str]) -> list[str]:
        """Return the command that starts a program and its companion in one process group."""
        return ["/bin/sh", "-c", _GUARDED, "guard", *_heeding(command)]

    def __enter__(self) -> Guard:
        """Return the guard, which guards already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the companions kill the programs that still run."""
        os.close(self._held_open)
        os.close(self.pipe)


def _heeding(command: Sequence[str]) -> Sequence[str]:
    """Return the command of a program that signals end, as they end it on ECS.

    What this process ignores, such as SIGHUP by ``nohup``, its programs would ignore, and a shell
    cannot change that.
    """
    ignored = [each.name for each in _ENDING if signal.getsignal(each) is signal.SIG_IGN]
    if not ignored:
        return command
    return ["/usr/bin/env", f"--default-signal={','.join(ignored)}", *command]


_SHOWN = reprlib.Repr()
_SHOWN.maxstring = 60
_MOST_NAMED = 20
_MOST_ROUNDS = 20  # a process may start another one while it is found


def kill_left(scratch: Path, group: int) -> list[str]:
    """Kill the processes that a task left; return their commands.

    They have its scratch folder as TMPDIR, or mounted in their namespace, which none can leave.
    Processes of the task's own group are killed already, and may not have ended yet.
    """
    killed: list[str] = []
    for _ in range(_MOST_ROUNDS):
        left = list(_left(scratch, group))
        if not left:
            break
        for process, command in left:
            killed.append(command)
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs([process for process, _ in left], timeout=1)
    return killed


def left(killed: list[str]) -> str:
    """Return the processes that a task left, in words."""
    named = ", ".join(map(_SHOWN.repr, killed[:_MOST_NAMED]))
    more = f" and {len(killed) - _MOST_NAMED} more" if len(killed) > _MOST_NAMED else ""
    processes = "1 process" if len(killed) == 1 else f"{len(killed)} processes"
    return f"{processes} that the task left: {named}{more}"


def _left(scratch: Path, group: int) -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        try:
            is_task = _sees(process.pid, scratch) or (
                process.environ().get("TMPDIR") == str(scratch)
            )
            if is_task and os.getpgid(process.pid) != group:
                yield process, " ".join(process.cmdline())
        # The process has ended, or belongs to another user.
        except (psutil.Error, OSError):
            continue


def _sees(pid: int, scratch: Path) -> bool:
    """Tell whether a folder is mounted in the namespace of a process."""
    mounted = Path(f"/proc/{pid}/mountinfo").read_text(encoding="utf-8")
    written = str(scratch).replace("\\", "\\134").replace(" ", "\\040")
    return f" {written} " in mounted


_CHUNK_BYTES = 65536
# Docker, "Amazon CloudWatch Logs logging driver": a longer line becomes several events.
_LONGEST_LINE_BYTES = 262_118
BARE_PYTHON = str(Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info)))
"""The Python that this environment was made from: it has none of the environment's packages."""


def clean_environment() -> dict[str, str]:
    """Return the environment that any program needs: this Python's tools, a home, UTF-8."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(Path.home()),
        "LANG": "C.UTF-8",
    }


class Child(Protocol):
    """A child process with the methods of ``subprocess.Popen`` that are needed."""

    @property
    def pid(self) -> int:
        """The number of the process and of its group."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe of its output."""

    @property
    def returncode(self) -> int | None:
        """The return code, None until ``wait`` has returned it."""

    def wait(self) -> int:
        """Wait for the end of the process; return its return code."""


def begin(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    guard: Guard,
    places: tuple[Path, Path] | None = None,
    groups: Groups | None = None,
    cores: Collection[int] = (),
) -> Child:
    """Start a program in a process group of its own; raise OSError if that fails.

    It inherits nothing of this environment. ``places`` are a folder that the program may not enter,
    and the folder in it that it uses; ``groups`` limit it. A confined program has ``cores``, by
    default the cores of the calling thread.
    """
    _check_found(command[0], directory, environment)
    begun = guard.guarded(groups.entered(command) if groups else command)
    return subprocess.Popen(
        confined(begun, str(places[0]), str(places[1]), cores) if places else begun,
        cwd=directory,
        env=dict(environment),
        stdin=guard.pipe,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )


class Process:
    """A running program; ``done`` holds its return code once its process group has ended.

    Standard output and standard error are one stream, passed to ``write`` as whole lines. When the
    program ends, the rest of its process group is killed, as a container's processes end with its
    first process. ``done`` is set after the last line is written. ``child`` leads its process
    group and has a pipe for its output. ``write`` gets new lines, without their ends, one call at a
    time.
    """

    def __init__(self, child: Child, write: Callable[[list[str]], None]) -> None:
        self.done: Future[int] = Future()
        self._child = child
        self._write = write
        self._unfinished_line = b""
        self._output_lock = threading.Lock()
        self._life_lock = threading.Lock()
        self._output = _stdout_of(child)
        os.set_blocking(self._output.fileno(), False)
        threading.Thread(target=self._follow, name=f"process {child.pid}", daemon=True).start()

    @property
    def group(self) -> int:
        """The number of its process group."""
        return self._child.pid

    def drain(self) -> None:
        """Write the program's output so far, an unfinished line included."""
        with self._output_lock:
            self._read_output()
            self._write_rest()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process group; do nothing once the program has ended."""
        with self._life_lock:
            if self._child.returncode is None:
                os.killpg(self._child.pid, number)

    def peak_bytes(self) -> int | None:
        """Return the most memory the program held at once (VmHWM), None if it has ended.

        On Linux ``ru_maxrss`` would include the parent's own peak (getrusage, execve).
        """
        try:
            status = Path(f"/proc/{self._child.pid}/status").read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        fields = dict(line.split(":", 1) for line in status.splitlines())
        peak = fields.get("VmHWM")
        return None if peak is None else int(peak.split()[0]) * 1024

    def _follow(self) -> None:
        # The end of the output does not show the program's end: a process that left the group
        # may hold the pipe open for ever.
        ended = os.pidfd_open(self._child.pid)
        try:
            self._follow_until(ended)
        finally:
            os.close(ended)
            self._end()

    def _follow_until(self, ended: int) -> None:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self._output, select.POLLIN)
        ready: set[int] = set()
        while ended not in ready:
            ready = {descriptor for descriptor, _ in poll.poll()}
            with self._output_lock:
                if self._output.fileno() in ready and self._read_output():
                    poll.unregister(self._output)
        self.drain()

    def _end(self) -> None:
        with self._life_lock:
            # Kill before the wait: until then the ended program keeps the group's number in use.
            os.killpg(self._child.pid, signal.SIGKILL)
            code = self._child.wait()
        with self._output_lock:
            self._output.close()
        self.done.set_result(code)

    def _read_output(self) -> bool:
        """Write the new whole lines; tell whether the output has ended."""
        if self._output.closed:
            return True
        while chunk := self._output.read(_CHUNK_BYTES):
            *lines, self._unfinished_line = (self._unfinished_line + chunk).split(b"\n")
            self._write_lines(lines)
            if len(self._unfinished_line) > _LONGEST_LINE_BYTES:
                self._write_rest()
        return chunk is not None  # None: no output for now

    def _write_rest(self) -> None:
        if self._unfinished_line:
            self._write_lines([self._unfinished_line])
            self._unfinished_line = b""

    def _write_lines(self, lines: list[bytes]) -> None:
        if lines:
            self._write([line.decode(errors="replace") for line in lines])


def _check_found(program: str, directory: Path, environment: Mapping[str, str]) -> None:
    """Raise FileNotFoundError if there is no such program: the shell of the guard would start."""
    file = str(directory / program) if "/" in program else program
    if shutil.which(file, path=environment.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)


def _stdout_of(child: Child) -> IO[bytes]:
    if child.stdout is None:
        raise ValueError("the program was started without a pipe for its output")
    return child.stdout
