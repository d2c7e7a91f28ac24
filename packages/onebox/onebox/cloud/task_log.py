"""The log stream of a task, within bounds.

CloudWatch Logs takes any number of lines and bills each byte. On one machine they share the disk
with the measurement and with all other logs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onebox.cloud.logs import CloudWatchLogs

MOST_BYTES = 64 * 2**20


class TaskLog:
    """The log stream of one task, which keeps the lines up to ``most_bytes``.

    ``overflow`` is called once, with the reason, when the task prints more.
    """

    def __init__(
        self,
        logs: CloudWatchLogs,
        group: str,
        stream: str,
        overflow: Callable[[str], None],
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._logs = logs
        self._group, self._stream = group, stream
        self._overflow = overflow
        self._most_bytes = most_bytes
        self._printed = 0

    def add(self, line: str) -> None:
        """Store a line of the cloud's own, however much the task has printed."""
        self._logs.write(self._group, self._stream, [line])

    def write(self, lines: Sequence[str]) -> None:
        """Store new lines, unless the task has printed too much."""
        if self._printed > self._most_bytes:
            return
        self._printed += sum(len(line.encode()) + 1 for line in lines)
        if self._printed <= self._most_bytes:
            self._logs.write(self._group, self._stream, lines)
            return
        self._overflow(
            f"it printed more than {self._most_bytes:,} bytes, the limit of a task on one machine"
        )
