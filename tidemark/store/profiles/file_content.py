"""The content of a profile's file, unpacked and within bounds."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedIOBase
from pathlib import Path

from tidemark.store.profiles.unreadable import Unreadable, unreadable_at

MOST_BYTES = 512 << 20
"""The most that is read of a file, unpacked [B]."""
_LONGEST_LINE = 1 << 20  # [B]
_GZIP = b"\x1f\x8b"


class Content:
    """A file that is read once, from its beginning."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._most = self._left = MOST_BYTES

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
        next_line = partial(self._stream.readline, _LONGEST_LINE)
        for number, line in enumerate(iter(next_line, b""), start=1):
            self._count(line)
            if line[-1:] != b"\n":
                if len(line) == _LONGEST_LINE:
                    raise unreadable_at(number, f"it has more than {_LONGEST_LINE:,} bytes")
                raise unreadable_at(number, "the file ends within it; expected a whole file")
            try:
                yield number, line.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                raise unreadable_at(number, "it is no text in UTF-8") from None

    def _count(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise _too_large(self._most)


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
