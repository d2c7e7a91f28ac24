"""Copies of damaged text files in which every line can be read, and the counts of the damage.

A query first reads the files as they are. Only if that fails, they are read here line by line.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from local.logs.boundaries import LIMITS
from local.logs.packing import PackingError, unpacked

_NONCHARACTERS = str.maketrans("\U0010ffff\U0010fffe", "\ufffd\ufffd")


class Damage(Enum):
    """A kind of damage, with the words for its count: one, several."""

    BYTES = ("line with bytes that are no text", "lines with bytes that are no text")
    LONG = ("line too long for an event skipped", "lines too long for an event skipped")
    INCOMPLETE = ("file ends early", "files end early")
    UNREADABLE = ("file cannot be read", "files cannot be read")


@dataclass(frozen=True)
class Mended:
    """The copies of damaged files, and their damage.

    Attributes
    ----------
    copies : dict of Path to Path or None
        The copy of each damaged file; None for a file that cannot be read at all.
    damage : dict of Damage to int
        The counts of lines and files.
    """

    copies: Mapping[Path, Path | None]
    damage: Mapping[Damage, int]


def mend(files: Iterable[Path], folder: Path, most_bytes: int = LIMITS.line) -> Mended:
    """Return mended copies of the damaged ones of some text files, written into a folder.

    Bytes that are no UTF-8 become U+FFFD. Lines of ``most_bytes`` or more are left out.
    """
    copies: dict[Path, Path | None] = {}
    damage: Counter[Damage] = Counter()
    for number, file in enumerate(files):
        copy = folder / f"mended-{number}"
        found = _copy(file, copy, most_bytes)
        damage += found
        if found[Damage.UNREADABLE]:
            copies[file] = None
        elif found:
            copies[file] = copy
        else:
            copy.unlink(missing_ok=True)
    return Mended(copies, damage)


def _copy(file: Path, copy: Path, most_bytes: int) -> Counter[Damage]:
    damage: Counter[Damage] = Counter()
    try:
        with unpacked(file) as lines, copy.open("wb") as mended:
            try:
                for line in lines:
                    mended.write(_mended(line, damage, most_bytes))
            except (EOFError, zlib.error):
                damage[Damage.INCOMPLETE] += 1
    except (OSError, PackingError):
        damage[Damage.UNREADABLE] += 1
    return damage


def _mended(line: bytes, damage: Counter[Damage], most_bytes: int) -> bytes:
    if len(line) >= most_bytes:
        damage[Damage.LONG] += 1
        return b""
    text = line.decode(errors="replace").translate(_NONCHARACTERS)
    mended = text.encode()
    if mended != line:
        damage[Damage.BYTES] += 1
    # DuckDB may lose a last line without an end.
    return mended if mended.endswith(b"\n") else mended + b"\n"
