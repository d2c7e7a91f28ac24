"""The encodings of log files: UTF-8, and UTF-16 with a byte order mark, as Windows writes it."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE, iterdecode
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
_REPLACED, _NO_TEXT = "\ufffd".encode(), b"\xff"
_CHUNK = 64 * 1024


def is_utf16(file: BinaryIO) -> bool:
    """Tell whether a file begins with the byte order mark of UTF-16; move to its beginning."""
    file.seek(0)
    mark = file.read(len(BOM_UTF16_LE))
    file.seek(0)
    return mark in _MARKS


def utf8_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, in UTF-8.

    Bytes that are no UTF-16 become a byte that is no UTF-8, so that they count as damage.
    """
    if is_utf16(file):
        for line in _lines_of_utf16(file):
            yield line.encode().replace(_REPLACED, _NO_TEXT)
    else:
        yield from file


def _lines_of_utf16(file: BinaryIO) -> Iterator[str]:
    rest = ""
    for text in iterdecode(iter(partial(file.read, _CHUNK), b""), "utf-16", errors="replace"):
        *lines, rest = (rest + text).split("\n")
        yield from (f"{line}\n" for line in lines)
    yield rest
