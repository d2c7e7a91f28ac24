"""The content of a profile's file, unpacked and within bounds."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path


class Unreadable(ValueError):
    """A profile that is not accepted; the message is a sentence without the file's name."""


def unreadable_at(line: int, sentence: str) -> Unreadable:
    """Return the error about a line of a profile."""
    return Unreadable(f"line {line:,}: {sentence}")


MOST_BYTES = 512 << 20
"""The most that is read of a file, unpacked [B]."""
_LONGEST_LINE, _BLOCK = 1 << 20, 1 << 18  # [B]; a block fits into the cache of a core
_TOO_LONG = f"it has more than {_LONGEST_LINE:,} bytes"
_GZIP = b"\x1f\x8b"


class Content:
    """A file that is read once, from its beginning."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._most = self._left = MOST_BYTES
        self.may_end_within_line = False

    def beginning(self, size: int) -> bytes:
        """Return the first bytes without passing them."""
        found = self._stream.read(size)
        self._stream.seek(0)
        return found

    def whole(self, most_bytes: int) -> bytes:
        """Return the content of a form that is read at once.

        Raises
        ------
        Unreadable
            If the file is too large for that.

        """
        self._most = self._left = most_bytes
        return b"".join(self.chunks())

    def chunks(self, size: int = 1 << 16) -> Iterator[bytes]:
        """Yield the content in parts."""
        while part := self._stream.read(size):
            self._count(part)
            yield part

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line.

        Raises
        ------
        Unreadable
            If the file is too large, ends within a line, or is no text.

        """
        for first, block in self.blocks():
            for number, line in enumerate(block, start=first):
                try:
                    text = text_of(line)
                except Unreadable as error:
                    raise unreadable_at(number, str(error)) from None
                yield number, text

    def blocks(self) -> Iterator[tuple[int, Sequence[bytes]]]:
        """Yield the lines of each part of the file, and the number of the first of them.

        Raises
        ------
        Unreadable
            If the file is too large or ends within a line.

        """
        first, rest = 1, b""
        for part in self.chunks(_BLOCK):
            *lines, rest = (rest + part).split(b"\n")
            yield first, lines
            first += len(lines)
            if len(rest) > _LONGEST_LINE:
                raise unreadable_at(first, _TOO_LONG)
        if rest and not self.may_end_within_line:
            raise unreadable_at(first, "the file ends within it; expected a whole file")
        if rest:
            yield first, [rest]

    def number_of(self, wanted: bytes) -> int:
        """Return the number of the first line of this content, 0 without one."""
        self._stream.seek(0)
        self._left = self._most
        for first, block in self.blocks():
            if wanted in block:
                return first + block.index(wanted)
        return 0

    def _count(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise _too_large(self._most)


def text_of(line: bytes) -> str:
    """Return the text of a line without its end; raise Unreadable if it is too long or no text."""
    if len(line) > _LONGEST_LINE:
        raise Unreadable(_TOO_LONG)
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise Unreadable("it is no text in UTF-8") from None


@contextmanager
def opened(file: Path) -> Iterator[Content]:
    """Yield the content of a file, unpacked if gzip packed it.

    Raises
    ------
    Unreadable
        If the file cannot be read or unpacked.

    """
    try:
        with file.open("rb") as packed, unpacked(packed) as content:
            yield content
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from None


@contextmanager
def unpacked(packed: BufferedIOBase) -> Iterator[Content]:
    """Yield the content of an open file, unpacked if gzip packed it.

    Raises
    ------
    Unreadable
        If it cannot be unpacked, or is too large.

    """
    is_packed = packed.read(len(_GZIP)) == _GZIP
    size = packed.seek(0, os.SEEK_END)
    packed.seek(0)
    if not is_packed and size > MOST_BYTES:
        raise _too_large(MOST_BYTES)
    try:
        with gzip.GzipFile(fileobj=packed) if is_packed else packed as stream:
            yield Content(stream)
    except EOFError:
        raise Unreadable("its gzip ends too early; expected a whole file") from None
    except (gzip.BadGzipFile, zlib.error):
        raise Unreadable("its gzip is damaged; expected a whole file") from None


def _too_large(most_bytes: int) -> Unreadable:
    return Unreadable(f"it has more than {most_bytes:,} bytes, unpacked")
