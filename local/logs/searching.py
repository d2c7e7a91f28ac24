"""Search of text files: the events that may hold a text, found without a look at each line.

A query that keeps only events with a certain text needs no others. They are written into copies,
which DuckDB reads in place of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import stringzilla

from local.logs.boundaries import LIMITS
from local.logs.clocks import Beginning, Clock, beginning
from local.logs.encodings import is_utf16
from local.logs.joining import Joining, first_lines, last_event, without_returns
from local.logs.log_file import PEEKED_BYTES, Form, clock_in, form_of
from local.logs.packing import INCOMPLETE, unpacked

# A copy of more than this share of a file takes longer than to read the file whole.
_MOST_SHARE = 1 / 16
_DECIDING = 16 * 1024 * 1024
# How the code points begin that stand for line ends in copies, or that no text has.
_MARK = b"\xf4\x8f\xbf"


class NotSearchedError(Exception):
    """A file that is to be read whole: of another form than text, or with the texts often.

    An event with a text that is damaged or too long is another reason.
    """


@dataclass(frozen=True)
class Search:
    """A search of files.

    Attributes
    ----------
    texts : sequence of bytes
        The texts, of which an event must hold one. None has a line end.
    clock : Clock or None
        The clock of each file; None if its first lines choose one.
    begins : callable or None
        Tells whether a line begins an event; None if the clock does.
    most_bytes : int
        The maximum size of a line of text with its line feed [B].
    head : int
        The bytes at the beginning of a file that choose its clock. A copy begins with the events
        there, so that they choose the same.
    block : int
        The number of bytes that are read at once, which a processor keeps near it.
    """

    texts: Sequence[bytes]
    clock: Clock | None = None
    begins: Beginning | None = None
    most_bytes: int = LIMITS.line
    head: int = 64 * 1024
    block: int = 1024 * 1024

    def copies(self, files: Iterable[Path], folder: Path) -> Mapping[Path, Path]:
        """Return copies of files, written into a folder, each with an event on a line.

        Raises
        ------
        NotSearchedError
            If a file is to be read whole.
        """
        copies = {file: folder / f"found-{number}" for number, file in enumerate(files)}
        try:
            for file, path in copies.items():
                self._copy(file, path)
        except INCOMPLETE as error:
            raise NotSearchedError from error
        return copies

    def _copy(self, file: Path, path: Path) -> None:
        with unpacked(file) as content, path.open("wb") as copy:
            begins = self._beginning(file, content)
            content.seek(0)
            kept = 0
            for searched, lines in self._found(cast(BufferedIOBase, content), begins):
                kept += sum(map(copy.write, self._joined(lines, begins)))
                if searched > _DECIDING and kept > searched * _MOST_SHARE:
                    raise NotSearchedError

    def _beginning(self, file: Path, content: BinaryIO) -> Beginning:
        """Return the test of whether a line of a file begins an event."""
        if is_utf16(content):
            raise NotSearchedError
        begin = content.read(PEEKED_BYTES).decode(errors="replace").removeprefix("\ufeff")
        if form_of(begin) is not Form.TEXT:
            raise NotSearchedError
        first = first_lines(begin[: self.head])
        return self.begins or beginning(self.clock or clock_in(file, first))

    def _found(self, file: BufferedIOBase, begins: Beginning) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of each event to copy, after the number of bytes that were searched."""
        # A buffer of its own for each block takes as long as the search.
        buffer = bytearray(2 * self.most_bytes + self.head + self.block)
        searched = size = 0
        while read := self._read(file, buffer, size):
            size += read
            end = last_event(buffer, begins, size)
            least = 0 if searched else self.head
            for event in self._events(_Lines(buffer, end, begins), least):
                yield searched, event
            searched += end
            buffer[: size - end] = buffer[end:size]
            size -= end
        least = 0 if searched else self.head
        for event in self._events(_Lines(buffer, size, begins), least):
            yield searched, event

    def _read(self, file: BufferedIOBase, buffer: bytearray, place: int) -> int:
        """Read the next bytes to a place of the buffer; return their number."""
        if place > 2 * self.most_bytes:
            raise NotSearchedError
        with memoryview(buffer) as view:
            return file.readinto(view[place : place + self.head + self.block])

    def _events(self, lines: _Lines, least: int) -> Iterator[bytes]:
        """Yield the lines of the events that begin before a place, and of those with a text."""
        end = lines.after_event(least - 1) if least else 0
        if end:
            yield lines.part(0, end)
        for place in merge(*(lines.places(text, end) for text in self.texts)):
            if place >= end:
                begin = lines.event_at(place, end)
                end = lines.after_event(place)
                yield lines.part(begin, end)

    def _joined(self, lines: bytes, begins: Beginning) -> Iterator[bytes]:
        """Yield lines as a copy has them, each event as one line."""
        if len(lines) >= self.most_bytes or not _is_plain(lines):
            raise NotSearchedError
        if lines.find(b"\n") == len(lines) - 1 and b"\r" not in lines:
            yield lines
            return
        each = (without_returns(line.rstrip(b"\r")) for line in lines.split(b"\n"))
        events = Joining(begins, self.most_bytes - 1).events(each)
        yield from (event + b"\n" for event in events if event)


class _Lines(NamedTuple):
    """The lines of whole events, at the beginning of a buffer."""

    buffer: bytearray
    size: int
    begins: Beginning

    def places(self, text: bytes, place: int) -> Iterator[int]:
        """Yield the places of a text, not before a place."""
        while (place := stringzilla.find(self.buffer, text, place, self.size)) >= 0:
            yield place
            place += 1

    def part(self, begin: int, end: int) -> bytes:
        """Return the lines from one place to another."""
        return bytes(self.buffer[begin:end])

    def event_at(self, place: int, least: int) -> int:
        """Return the begin of the event at a place, not before ``least``."""
        begin = place + 1
        while begin > least:
            begin = max(self.buffer.rfind(b"\n", least, begin - 1) + 1, least)
            if self._begins_at(begin):
                break
        return begin

    def after_event(self, place: int) -> int:
        """Return the end of the event at a place."""
        end = self._next(place)
        while end < self.size and not self._begins_at(end):
            end = self._next(end)
        return end

    def _next(self, place: int) -> int:
        return self.buffer.find(b"\n", place, self.size) + 1 or self.size

    def _begins_at(self, place: int) -> object:
        return self.begins(self.part(place, self._next(place)).rstrip(b"\r\n"))


def _is_plain(lines: bytes) -> bool:
    """Tell whether lines are text without the code points that have a meaning in copies."""
    try:
        return lines.isascii() or (_MARK not in lines and bool(lines.decode()))
    except UnicodeDecodeError:
        return False
