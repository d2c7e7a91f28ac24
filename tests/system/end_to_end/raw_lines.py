"""Rates in raw log lines, without the query engine."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from onebox.logs.store import LogStore

RATE = "$(NF - 2)"
"""The rate in a line that ends with ``per second``, as awk finds it."""
CPU_TIME = "$(NF - 7)"
"""The CPU time in a line that ends with ``for N records``, as awk finds it."""
_LINES = {RATE: r"^\[.*per second$", CPU_TIME: r"^\[.*for [0-9]* records$"}


def mean_by_grep_and_awk(
    store: LogStore,
    log_group: str,
    streams: Iterable[str],
    words: str,
    raw: Path,
    figure: str = RATE,
    thread: str = "",
) -> tuple[float, int]:
    """Return the mean and the number of the rates in the lines that have some words.

    The lines of the streams are written to the file ``raw``. ``figure`` is an expression of awk.
    Lines of another ``thread``, if it is given, do not count.
    """
    lines = (event.message for stream in sorted(streams) for event in store.read(log_group, stream))
    raw.write_text("".join(f"{line}\n" for line in lines))
    script = (
        f"grep -F '{f'[{thread}] ' if thread else ''}' {raw} | grep -F '{words}' | "
        f"grep '{_LINES.get(figure, _LINES[RATE])}' | "
        f"awk '{{ sum += {figure}; n += 1 }} END {{ printf \"%.17g %d\", sum / n, n }}'"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    mean, count = done.stdout.split()
    return float(mean), int(count)
