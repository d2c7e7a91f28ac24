"""Names, counts and texts of users within a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_MOST_NAMES = 20
# Control characters can steer a terminal, and characters of direction reorder what people read.
# A lone surrogate is in no encoding. Tabs and line ends are text.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def listed(names: Iterable[object]) -> str:
    """Return names for a sentence, ``a, b, c``; names beyond the 20th are only counted."""
    rest = iter(names)
    first = ", ".join(str(name) for name in islice(rest, _MOST_NAMES))
    more = sum(1 for _ in rest)
    return f"{first} and {more} more" if more else first


def plural(count: int, noun: str, several: str = "") -> str:
    """Return ``1 file`` or ``2 files``; ``several`` is a plural without a mere s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or f'{noun}s'}"


def visible(text: str) -> str:
    r"""Return a text with control characters and characters of direction as ``\u001b``, as in JSON.

    A document in JSON keeps its meaning.
    """
    if text.isprintable():  # most texts are, and this is faster
        return text
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
