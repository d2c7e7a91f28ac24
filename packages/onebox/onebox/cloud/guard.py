"""The end of the programs that a cloud started, even if the cloud is killed.

A process that is killed (SIGKILL, out of memory) runs no code any more, and its children go on.
Linux can signal a child at its parent's death (prctl, PR_SET_PDEATHSIG), but the parent is the
thread that started the child, and the child's own children get no signal. So each program has a
companion in its process group: a shell that waits for the end of a pipe, which only the cloud
holds open, and then kills the group.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from types import TracebackType

_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# The companion outlives the signals that stop its program. The program is not its parent: a
# program may wait for all its children.
_GUARDED = """
( { trap '' TERM INT HUP; read -r _; kill -KILL 0; } <&3 >/dev/null 2>&1 & ) 3<&0
exec "$@" </dev/null
"""


class Guard:
    """The pipe of one cloud; a context that ends the guarded programs when it closes.

    Attributes
    ----------
    pipe : int
        The descriptor that a guarded command needs as its standard input.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
