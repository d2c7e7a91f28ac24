"""The cores of a server and of its load if both share one machine."""

from __future__ import annotations

import os


def keep_apart(host: str, *, serves: bool) -> None:
    """Keep this process, and those that it starts, on the server's or the load's half of the cores.

    A server at a loopback address shares its machine with the load, and each would slow the other.
    At another ``host``, or with one core, nothing changes.
    """
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if half and host.startswith("127."):
        os.sched_setaffinity(0, cores[half:] if serves else cores[:half])
