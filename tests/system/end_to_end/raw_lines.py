"""Rates in raw log lines, without the query engine."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from onebox.logs.store import LogStore

RATE = "$(NF - 2)"
"""The rate in a line that ends with ``per second``, as awk finds it."""


def mean_by_grep_and_awk(
    store: LogStore,
    log_group: str,
    streams: Iterable[str],
    words: str,
    raw: Path,
    figure: str = RATE,
) -> tuple[float, int]:
    """Return the mean and the number of the rates in the lines that have some words.

    The lines of the streams are written to the file ``raw``. ``figure`` is an expression of awk.
    """
    lines = (event.message for stream in sorted(streams) for event in store.read(log_group, stream))
    raw.write_text("".join(f"{line}\n" for line in lines))
    script = (
        f"grep -F '{words}' {raw} | grep '^\\[.*per second$' | "
        f"awk '{{ sum += {figure}; n += 1 }} END {{ printf \"%.17g %d\", sum / n, n }}'"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    mean, count = done.stdout.split()
    return float(mean), int(count)
