"""A small process that outlives the cloud's by a moment: what a cloud started ends with it.

A process that is killed (SIGKILL, out of memory) runs no code of its own any more, and its children
go on. Linux can tell a child of its parent's death (prctl, PR_SET_PDEATHSIG), but means the thread
that started it, and not the child's own children. So a process of its own waits for the end of a
pipe that only the cloud holds open, and kills every process group that it was told of.
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
        # In a session of its own: Ctrl-C goes to the whole of a terminal's.
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Kill this process group if this process ends without a word."""
        self._tell(f"+{group}")

    def forget(self, group: int) -> None:
        """Leave this process group alone: it has ended."""
        self._tell(f"-{group}")

    def __enter__(self) -> Guard:
        """Guard."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill what is still watched, and end."""
        self._guard.communicate()

    def _tell(self, line: str) -> None:
        pipe = self._guard.stdin
        # A guard that was killed by hand guards nothing; what is measured goes on.
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
