"""The order of versions, and the words for those that stand last in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

NEWEST, PREVIOUS = "newest", "previous"
_WIDTH = 8


def version_order(version: str) -> str:
    """Return a text that sorts as versions do: 9.8.4-rc1, 9.8.4, 9.10.0.

    Every run of digits is padded with zeros, so that plain text comparison, in Python as in
    SQL, gives the order of the numbers; and ``!`` before a suffix, ``,`` at the end and ``.``
    before a further number follow each other in that order.
    """
    padded = re.sub(r"\d+", lambda digits: digits.group().zfill(_WIDTH), version)
    return padded.replace("-", "!") + ","


def latest(released: Iterable[str]) -> dict[str, str]:
    """Return the version that ``newest`` stands for, and ``previous`` if there are two."""
    order = sorted(set(released), key=version_order, reverse=True)
    return dict(zip((NEWEST, PREVIOUS), order, strict=False))


def versions_parameter(stack: str, suite: str) -> str:
    """Return the name of the SSM parameter in which release pipelines list a suite's versions."""
    return f"/{stack}/{suite}/versions"
