"""Packed files, recognised by their first bytes, whatever their names are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from backports import zstd

from cwli.readers.foreign_files import BEGINNING, foreign_form

INCOMPLETE = (OSError, EOFError, zlib.error, zstd.ZstdError, lzma.LZMAError)
"""The errors of reading a packed file that is cut short or damaged, or a file of another form."""
_MOST_LAYERS = 2
"""How often a file may be packed: Firehose packs what CloudWatch Logs has packed."""


class Packing(Enum):
    """How a file is packed, with the first bytes of such files."""

    NONE = b""
    GZIP = b"\x1f\x8b"
    BZIP2 = b"BZh"
    ZSTD = b"\x28\xb5\x2f\xfd"
    XZ = b"\xfd7zXZ\x00"
    SEVERAL = b"\0"
    """Packed twice."""


class ForeignFileError(OSError):
    """A file that holds no events in a form that is read."""


_OPENERS: dict[Packing, Callable[[Any], Any]] = {
    Packing.GZIP: gzip.open,
    Packing.BZIP2: bz2.open,
    Packing.ZSTD: zstd.open,
    Packing.XZ: lzma.open,
}
_LONGEST = max(len(packing.value) for packing in Packing)


def packing_of(path: Path) -> Packing:
    """Return how a file is packed; raise OSError if it cannot be opened."""
    with path.open("rb") as file:
        packing = _packing(file)
        if packing is Packing.NONE:
            return packing
        try:
            with _OPENERS[packing](file) as content:
                return packing if _packing(content) is Packing.NONE else Packing.SEVERAL
        except INCOMPLETE:
            return packing


def reason(error: BaseException) -> str:
    """Return why a file cannot be read, of one of `INCOMPLETE`."""
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its unpacked bytes.

    Raises
    ------
    ForeignFileError
        If the file is no text, is in a form that is not read, or is packed more than twice.
    OSError
        If it cannot be opened, or another of `INCOMPLETE` if its beginning cannot be read.
    """
    with ExitStack() as layers:
        file: BufferedIOBase = layers.enter_context(path.open("rb"))
        for _ in range(_MOST_LAYERS):
            packing = _packing(file)
            if packing is Packing.NONE:
                break
            file = layers.enter_context(_OPENERS[packing](file))
        _check(file)
        yield cast(BinaryIO, file)


def _check(file: BufferedIOBase) -> None:
    begin = _begin(file, BEGINNING)
    if _packing_by(begin) is not Packing.NONE:
        raise ForeignFileError(f"it is packed more than {_MOST_LAYERS} times; unpack it once")
    if form := foreign_form(begin):
        raise ForeignFileError(f"it is {form}")


def _packing(file: BufferedIOBase) -> Packing:
    return _packing_by(_begin(file, _LONGEST))


def _packing_by(begin: bytes) -> Packing:
    packed = (packing for packing in _OPENERS if begin.startswith(packing.value))
    return next(packed, Packing.NONE)


def _begin(file: BufferedIOBase, size: int) -> bytes:
    """Return the first bytes of a file, also of one that is cut short soon after them."""
    begin = file.read1(size)
    file.seek(0)
    return begin
