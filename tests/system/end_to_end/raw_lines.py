"""Rates in raw log lines, without the query engine."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from local.logs.store import LogStore


def mean_by_grep_and_awk(
    store: LogStore, log_group: str, streams: Iterable[str], words: str, raw: Path
) -> tuple[float, int]:
    """Return the mean and the number of the rates in the lines that have some words.

    The lines of the streams are written to the file ``raw``.
    """
    lines = (event.message for stream in sorted(streams) for event in store.read(log_group, stream))
    raw.write_text("".join(f"{line}\n" for line in lines))
    script = (
        f"grep -F '{words}' {raw} | grep 'per second$' | "
        "awk '{ sum += $(NF - 2); n += 1 } END { printf \"%.17g %d\", sum / n, n }'"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    mean, count = done.stdout.split()
    return float(mean), int(count)
