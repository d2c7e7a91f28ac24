"""Where the boundaries lie between the buffers in which DuckDB reads text, and what they harm.

DuckDB 2.0 reads text in buffers of one size, several at a time. If the last line of a file crosses
a boundary and has no end, it is lost (DuckDB, issue 25825); if a boundary lies between two line
ends, as around an empty line or within CR LF, a line is taken twice, unless one buffer is read
after the other; and a line that is too long may be lost where it crosses a boundary, instead of
refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from itertools import count
from typing import BinaryIO

_MIB = 1024 * 1024
_END = re.compile(rb"[\r\n]")


class Harm(Enum):
    """What reading in buffers of a size does to a file's lines."""

    NONE = auto()
    TWICE = auto()
    """A line is taken twice, unless one buffer is read after the other."""
    LOST = auto()
    """The last line is lost."""


class LineTooLongError(Exception):
    """A line that is longer than a line may be; its argument is the byte that it begins at."""


@dataclass(frozen=True)
class Limits:
    """How text is read.

    Attributes
    ----------
    line : int
        What a line may have with its end [B]. An event has 1 MiB at most (AWS documentation,
        PutLogEvents).
    buffers : tuple of int
        What may be read at once [B], the best first. Each is a multiple of ``line``: that is what
        DuckDB gives to a thread, which loses lines in a remainder. With larger ones processors
        are less evenly busy.
    """

    line: int = _MIB
    buffers: tuple[int, ...] = tuple(lines * _MIB for lines in range(16, 8, -1))

    def harm(self, file: BinaryIO, buffer: int) -> Harm:
        """Return what buffers of a size do to the lines of a file that is open for reading.

        Raises
        ------
        LineTooLongError
            If a line that crosses a boundary is longer than a line may be.
        """
        harm = Harm.NONE
        for boundary in count(buffer, buffer):
            file.seek(boundary - self.line)
            before, after = file.read(self.line), file.read(self.line)
            if not after:
                return harm
            begin = 1 + max(before.rfind(b"\n"), before.rfind(b"\r"))
            end = _END.search(after)
            length = self.line - begin + (end.start() if end else len(after))
            if length >= self.line:
                raise LineTooLongError(boundary - self.line + begin)
            if end is None:
                return Harm.LOST
            if begin == self.line and end.start() == 0:
                harm = Harm.TWICE
        raise AssertionError("a file has an end")


LIMITS = Limits()
