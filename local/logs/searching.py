"""Search of text files: the events that may hold a text, found without a look at each line.

A query that keeps only events with a certain text needs no others. They are written into copies,
which DuckDB reads in place of the files.
"""

from __future__ import annotations

import os
import re
import time
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from heapq import merge
from io import BufferedIOBase, BufferedReader
from itertools import chain
from mmap import ACCESS_READ, MADV_DONTNEED, PAGESIZE, mmap
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO, NamedTuple, cast

from stringzilla import find, rfind

from local.logs.boundaries import LIMITS
from local.logs.clocks import Beginning, Clock, beginning, own_beginning
from local.logs.encodings import is_utf16
from local.logs.joining import Joining, first_lines, last_event, without_returns
from local.logs.log_file import PEEKED_BYTES, Form, clock_in, form_of
from local.logs.packing import INCOMPLETE, unpacked
from local.logs.processes import ProcessFailedError, in_processes

# A copy of more than this share of a file takes longer than to read the file whole.
_MOST_SHARE = 1 / 16
_DECIDING = 16 * 1024 * 1024
# How the code points begin that stand for line ends in copies, or that no text has.
_MARK = b"\xf4\x8f\xbf"
# MADV_POPULATE_READ (Linux, uapi/asm-generic/mman-common.h), which Python 3.11 does not name.
_POPULATE_READ = 22


class NotSearchedError(Exception):
    """A file that is to be read whole: of another form than text, or with the texts often.

    An event with a text that is damaged or too long is another reason.
    """


class Search(NamedTuple):
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
        The number of bytes that are read at once of a file that is packed or young, which a
        processor keeps near it.
    window : int
        The number of bytes of another file that are in memory at once.
    settled : float
        The time since the last change of a file after which it is searched in place [s]. Another
        process may still truncate a younger one, as a rotation does, and the system ends a process
        that reads the missing part in place.
    share : int
        The least number of bytes that are worth a process of their own.
    processes : int
        The largest number of processes that search.
    """

    texts: Sequence[bytes]
    clock: Clock | None = None
    begins: Beginning | None = None
    most_bytes: int = LIMITS.line
    head: int = 64 * 1024
    block: int = 1024 * 1024
    window: int = 16 * 1024 * 1024
    settled: float = 60
    share: int = 64 * 1024 * 1024
    processes: int = os.cpu_count() or 1

    def copies(self, files: Iterable[Path], folder: Path) -> Mapping[Path, Path]:
        """Return copies of files, written into a folder, each with an event on a line.

        Raises
        ------
        NotSearchedError
            If a file is to be read whole.
        """
        try:
            sizes = {file: file.stat().st_size for file in files}
            parts = {
                file: self._parts(file, size, folder / f"found-{number}")
                for number, (file, size) in enumerate(sizes.items())
            }
            tasks = list(chain.from_iterable(parts.values()))
            in_processes(self._copy, tasks, self._processes(sum(sizes.values())))
        except (*INCOMPLETE, ProcessFailedError) as error:
            raise NotSearchedError from error
        return {file: _joined([part.copy for part in each]) for file, each in parts.items()}

    def _processes(self, size: int) -> int:
        """Return the number of processes that are worth a number of bytes."""
        return max(1, min(self.processes, size // self.share))

    def _parts(self, file: Path, size: int, path: Path) -> Sequence[_Part]:
        """Return the parts of a file; only one that can be searched in place has several."""
        with unpacked(file) as content:
            number = self._processes(size) if self._is_mapped(content) else 1
        copies = (path.with_name(f"{path.name}-{each}") for each in range(number))
        return [_Part(file, copy, each, number) for each, copy in enumerate(copies)]

    def _copy(self, part: _Part) -> None:
        with unpacked(part.file) as content, part.copy.open("wb") as copy:
            tests = self._tests(part.file, content)
            content.seek(0)
            kept = 0
            for searched, lines in self._found(content, part, tests):
                kept += copy.write(lines)
                if searched > _DECIDING and kept > searched * _MOST_SHARE:
                    raise NotSearchedError

    def _tests(self, file: Path, content: BinaryIO) -> _Tests:
        """Return the tests of whether a line of a file begins an event."""
        if is_utf16(content):
            raise NotSearchedError
        begin = self._begin(content).decode(errors="replace").removeprefix("\ufeff")
        if form_of(begin) is not Form.TEXT:
            raise NotSearchedError
        if self.begins:
            return _Tests(self.begins, None)
        clock = self.clock or clock_in(file, first_lines(begin[: self.head]))
        return _Tests(beginning(clock), _single_line(own_beginning(clock) if clock else b"."))

    def _begin(self, content: BinaryIO) -> bytes:
        """Return the bytes of a file that choose its form: only one of JSON may have another."""
        begin = content.read(self.head)
        if begin.removeprefix(BOM_UTF8).lstrip()[:1] in (b"", b"{"):
            begin += content.read(PEEKED_BYTES - self.head)
        return begin

    def _is_mapped(self, file: BinaryIO) -> bool:
        """Tell whether a file is searched in place."""
        status = os.fstat(file.fileno())
        is_settled = time.time() - status.st_mtime > self.settled
        return isinstance(file, BufferedReader) and status.st_size > 0 and is_settled

    def _found(self, file: BinaryIO, part: _Part, tests: _Tests) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a copy, after the number of bytes that were searched."""
        if part.parts > 1 or self._is_mapped(file):
            return self._mapped(file, part, tests)
        return self._streamed(cast(BufferedIOBase, file), tests)

    def _mapped(self, file: BinaryIO, part: _Part, tests: _Tests) -> Iterator[tuple[int, bytes]]:
        """Search a file in place, since its copy into a buffer takes as long as the search."""
        with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped, memoryview(mapped) as view:
            lines = _Lines(mapped, view, len(mapped), tests)
            first, last = part.within(lines)
            done = first
            for begin in range(first, last, self.window):
                end = min(begin + self.window, last)
                _load(mapped, begin, end)
                head = 0 if begin else min(self.head, last)
                done, found = self._copied(lines, (begin, end), done, head)
                yield end - first, found
                _advise(mapped, MADV_DONTNEED, begin, end)

    def _streamed(self, file: BufferedIOBase, tests: _Tests) -> Iterator[tuple[int, bytes]]:
        """Search a file block by block, as it is read or unpacked."""
        # A buffer of its own for each block takes as long as the search.
        buffer = bytearray(2 * self.most_bytes + self.head + self.block)
        searched = size = 0
        with memoryview(buffer) as view:
            while read := self._read(file, view, size):
                size += read
                lines = _Lines(buffer, view, last_event(buffer, tests.begins, size), tests)
                yield searched, self._block(lines, searched)
                searched += lines.size
                size -= lines.size
                view[:size] = bytes(view[lines.size : lines.size + size])
            yield searched, self._block(_Lines(buffer, view, size, tests), searched)

    def _read(self, file: BufferedIOBase, view: memoryview, place: int) -> int:
        """Read the next bytes to a place of the buffer; return their number."""
        if place > 2 * self.most_bytes:
            raise NotSearchedError
        return file.readinto(view[place : place + self.head + self.block])

    def _block(self, lines: _Lines, searched: int) -> bytes:
        """Return the lines of a copy of whole events."""
        return self._copied(lines, (0, lines.size), 0, 0 if searched else self.head)[1]

    def _copied(
        self, lines: _Lines, part: tuple[int, int], done: int, head: int
    ) -> tuple[int, bytes]:
        """Return the end of the last event of a part that a copy has, and the events of the part.

        Parameters
        ----------
        lines : _Lines
            The lines of the file.
        part : tuple of int
            The places between which the texts begin.
        done : int
            The end of the event that was copied before.
        head : int
            The bytes at the beginning whose events are copied.
        """
        events: list[bytes] = []
        if head:
            done = lines.after_event(head - 1)
            events += self._joined(lines.part(0, done), lines.tests.begins)
        places = partial(lines.places, self.texts, max(part[0], done), part[1])
        if single := lines.single(places(), done, self.most_bytes):
            return single[0], b"".join((*events, single[1]))
        for place in places():
            if place >= done:
                begin = lines.event_at(place, done, self.most_bytes)
                done = lines.after_event(place)
                events += self._joined(lines.part(begin, done), lines.tests.begins)
        return done, b"".join(events)

    def _joined(self, lines: bytes, begins: Beginning) -> Iterator[bytes]:
        """Yield lines as a copy has them, each event as one line."""
        if len(lines) >= self.most_bytes or not _is_plain(lines):
            raise NotSearchedError
        if lines.find(b"\n") == len(lines) - 1 and b"\r" not in lines:
            yield lines
            return
        each = (without_returns(line.rstrip(b"\r")) for line in lines.rstrip(b"\n").split(b"\n"))
        events = Joining(begins, self.most_bytes - 1).events(each)
        yield from (event + b"\n" for event in events if event)


class _Part(NamedTuple):
    """A part of a file, and the path of the copy with what a search finds in it."""

    file: Path
    copy: Path
    number: int
    parts: int

    def within(self, lines: _Lines) -> tuple[int, int]:
        """Return the begin and the end of the part among the lines of the file: whole events."""
        places = (lines.size * each // self.parts for each in (self.number, self.number + 1))
        begin, end = (lines.after_event(place - 1) if place else 0 for place in places)
        return begin, end


class _Tests(NamedTuple):
    """Tests of whether a line begins an event."""

    begins: Beginning
    single: re.Pattern[bytes] | None
    """A faster test, which fits only events of one line, and not all of them."""


class _Lines(NamedTuple):
    """The lines of a file, or of whole events at the beginning of a buffer."""

    buffer: bytearray | mmap
    view: memoryview
    size: int
    tests: _Tests

    def places(self, texts: Iterable[bytes], begin: int, end: int) -> Iterator[int]:
        """Yield the places between two ones at which a text begins, in their order."""
        each = [self._places(text, begin, min(end + len(text) - 1, self.size)) for text in texts]
        return merge(*each) if len(each) > 1 else each[0]

    def _places(self, text: bytes, place: int, end: int) -> Iterator[int]:
        while place < end and (place := find(self.view, text, place, end)) >= 0:
            yield place
            place += 1

    def single(self, places: Iterable[int], done: int, most_bytes: int) -> tuple[int, bytes] | None:
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
                if not line or line.end() - begin >= most_bytes:
                    return None
                lines.append(line[0])
                done = line.end()
        found = b"".join(lines)
        return (done, found) if b"\r" not in found and _is_plain(found) else None

    def part(self, begin: int, end: int) -> bytes:
        """Return the lines from one place to another."""
        return bytes(self.buffer[begin:end])

    def event_at(self, place: int, least: int, most_bytes: int) -> int:
        """Return the begin of the event at a place, not before ``least``.

        Raises
        ------
        NotSearchedError
            If the event is too large.
        """
        begin = place + 1
        while begin > least:
            begin = rfind(self.view, b"\n", least, begin - 1) + 1 or least
            if self._begins_at(begin):
                break
            if place - begin > most_bytes:
                raise NotSearchedError
        return begin

    def after_event(self, place: int) -> int:
        """Return the end of the event at a place."""
        end = self._next(place)
        while end < self.size and not self._begins_at(end):
            end = self._next(end)
        return end

    def _next(self, place: int) -> int:
        return find(self.view, b"\n", place, self.size) + 1 or self.size

    def _begins_at(self, place: int) -> object:
        return self.tests.begins(self.part(place, self._next(place)).rstrip(b"\r\n"))


def _single_line(begins: bytes) -> re.Pattern[bytes]:
    """Return what fits a line that begins an event, if the line after it begins one, too."""
    begin = rb"(?=.*?(?:%b))" % begins
    return re.compile(rb"(?m)%b.*\n(?=\Z|%b)" % (begin, begin))


def _joined(copies: Sequence[Path]) -> Path:
    """Append the other copies to the first; return its path."""
    whole, *others = copies
    with whole.open("ab") as copy:
        for path in others:
            with path.open("rb") as part:
                copyfileobj(part, copy)
    return whole


def _load(mapped: mmap, begin: int, end: int) -> None:
    """Map the pages of a part at once: one by one they take a sixteenth of a search."""
    with suppress(OSError):  # Linux before 5.14
        _advise(mapped, _POPULATE_READ, begin, end)


def _advise(mapped: mmap, advice: int, begin: int, end: int) -> None:
    """Advise the system about the whole pages of a part, and the page in which it begins."""
    pages = range(begin - begin % PAGESIZE, end - end % PAGESIZE)
    if pages:
        mapped.madvise(advice, pages.start, len(pages))


def _is_plain(lines: bytes) -> bool:
    """Tell whether lines are text without the code points that have a meaning in copies."""
    try:
        return lines.isascii() or (_MARK not in lines and bool(lines.decode()))
    except UnicodeDecodeError:
        return False
