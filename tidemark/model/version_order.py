"""The order of versions, and words about them."""

from __future__ import annotations

import re
from collections.abc import Iterable

NEWEST, PREVIOUS, DEPLOYED = "newest", "previous", "deployed"
_WIDTH = 8


def version_order(version: str) -> str:
    """Return a text that sorts as versions do: 9.8.4-rc1, 9.8.4, 9.10.0.

    Every sequence of digits is padded with zeros, so that text comparison gives the order of the
    numbers, in Python and in SQL. The marks ``!`` before a suffix, ``,`` at the end and ``.``
    before a further number sort in this order.
    """
    padded = re.sub(r"\d+", lambda digits: digits.group().zfill(_WIDTH), version)
    return padded.replace("-", "!") + ","


def latest(released: Iterable[str]) -> dict[str, str]:
    """Return the version of ``newest`` and, if there are two, the version of ``previous``."""
    order = sorted(set(released), key=version_order, reverse=True)
    return dict(zip((NEWEST, PREVIOUS), order, strict=False))


def versions_at(version: str, before: str) -> str:
    """Return in words which versions the runs on either side of a change measured."""
    return f"{version} after {before}" if version != before else f"{version} before and after"


def versions_parameter(stack: str, suite: str) -> str:
    """Return the name of the SSM parameter in which release pipelines list a suite's versions."""
    return f"/{stack}/{suite}/versions"
