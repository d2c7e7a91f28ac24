"""The order of versions."""

from __future__ import annotations

import re

_WIDTH = 8


def version_order(version: str) -> str:
    """Return a text that sorts as versions do: 9.8.4-rc1, 9.8.4, 9.10.0.

    Every run of digits is padded with zeros, so that plain text comparison, in Python as in
    SQL, gives the order of the numbers; and ``!`` before a suffix, ``,`` at the end and ``.``
    before a further number follow each other in that order.
    """
    padded = re.sub(r"\d+", lambda digits: digits.group().zfill(_WIDTH), version)
    return padded.replace("-", "!") + ","
