"""The lines of a log, and the events that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from heapq import merge
from mmap import mmap
from typing import NamedTuple

from stringzilla import find, rfind

from cwli.readers.clocks import Beginning, Clock, beginning, own_beginning
from cwli.readers.lines import MARK

# The bytes with which U+10FFFE and U+10FFFF begin, which separate columns of DuckDB's reader.
_SEPARATOR = b"\xf4\x8f\xbf"


class TooLongError(Exception):
    """An event that is too long."""


class LineTests(NamedTuple):
    """Tests of whether a line begins an event."""

    begins: Beginning
    single: re.Pattern[bytes] | None
    """A faster test, which fits only events of one line, and not all of them."""

    @classmethod
    def of(cls, clock: Clock | None) -> LineTests:
        """Return the tests by the clock of a file."""
        return cls(beginning(clock), _single_line(own_beginning(clock) if clock else b"."))


class Lines(NamedTuple):
    """The lines of a file, or of whole events at the beginning of a buffer.

    Attributes
    ----------
    buffer, view : bytearray or mmap, memoryview
        The bytes.
    size : int
        The number of the bytes that count.
    tests : LineTests
        The tests of the lines.
    most_bytes : int
        The size that an event does not reach [B].
    """

    buffer: bytearray | mmap
    view: memoryview
    size: int
    tests: LineTests
    most_bytes: int

    def places(self, texts: Iterable[bytes], begin: int, end: int) -> Iterator[int]:
        """Yield, in order, the places from ``begin`` to ``end`` at which a text begins."""
        each = [self._places(text, begin, min(end + len(text) - 1, self.size)) for text in texts]
        return merge(*each) if len(each) > 1 else each[0]

    def _places(self, text: bytes, place: int, end: int) -> Iterator[int]:
        while place < end and (place := find(self.view, text, place, end)) >= 0:
            yield place
            place += 1

    def single(self, places: Iterable[int], done: int) -> tuple[int, bytes] | None:
        """Return the end of the last line with one of the places, and these lines.

        Return None unless each of them is an event of its own, and in the form of a copy.
        """
        if not self.tests.single:
            return None
        lines = []
        view, size, single = self.view, self.size, self.tests.single.match
        for place in places:
            if place >= done:
                begin = rfind(view, b"\n", done, place) + 1 or done
                line = single(view, begin, size)
                if not line or line.end() - begin >= self.most_bytes:
                    return None
                lines.append(line[0])
                done = line.end()
        found = b"".join(lines)
        return (done, found) if b"\r" not in found and is_plain(found) else None

    def part(self, begin: int, end: int) -> bytes:
        """Return the lines from one place to another."""
        return bytes(self.buffer[begin:end])

    def event_at(self, place: int, least: int) -> int:
        """Return the begin of the event at a place, not before ``least``.

        Raises
        ------
        TooLongError
            If the event is too long.
        """
        begin = place + 1
        while begin > least:
            begin = rfind(self.view, b"\n", least, begin - 1) + 1 or least
            if self._begins_at(begin):
                break
            if place - begin > self.most_bytes:
                raise TooLongError
        return begin

    def after_event(self, place: int) -> int:
        """Return the end of the event at a place.

        Raises
        ------
        TooLongError
            If the event is too long.
        """
        end = self._next(place)
        while end < self.size and not self._begins_at(end):
            end = self._next(end)
            if end - place > self.most_bytes:
                raise TooLongError
        return end

    def _next(self, place: int) -> int:
        return find(self.view, b"\n", place, self.size) + 1 or self.size

    def _begins_at(self, place: int) -> object:
        return self.tests.begins(self.part(place, self._next(place)).rstrip(b"\r\n"))


def _single_line(begins: bytes) -> re.Pattern[bytes]:
    """Return a pattern of a line that begins an event, and is followed by another such line."""
    begin = rb"(?=.*?(?:%b))" % begins
    return re.compile(rb"(?m)%b.*\n(?=\Z|%b)" % (begin, begin))


def is_plain(lines: bytes) -> bool:
    """Tell whether lines are text without the code points that have a meaning in copies."""
    if lines.isascii():
        return True
    if MARK in lines or _SEPARATOR in lines:
        return False
    try:
        return bool(lines.decode())
    except UnicodeDecodeError:
        return False
