"""Search of text files: the events that may hold a text, found without a look at each line.

A query that keeps only events with a certain text needs no others. They are written into copies,
which DuckDB reads in place of the files. Several processes share the parts of a file.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedIOBase, BufferedReader
from itertools import chain, pairwise
from mmap import ACCESS_READ, MADV_DONTNEED, PAGESIZE, mmap
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO, NamedTuple, NoReturn, TypeVar, cast

from cwli.readers.clocks import Beginning, Clock
from cwli.readers.lines import (
    LIMITS,
    Joining,
    Lines,
    LineTests,
    TooLongError,
    first_lines,
    is_plain,
    is_utf16,
    last_event,
    without_returns,
)
from cwli.readers.log_file import PEEKED_BYTES, Form, clock_in, form_of
from cwli.readers.packing import INCOMPLETE, unpacked

# A copy of more than this share of a file takes longer than to read the file whole.
_MOST_SHARE = 1 / 16
# With more files than this none is divided: a divided file holds a descriptor until the end.
_FEW = 16
_DECIDING = 16 * 1024 * 1024
_PROCESSORS = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# MADV_POPULATE_READ (Linux, uapi/asm-generic/mman-common.h), which Python 3.11 does not name.
_POPULATE_READ = 22
_Task = TypeVar("_Task")


class NotSearchedError(Exception):
    """A file that is to be read whole: of another form than text, or with the texts often.

    An event with a text that is damaged or too long is another reason, and a change of the file.
    """


class Search(NamedTuple):
    """A search of files for the literals of a query's prefilter.

    Attributes
    ----------
    texts : sequence of bytes
        An event must hold one of these texts. No text has a line end.
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
    small : int
        The size of a file from which a copy pays [B]. A smaller one is read as it is, or left out
        if it has none of the texts.
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
    processes: int = _PROCESSORS
    small: int = 0

    def copies(self, files: Iterable[Path], folder: Path) -> Mapping[Path, Path | None]:
        """Return copies of files, written into a folder, each with an event on a line.

        Small files have no copy; those without the texts have None.

        Raises
        ------
        NotSearchedError
            If a file is to be read whole.
        """
        try:
            sizes = {file: file.stat().st_size for file in files}
            small = [file for file, size in sizes.items() if size < self.small]
            absent = dict.fromkeys(file for file in small if not self._may_hold(file, sizes[file]))
            sizes = {file: size for file, size in sizes.items() if size >= self.small}
            are_few = len(sizes) <= _FEW
            parts = {
                file: list(self._parts(file, size if are_few else 0, folder / f"found-{number}"))
                for number, (file, size) in enumerate(sizes.items())
            }
            tasks = list(chain.from_iterable(parts.values()))
            in_processes(self._copy, tasks, self._processes(sum(sizes.values())))
        except (*INCOMPLETE, ProcessFailedError, TooLongError, TruncatedError) as error:
            raise NotSearchedError from error
        copies = {file: _joined([part.copy for part in each]) for file, each in parts.items()}
        return {**absent, **copies}

    def _may_hold(self, file: Path, size: int) -> bool:
        """Tell whether a small file of a size [B] may hold an event with one of the texts."""
        with unpacked(file) as content:
            if is_utf16(content):
                return True
            # A packed file may hold far more than its size.
            is_plain = isinstance(content, BufferedReader)
            part = content.read(size + 1 if is_plain else PEEKED_BYTES)
            begin = part.decode(errors="replace").removeprefix("\ufeff")
            if form_of(begin) is not Form.TEXT:
                return True
            overlap = max(map(len, self.texts)) - 1
            while not any(text in part for text in self.texts):
                more = content.read(PEEKED_BYTES)
                if not more:
                    return False
                part = part[-overlap:] + more if overlap else more
        return True

    def _processes(self, size: int) -> int:
        """Return the number of processes that are worth a number of bytes."""
        return max(1, min(self.processes, size // self.share))

    def _parts(self, file: Path, size: int, path: Path) -> Iterator[_Part]:
        """Yield the parts of a file, only one if it is small or not searched in place."""
        number = self._processes(size)
        lines: Lines | None = None
        ends: Sequence[int] = [size]
        with unpacked(file) as content:
            if number > 1 and self._is_mapped(content):
                lines = self._lines(content, self._tests(file, content))
                ends = self._ends(lines, number)
        for each, (begin, end) in enumerate(pairwise([0, *ends])):
            yield _Part(file, path.with_name(f"{path.name}-{each}"), lines, begin, end)

    def _lines(self, file: BinaryIO, tests: LineTests) -> Lines:
        """Return the lines of a file that is read in place."""
        whole = mapped(file)
        return Lines(whole, memoryview(whole), len(whole), tests, self.most_bytes)

    def _ends(self, lines: Lines, number: int) -> Sequence[int]:
        """Return the ends of a number of parts of whole events, one end if an event is too long."""
        places = [lines.size * each // number - 1 for each in range(1, number + 1)]
        with suppress(TooLongError):
            return list(map(lines.after_event, places))
        return [lines.size]

    def _copy(self, part: _Part) -> None:
        with part.copy.open("wb") as copy:
            kept = 0
            for searched, lines in self._found(part):
                kept += copy.write(lines)
                if searched > _DECIDING and kept > searched * _MOST_SHARE:
                    raise NotSearchedError

    def _found(self, part: _Part) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a copy, after the number of bytes that were searched."""
        if part.lines:
            yield from self._mapped(part.lines, part.begin, part.end)
            return
        with unpacked(part.file) as content:
            tests = self._tests(part.file, content)
            if self._is_mapped(content):
                lines = self._lines(content, tests)
                yield from self._mapped(lines, 0, lines.size)
            else:
                yield from self._streamed(cast(BufferedIOBase, content), tests)

    def _tests(self, file: Path, content: BinaryIO) -> LineTests:
        """Return the tests of whether a line of a file begins an event; move to its beginning."""
        if is_utf16(content):
            raise NotSearchedError
        begin = self._begin(content).decode(errors="replace").removeprefix("\ufeff")
        content.seek(0)
        if form_of(begin) is not Form.TEXT:
            raise NotSearchedError
        if self.begins:
            return LineTests(self.begins, None)
        return LineTests.of(self.clock or clock_in(file, first_lines(begin[: self.head])))

    def _begin(self, content: BinaryIO) -> bytes:
        """Return the bytes of a file that choose its form; JSON needs more of them."""
        begin = content.read(self.head)
        if begin.removeprefix(BOM_UTF8).lstrip()[:1] in (b"", b"{"):
            begin += content.read(PEEKED_BYTES - self.head)
        return begin

    def _is_mapped(self, file: BinaryIO) -> bool:
        """Tell whether a file is searched in place."""
        status = os.fstat(file.fileno())
        is_settled = time.time() - status.st_mtime > self.settled
        return isinstance(file, BufferedReader) and status.st_size > 0 and is_settled

    def _mapped(self, lines: Lines, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Search a part of a file in place: its copy into a buffer takes as long as the search."""
        assert isinstance(lines.buffer, mmap)
        done = first
        for begin, end in windows(lines.buffer, first, last, self.window):
            head = 0 if begin else min(self.head, last)
            done, found = self._copied(lines, (begin, end), done, head)
            yield end - first, found

    def _streamed(self, file: BufferedIOBase, tests: LineTests) -> Iterator[tuple[int, bytes]]:
        """Search a file block by block, as it is read or unpacked."""
        # A buffer of its own for each block takes as long as the search.
        buffer = bytearray(2 * self.most_bytes + self.head + self.block)
        searched = size = 0
        with memoryview(buffer) as view:
            while read := self._read(file, view, size):
                size += read
                end = last_event(buffer, tests.begins, size)
                lines = Lines(buffer, view, end, tests, self.most_bytes)
                yield searched, self._block(lines, searched)
                searched += lines.size
                size -= lines.size
                view[:size] = bytes(view[lines.size : lines.size + size])
            lines = Lines(buffer, view, size, tests, self.most_bytes)
            yield searched, self._block(lines, searched)

    def _read(self, file: BufferedIOBase, view: memoryview, place: int) -> int:
        """Read the next bytes to a place of the buffer; return their number."""
        if place > 2 * self.most_bytes:
            raise NotSearchedError
        return file.readinto(view[place : place + self.head + self.block])

    def _block(self, lines: Lines, searched: int) -> bytes:
        """Return the lines of a copy of whole events."""
        return self._copied(lines, (0, lines.size), 0, 0 if searched else self.head)[1]

    def _copied(
        self, lines: Lines, part: tuple[int, int], done: int, head: int
    ) -> tuple[int, bytes]:
        """Return the end of the last event of a part that a copy has, and the events of the part.

        ``part`` has the places between which the texts begin, ``done`` is the end of the event that
        was copied before, and ``head`` are the bytes at the beginning whose events are copied.
        """
        events: list[bytes] = []
        if head:
            done = lines.after_event(head - 1)
            events += self._joined(lines.part(0, done), lines.tests.begins)
        places = partial(lines.places, self.texts, max(part[0], done), part[1])
        if single := lines.single(places(), done):
            return single[0], b"".join((*events, single[1]))
        for place in places():
            if place >= done:
                begin = lines.event_at(place, done)
                done = lines.after_event(place)
                events += self._joined(lines.part(begin, done), lines.tests.begins)
        return done, b"".join(events)

    def _joined(self, lines: bytes, begins: Beginning) -> Iterator[bytes]:
        """Yield lines as a copy has them, each event as one line."""
        if len(lines) >= self.most_bytes or not is_plain(lines):
            raise NotSearchedError
        if lines.find(b"\n") == len(lines) - 1 and b"\r" not in lines:
            yield lines
            return
        each = (without_returns(line.rstrip(b"\r")) for line in lines.rstrip(b"\n").split(b"\n"))
        events = Joining(begins, self.most_bytes - 1).events(each)
        yield from (event + b"\n" for event in events if event)


class _Part(NamedTuple):
    """A part of a file, and the path of the copy with the events that a search finds in it.

    Attributes
    ----------
    file, copy : Path
        The file and the copy.
    lines : Lines or None
        The lines of a file that has several parts, as it was before their search; None if the part
        is the whole file, as it is when its search begins.
    begin, end : int
        The places at which the part begins and ends.
    """

    file: Path
    copy: Path
    lines: Lines | None
    begin: int
    end: int


def _joined(copies: Sequence[Path]) -> Path:
    """Append the other copies to the first; return its path."""
    whole, *others = copies
    with whole.open("ab") as copy:
        for path in others:
            with path.open("rb") as part:
                copyfileobj(part, copy)
    return whole


class ProcessFailedError(Exception):
    """The end of another process before it had done its tasks."""


def in_processes(work: Callable[[_Task], None], tasks: Sequence[_Task], processes: int) -> None:
    """Work on each task, in this process and in others, each with its share of the tasks.

    The caller has no other thread and awaits its children, and ``work`` leaves its result in files.

    Raises
    ------
    ProcessFailedError
        If the work failed in another process, which says nothing more. An error in this process is
        raised as it is.
    """
    children: list[int] = []
    try:
        for number in range(1, min(processes, len(tasks))):
            _fork(work, tasks[number::processes], children)
        for task in tasks[::processes]:
            work(task)
        while children:
            if _ended(children):
                raise ProcessFailedError
    finally:
        with _signals_held():
            for child in children:
                os.kill(child, signal.SIGKILL)
            for child in children:
                os.waitpid(child, 0)


def _ended(children: list[int]) -> int:
    """Wait for the end of the last child, remove it, and return its status."""
    # The id of a child is its own until it is reaped, which no signal may part from its removal.
    os.waitid(os.P_PID, children[-1], os.WEXITED | os.WNOWAIT)
    with _signals_held():
        _, status = os.waitpid(children.pop(), 0)
    return status


@contextmanager
def _signals_held() -> Iterator[Iterable[int]]:
    """Hold back the signals that end the program; yield those that were held before."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork(work: Callable[[_Task], None], tasks: Sequence[_Task], children: list[int]) -> None:
    """Add to ``children`` the id of a new process that works on tasks."""
    # A signal between the fork and the note of the child would leave a process without its end.
    with _signals_held() as before:
        if child := os.fork():
            children.append(child)
        else:
            _work(work, tasks, before)


def _work(
    work: Callable[[_Task], None], tasks: Sequence[_Task], signals: Iterable[int]
) -> NoReturn:
    """Work on tasks and end the process: whatever happens, this copy of the caller ends here."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        for task in tasks:
            work(task)
        code = 0
    finally:
        os._exit(code)


class TruncatedError(Exception):
    """A file that another process has truncated."""


def mapped(file: BinaryIO) -> mmap:
    """Return the map of a file; it keeps these bytes, whatever becomes of the path.

    Raises
    ------
    TruncatedError
        If the file is empty.
    """
    try:
        return mmap(file.fileno(), 0, access=ACCESS_READ)
    except ValueError as error:
        raise TruncatedError from error


def windows(file: mmap, begin: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the places between which a part of a file is read; the bytes are in memory meanwhile.

    Raises
    ------
    TruncatedError
        If the file has no longer these bytes. The system ends a process that reads them.
    """
    for first in range(begin, end, size):
        last = min(first + size, end)
        _load(file, first, last)
        yield first, last
        _advise(file, MADV_DONTNEED, first, last)


def _load(file: mmap, begin: int, end: int) -> None:
    """Map the pages of a part at once: one by one they take a sixteenth of a search."""
    try:
        _advise(file, _POPULATE_READ, begin, end)
    except OSError as error:
        # Other systems, and Linux before 5.14, do not know this advice.
        if error.errno != errno.EINVAL:
            raise TruncatedError from error


def _advise(file: mmap, advice: int, begin: int, end: int) -> None:
    """Advise the system about the whole pages of a part, and the page in which it begins."""
    pages = range(begin - begin % PAGESIZE, end - end % PAGESIZE)
    if pages:
        file.madvise(advice, pages.start, len(pages))
