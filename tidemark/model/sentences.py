"""Values, names and long texts as parts of a sentence."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from itertools import islice

# No control characters and no line breaks.
ONE_LINE = r"^[^\p{Cc}\p{Zl}\p{Zp}]*$"
LONGEST_VALUE = 60
"""The longest value that is shown whole, in characters."""
_MOST_NAMES = 20
# repr() of a large or deep value takes long: only its beginning is written.
_BEGINNING = reprlib.Repr()
_BEGINNING.maxstring = _BEGINNING.maxlong = _BEGINNING.maxother = LONGEST_VALUE
_BEGINNING.maxlevel = 3


def listed(names: Iterable[object]) -> str:
    """Return names for a sentence, ``a, b, c``; names beyond the 20th are only counted."""
    rest = iter(names)
    first = ", ".join(str(name) for name in islice(rest, _MOST_NAMES))
    more = sum(1 for _ in rest)
    return f"{first} and {more} more" if more else first


def shown(value: object) -> str:
    """Return a value for a sentence: on one line, printable, at most 60 characters."""
    text = _BEGINNING.repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def shortened(text: str, most_bytes: int) -> str:
    """Return a text on one line and within ``most_bytes`` of UTF-8, cut at its end if too long."""
    line = " ".join(text.split())
    if len(line.encode()) <= most_bytes:
        return line
    # 3 bytes for the ellipsis; a character that is cut through is dropped.
    return line.encode()[: most_bytes - 3].decode(errors="ignore") + "…"
