"""The lines of log files: encodings, events of several lines, and lines that DuckDB loses.

An event of several lines, such as a stack trace, is written as one line of a copy. There, code
points that no text has (Unicode, section 23.7: noncharacters) stand for the line feeds and the
carriage returns within the event.

DuckDB 2.0 reads text in buffers of one size, several in parallel. DuckDB has three faults:

- The last line of a file is lost if the line crosses a boundary and has no end (DuckDB, issue
  25825).
- A line is read twice if a boundary lies between two line ends, as around an empty line or within
  CR LF, unless the buffers are read one after the other.
- A line above the maximum length that crosses a boundary may be lost instead of refused.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from heapq import merge
from io import TextIOWrapper
from itertools import count
from mmap import mmap
from typing import IO, AnyStr, BinaryIO, NamedTuple

from stringzilla import find, rfind

from cwli.insights.values import quoted
from cwli.readers.clocks import Beginning, Clock, beginning, own_beginning

UTF16 = "utf-16"
_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
_REPLACED, _NO_TEXT = "\ufffd".encode(), b"\xff"
_FEEDS = ("\n", b"\n")
# The bytes with which U+10FFFE and U+10FFFF begin, which separate columns of DuckDB's reader.
_COLUMNS_END = b"\xf4\x8f\xbf"


def is_utf16(file: BinaryIO) -> bool:
    """Tell whether a file begins with the byte order mark of UTF-16; move to its beginning."""
    file.seek(0)
    mark = file.read(len(BOM_UTF16_LE))
    file.seek(0)
    return mark in _MARKS


def encoding_of(file: BinaryIO) -> str:
    """Return the name of a file's encoding, by which no mark is part of the text."""
    return UTF16 if is_utf16(file) else "utf-8-sig"


def utf8_lines(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield the lines of a file from its beginning, in UTF-8.

    Bytes that are not UTF-16 become 0xFF, which is not UTF-8, so that they count as damage. A line
    that is longer than ``most`` bytes or characters, with its end, is cut there and ends in 0xFF: a
    packed file of some kilobytes may hold a line of gigabytes.
    """
    if is_utf16(file):
        text = TextIOWrapper(file, UTF16, errors="replace", newline="\n")
        try:
            for characters in _lines(text, most):
                yield characters.encode().replace(_REPLACED, _NO_TEXT)
        finally:
            text.detach()  # else its end would close the file
        return
    for line in _lines(file, most):
        yield line if len(line) < most or line.endswith(b"\n") else line[:-1] + _NO_TEXT


def _lines(file: IO[AnyStr], most: int) -> Iterator[AnyStr]:
    """Yield the lines of a file, and of a longer one its beginning without a line end."""
    while line := file.readline(most):
        yield line
        rest = line
        while len(rest) == most and rest[-1:] not in _FEEDS:
            rest = file.readline(most)


_FEED, _RETURN = "\U000fffff", "\U000ffffe"
_FEED_BYTES = _FEED.encode()
MARKS = _FEED + _RETURN
"""The code points that stand for line ends."""
MARK = b"\xf3\xbf\xbf"
"""The bytes with which both begin in UTF-8."""


class Joining:
    """The joining of lines to events.

    Parameters
    ----------
    begins : callable
        Tells whether a line begins an event. Any other line belongs to the event before, if an
        event has begun and this line does not make it too large.
    most_bytes : int
        The maximum size of an event in a copy [B].
    """

    def __init__(self, begins: Beginning, most_bytes: int) -> None:
        self._begins = begins
        self._most_bytes = most_bytes
        self.joined = 0
        """The number of lines that belong to an event before."""

    def events(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield each event as one line, perhaps an empty line; no line has a line end."""
        event: list[bytes] = []
        size = 0
        has_begun = False
        for line in lines:
            begins = self._begins(line)
            size += len(line) + len(_FEED_BYTES)
            if begins or not has_begun or size > self._most_bytes:
                yield self._written(event)
                event, size = [], len(line)
            event.append(line)
            has_begun = has_begun or bool(begins)
        yield self._written(event)

    def _written(self, event: list[bytes]) -> bytes:
        """Return the line of an event, without the empty lines after it; b"" if it is empty."""
        while event and not event[-1]:
            event.pop()
        if len(event) > 1:
            self.joined += len(event) - 1
        return _FEED_BYTES.join(event)


def last_event(lines: bytes | bytearray, begins: Beginning, size: int | None = None) -> int:
    """Return the place at which the last event begins, 0 if no line begins one.

    A line without an end is none yet, and begins no event. Bytes after ``size`` do not count.
    """
    end = place = lines.rfind(b"\n", 0, size) + 1
    while place:
        place = lines.rfind(b"\n", 0, end - 1) + 1
        if begins(bytes(lines[place:end]).rstrip(b"\r\n")):
            break
        end = place
    return place


def without_returns(line: bytes) -> bytes:
    """Return a line with the stand-in of its carriage returns."""
    return line.replace(b"\r", _RETURN.encode())


def first_lines(text: str) -> list[str]:
    """Return the lines of a text, of a copy the first line of each event."""
    return [line.partition(_FEED)[0].rstrip("\r") for line in text.split("\n")]


def first_line(line: str) -> str:
    """Return SQL for the first line of an event, of SQL for its line in a copy."""
    return f"split_part({line}, '{_FEED}', 1)"


def whole(line: str) -> str:
    """Return SQL for the text of an event, of SQL for its line in a copy."""
    text = f"translate({line}, {quoted(MARKS)}, chr(10) || chr(13))"
    # DuckDB's translate takes 50 times as long as a search.
    marked = " OR ".join(f"contains({line}, '{mark}')" for mark in MARKS)
    return f"CASE WHEN {marked} THEN {text} ELSE {line} END"


def is_plain(lines: bytes) -> bool:
    """Tell whether lines are text without the code points that have a meaning in copies."""
    if lines.isascii():
        return True
    if MARK in lines or _COLUMNS_END in lines:
        return False
    try:
        return bool(lines.decode())
    except UnicodeDecodeError:
        return False


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


def _single_line(begins: bytes) -> re.Pattern[bytes]:
    """Return a pattern of a line that begins an event, and is followed by another such line."""
    begin = rb"(?=.*?(?:%b))" % begins
    return re.compile(rb"(?m)%b.*\n(?=\Z|%b)" % (begin, begin))


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
