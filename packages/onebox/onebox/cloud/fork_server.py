"""Processes of functions, forked from one process that has loaded what they share.

Each invocation without a free environment would otherwise wait for a new Python and its imports.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from onebox.cloud.guard import Guard
from onebox.cloud.processes import clean_environment

_PROGRAM = Path(__file__).with_name("preloaded.py")
_MOST_BYTES = 64


class ForkServer:
    """The process that functions are forked from; it ends with this process.

    Parameters
    ----------
    guard
        The guard that kills the functions if this process is killed.

    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._lock = threading.Lock()
        self._begin()

    def start(self, handler: str, directory: Path, environment: Mapping[str, str]) -> Forked:
        """Start AWS's runtime for a handler; raise OSError if it cannot be started."""
        request = {
            "handler": handler,
            "directory": str(directory),
            "environment": dict(environment),
        }
        with self._lock:
            if self._process.poll() is not None:  # somebody killed it
                self._channel.close()
                self._begin()
        reader, writer = os.pipe()
        output = os.fdopen(reader, "rb", 0)
        try:
            pid = self._ask(request, writer, self._guard.pipe)
        except OSError:
            output.close()
            raise
        finally:
            os.close(writer)
        return Forked(pid, output, self)

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a function that has ended, as ``subprocess`` gives it."""
        try:
            return self._ask({"ended": pid})
        except OSError:  # the fork server was killed, and nobody knows the code
            return -signal.SIGKILL

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait()

    def _begin(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=clean_environment(),
                start_new_session=True,
            )

    def _ask(self, request: Mapping[str, Any], *descriptors: int) -> int:
        with self._lock:
            socket.send_fds(self._channel, [json.dumps(request).encode()], descriptors)
            answer = self._channel.recv(_MOST_BYTES)
        if not answer:
            raise ChildProcessError("the process that functions are forked from has ended")
        return int(answer)


class Forked:
    """A process that the fork server started, as ``subprocess.Popen`` shows its own."""

    def __init__(self, pid: int, output: IO[bytes], server: ForkServer) -> None:
        self.pid, self.stdout = pid, output
        self.returncode: int | None = None
        self._server = server

    def wait(self) -> int:
        """Return the exit code of the process, which has ended."""
        if self.returncode is None:
            self.returncode = self._server.exit_code(self.pid)
        return self.returncode
