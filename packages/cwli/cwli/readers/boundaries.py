"""The boundaries between the buffers in which DuckDB reads text, and their harm to lines.

DuckDB 2.0 reads text in buffers of one size, several in parallel. DuckDB has three faults:

- The last line of a file is lost if the line crosses a boundary and has no end (DuckDB, issue
  25825).
- A line is read twice if a boundary lies between two line ends, as around an empty line or within
  CR LF, unless the buffers are read one after the other.
- A line above the maximum length that crosses a boundary may be lost instead of refused.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from itertools import count
from typing import BinaryIO, NamedTuple

_MIB = 1024 * 1024
_END = re.compile(rb"[\r\n]")


class Harm(Enum):
    """The harm that a buffer size does to the lines of a file."""

    NONE = auto()
    TWICE = auto()
    """A line is read twice, unless the buffers are read one after the other."""
    LOST = auto()
    """The last line is lost."""


class LineTooLongError(Exception):
    """A line above the maximum length; the argument is the byte at which the line begins."""


class Limits(NamedTuple):
    """The sizes by which text is read.

    Attributes
    ----------
    line : int
        The maximum size of a line with its end [B]. An event has at most 1 MiB (AWS documentation,
        PutLogEvents).
    buffers : tuple of int
        The accepted sizes of a buffer [B], the best first. Each is a multiple of ``line``, the unit
        that DuckDB gives to a thread, since lines in a remainder are lost. Larger buffers load the
        processors less evenly.
    """

    line: int = _MIB
    buffers: tuple[int, ...] = tuple(range(16 * _MIB, 8 * _MIB, -_MIB))

    def harm(self, file: BinaryIO, buffer: int) -> Harm:
        """Return the harm that a buffer size does to the lines of an open file.

        Raises
        ------
        LineTooLongError
            If a line that crosses a boundary exceeds the maximum length.
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
