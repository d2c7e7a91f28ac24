"""The statements of a request in the server's database, which its answer reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

HEADER = "Server-Timing"
_FORM = re.compile(r"db;dur=(\d+\.\d+);desc=(\d+)")


class Statements(NamedTuple):
    """The statements of one request."""

    milliseconds: float
    """The time of all together."""
    count: int


def parsed(header: str) -> Statements | None:
    """Return the statements in a header, None if it has another form."""
    found = _FORM.fullmatch(header)
    return Statements(float(found[1]), int(found[2])) if found else None


def line(operation: str, requests: Sequence[Statements]) -> str:
    """Return the line of an operation: its requests, and the means of their statements."""
    milliseconds, counts = zip(*requests, strict=True)
    return (
        f"Database {operation} requests {len(requests)} time {fmean(milliseconds):.6f} ms "
        f"statements {fmean(counts):.6f}"
    )
