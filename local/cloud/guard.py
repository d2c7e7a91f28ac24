"""A small process that outlives the cloud's process, and then kills what the cloud started.

A process that is killed (SIGKILL, out of memory) runs no code any more, and its children go on.
Linux can signal a child at its parent's death (prctl, PR_SET_PDEATHSIG), but the parent is the
thread that started the child, and the child's own children get no signal. So the guard waits for
the end of a pipe that only the cloud holds open, and then kills every process group it watches.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType


class Guard:
    """The guard of one cloud's process groups; a context that guards while it is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The guard has its own session, because Ctrl-C goes to the whole session of a terminal.
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Kill a process group if this process is killed."""
        self._send(f"+{group}")

    def forget(self, group: int) -> None:
        """Stop watching a process group, which has ended."""
        self._send(f"-{group}")

    def __enter__(self) -> Guard:
        """Return the guard, which runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill the process groups that are still watched, and end."""
        self._guard.communicate()

    def _send(self, line: str) -> None:
        pipe = self._guard.stdin
        # If a user has killed the guard, the measurement goes on without it.
        with self._lock, suppress(BrokenPipeError):
            print(line, file=pipe, flush=True)


def _stand_guard(lines: Iterable[str]) -> None:
    watched: set[int] = set()
    for line in lines:
        (watched.add if line[0] == "+" else watched.discard)(int(line[1:]))
    for group in watched:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _stand_guard(sys.stdin)
