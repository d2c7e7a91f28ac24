"""Packed files, recognised by their first bytes, whatever their names are."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from backports import zstd

INCOMPLETE = (OSError, EOFError, zlib.error, zstd.ZstdError)
"""The errors of reading a packed file that is cut short or damaged."""


class Packing(Enum):
    """How a file is packed, with the first bytes of such files."""

    NONE = b""
    GZIP = b"\x1f\x8b"
    BZIP2 = b"BZh"
    ZSTD = b"\x28\xb5\x2f\xfd"


_OPENERS: dict[Packing, Callable[[Path], object]] = {
    Packing.GZIP: gzip.open,
    Packing.BZIP2: bz2.open,
    Packing.ZSTD: zstd.open,
}
_LONGEST = max(len(packing.value) for packing in Packing)


def packing_of(path: Path) -> Packing:
    """Return how a file is packed; raise OSError if it cannot be opened."""
    with path.open("rb") as file:
        begin = file.read(_LONGEST)
    packed = (packing for packing in _OPENERS if begin.startswith(packing.value))
    return next(packed, Packing.NONE)


def unpacked(path: Path) -> BinaryIO:
    """Open a file for reading its unpacked bytes; raise OSError if it cannot be opened."""
    opener = _OPENERS.get(packing_of(path))
    return cast(BinaryIO, opener(path)) if opener else path.open("rb")
