"""Values, names and long texts as parts of a sentence."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable
from datetime import datetime
from itertools import islice

# No control characters and no line breaks.
ONE_LINE = r"^[^\p{Cc}\p{Zl}\p{Zp}]*$"
LONGEST_VALUE = 60
"""The longest value that is shown whole, in characters."""
_MOST_NAMES = 20
# One letter too few or too many in a word of three, or one other digit in a version such as 9.8.4.
_SIMILAR = 0.75
# Control characters can steer a terminal, and characters of direction reorder what people read.
# A lone surrogate is in no encoding. Tabs and line ends are text.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
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


def there_are(names: Iterable[object], wanted: object) -> str:
    """Return the accepted names for a sentence about another one, ``there are a, b, c``."""
    known = list(names)
    return f"there are {listed(known) or 'none'}{did_you_mean(wanted, known)}"


def did_you_mean(wanted: object, names: Iterable[object]) -> str:
    """Return ``; did you mean 'history'?`` if one of the names is similar, or else ''.

    A name is also similar if it alone begins with the wanted one.
    """
    # Imported here because functions refuse few inputs.
    from difflib import get_close_matches  # noqa: PLC0415

    known, beginning = list(map(str, names)), str(wanted)[:LONGEST_VALUE]
    longer = [name for name in known if name.startswith(beginning)] if beginning else []
    near = longer if len(longer) == 1 else get_close_matches(beginning, known, 1, _SIMILAR)
    return f"; did you mean {near[0]!r}?" if near else ""


def plural(count: int, noun: str, several: str = "") -> str:
    """Return ``1 task`` or ``2 tasks``; ``several`` is a plural without a mere s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or f'{noun}s'}"


def part_of(count: int, whole: int, noun: str) -> str:
    """Return ``3 of 5 trials``; or ``all 5``, ``both``, ``the only`` or ``none of 5``."""
    if count == whole:
        return {1: f"the only {noun}", 2: f"both {noun}s"}.get(whole, f"all {whole:,} {noun}s")
    return f"{count or 'none'} of {plural(whole, noun)}"


def searched(window: tuple[datetime, datetime]) -> str:
    """Return the times between which log lines were searched for, in UTC."""
    return f"searched from {' to '.join(f'{moment:%Y-%m-%d %H:%M:%S}' for moment in window)} UTC"


def shown(value: object) -> str:
    """Return a value for a sentence: on one line, printable, at most 60 characters."""
    text = _BEGINNING.repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def visible(text: str) -> str:
    r"""Return a text with control characters and characters of direction as ``\u001b``, as in JSON.

    A document in JSON keeps its meaning.
    """
    if text.isprintable():  # most texts are, and this is faster
        return text
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def middle(text: str, most: int) -> str:
    """Return a text of at most ``most`` letters without its middle: names differ at their ends."""
    if len(text) <= most:
        return text
    start = most // 2
    return f"{text[:start]}…{text[len(text) - (most - start - 1) :]}"


def shortened(text: str, most_bytes: int) -> str:
    """Return a visible text on one line and within ``most_bytes`` of UTF-8, cut at its end."""
    line = visible(" ".join(text.split()))
    if len(line.encode()) <= most_bytes:
        return line
    # 3 bytes for the ellipsis; a character that is cut through is dropped.
    return line.encode()[: most_bytes - 3].decode(errors="ignore") + "…"
