"""The encodings of log files: UTF-8, and UTF-16 with a byte order mark, as Windows writes it."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from io import TextIOWrapper
from typing import BinaryIO

UTF16 = "utf-16"
_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
_REPLACED, _NO_TEXT = "\ufffd".encode(), b"\xff"


def is_utf16(file: BinaryIO) -> bool:
    """Tell whether a file begins with the byte order mark of UTF-16; move to its beginning."""
    file.seek(0)
    mark = file.read(len(BOM_UTF16_LE))
    file.seek(0)
    return mark in _MARKS


def encoding_of(file: BinaryIO) -> str:
    """Return the name of a file's encoding, by which no mark is part of the text."""
    return UTF16 if is_utf16(file) else "utf-8-sig"


def utf8_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, in UTF-8.

    Bytes that are no UTF-16 become a byte that is no UTF-8, so that they count as damage.
    """
    if is_utf16(file):
        text = TextIOWrapper(file, UTF16, errors="replace", newline="\n")
        for line in text:
            yield line.encode().replace(_REPLACED, _NO_TEXT)
        text.detach()  # else its end would close the file
    else:
        yield from file
