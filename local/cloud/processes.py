"""A program in a process group of its own, whose output is followed line by line."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import IO

from local.cloud.guard import Guard

_CHUNK_BYTES = 65536
# By these the tools of a workload reach their package index from behind a company's proxy.
_INDEX_SETTINGS = re.compile(r"(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|UV_\w+", re.IGNORECASE)


def clean_environment() -> dict[str, str]:
    """Return what any program needs of this machine: this Python's tools, a home, UTF-8."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(Path.home()),
        "LANG": "C.UTF-8",
    }


def workload_environment() -> dict[str, str]:
    """Return what a workload gets of this machine: its tools, and the way to its package index."""
    return {
        **clean_environment(),
        **{name: value for name, value in os.environ.items() if _INDEX_SETTINGS.match(name)},
        "TIDEMARK_UV": str(Path(sys.executable).with_name("uv")),
    }


class Process:
    """A running program; ``done`` holds its return code once nothing of it is left.

    Its standard output and error are one stream, handed to ``write`` as whole lines. When the
    program ends, what else runs in its process group is killed, as a container's processes end
    with its first one; ``done`` is set after the last line was written.

    Parameters
    ----------
    command
        The program and its arguments.
    directory
        The working directory.
    environment
        The whole environment: nothing is inherited.
    write
        Called with the lines that have come, without their line ends, one call at a time.
    guard
        Ends the program if this process ends without a word.

    Raises
    ------
    OSError
        If the program cannot be started.

    """

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        write: Callable[[list[str]], None],
        guard: Guard,
    ) -> None:
        self.done: Future[int] = Future()
        self._write = write
        self._guard = guard
        self._rest = b""
        self._output_lock = threading.Lock()
        self._life_lock = threading.Lock()
        self._popen = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        guard.watch(self._popen.pid)
        self._output = _piped(self._popen)
        os.set_blocking(self._output.fileno(), False)
        threading.Thread(
            target=self._follow, name=f"process {self._popen.pid}", daemon=True
        ).start()

    @property
    def group(self) -> int:
        """The number of its process group."""
        return self._popen.pid

    def drain(self) -> None:
        """Write every line that the program has put out so far, an unfinished one included."""
        with self._output_lock:
            self._take()
            self._write_rest()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process group; nothing happens once the program has ended."""
        with self._life_lock:
            if self._popen.returncode is None:
                os.killpg(self._popen.pid, number)

    def peak_bytes(self) -> int | None:
        """Return the most memory the program held at once (VmHWM), None if it has ended.

        Not ``ru_maxrss``: Linux carries the parent's own peak over into it (getrusage, execve).
        """
        try:
            status = Path(f"/proc/{self._popen.pid}/status").read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        fields = dict(line.split(":", 1) for line in status.splitlines())
        peak = fields.get("VmHWM")
        return None if peak is None else int(peak.split()[0]) * 1024

    def _follow(self) -> None:
        # The program's end is watched by itself, not by the end of its output: a process that
        # left the group may hold the pipe open for ever.
        ended = os.pidfd_open(self._popen.pid)
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
                if self._output.fileno() in ready and self._take():
                    poll.unregister(self._output)
        self.drain()

    def _end(self) -> None:
        with self._life_lock:
            # Until it is waited for, the ended program keeps the group's number from reuse.
            os.killpg(self._popen.pid, signal.SIGKILL)
            self._guard.forget(self._popen.pid)
            code = self._popen.wait()
        with self._output_lock:
            self._output.close()
        self.done.set_result(code)

    def _take(self) -> bool:
        """Write the whole lines that have come; tell whether the output has ended."""
        if self._output.closed:
            return True
        while chunk := self._output.read(_CHUNK_BYTES):
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            self._hand_on(lines)
        return chunk is not None  # None: nothing for now

    def _write_rest(self) -> None:
        if self._rest:
            self._hand_on([self._rest])
            self._rest = b""

    def _hand_on(self, lines: list[bytes]) -> None:
        if lines:
            self._write([line.decode(errors="replace") for line in lines])


def _piped(popen: subprocess.Popen[bytes]) -> IO[bytes]:
    if popen.stdout is None:
        raise ValueError("the program was started without a pipe for its output")
    return popen.stdout
