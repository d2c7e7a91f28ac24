"""``cwli --follow``: the rows of events as files get them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import SEEK_END
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import click

from cwli.command.arguments import STANDARD_INPUT
from cwli.command.log_query import damages
from cwli.formats import show, visible
from cwli.insights import CompiledQuery, run
from cwli.insights import compile as compile_query
from cwli.program import Refused, warn
from cwli.readers.clocks import Beginning, Clock, beginning
from cwli.readers.files import Untimed, log_files
from cwli.readers.folders import LogFilesError, files_of, is_rotated, logs_below
from cwli.readers.lines import first_lines, is_utf16, last_event
from cwli.readers.log_file import clock_in
from cwli.readers.mending import Mending
from cwli.readers.packing import Packing, packing_of

_PAUSE_SECONDS = 1.0
_wait = partial(time.sleep, _PAUSE_SECONDS)
_PEEKED_BYTES = 64 * 1024
# The first bytes of a file tell it from other files, and a copy from its original.
_HEAD_BYTES = 4 * 1024
# The most that is read of a file at a time, and the most of an event that has no end yet.
_MOST_BYTES = 32 * 1024 * 1024
_Identity = tuple[int, int]
"""The device and the inode of a file. An open file keeps them, whatever its name is."""


def check_following(
    query: CompiledQuery, paths: tuple[str, ...], form: str, others: Mapping[str, object]
) -> None:
    """Raise Refused if files cannot be followed with these arguments.

    ``others`` has the values of options that have no effect, false or None if they are not given.
    """
    if not query.per_event:
        raise Refused(
            "--follow: each row must come from one event; leave out stats, sort, limit and the like"
        )
    if not paths or STANDARD_INPUT in paths:
        raise Refused("--follow: expected a file or a folder as PATH")
    if form not in ("table", "ndjson"):
        raise Refused(f"--format: {form!r} is not accepted with --follow; expected table or ndjson")
    for option, value in others.items():
        if value:
            raise Refused(f"{option} has no effect with --follow; leave it out")


@dataclass(frozen=True)
class Following:
    """A query over the events that files get from now on."""

    query: CompiledQuery
    clock: Clock | None
    begins: Beginning | None
    tables: dict[str, Path]
    form: str

    def run(self, paths: tuple[str, ...], wait: Callable[[], None] = _wait) -> None:
        """Print the rows of each new event, until Ctrl-C.

        Raises
        ------
        LogFilesError
            If a file cannot be read, or is packed.
        """
        warn(self.query.plan.warnings)
        # The newest rows are else the first.
        in_order = compile_query(f"{self.query.text}\n| sort @ptr")
        files = [Path(path) for path in paths]
        with Tails(files, self.clock, self.begins) as tails:
            while True:
                wait()
                self._show_new(in_order, tails)

    def _show_new(self, query: CompiledQuery, tails: Tails) -> None:
        with TemporaryDirectory(prefix="cwli-follow-") as folder:
            parts = dict(_parts(tails, Path(folder)))
            if parts:
                self._show(query, parts, Path(folder))

    def _show(self, query: CompiledQuery, parts: dict[Path, Path], folder: Path) -> None:
        """Print the rows of the events in parts of files."""
        mended = Mending(self.clock, self.begins).copies(parts.values(), folder)
        copies = {file: mended.copies[part] for file, part in parts.items()}
        events = log_files(parts, clock=self.clock, copies=copies, untimed=Untimed.BORROWED)
        result = run(query, events, tables=self.tables)
        warn(damage.replace(f"{folder}/", "") for damage in damages(mended))
        columns = [column for column in result.columns if column != "@ptr"]
        rows = result.records
        if self.form == "table":
            for row in rows:
                click.echo(visible("  ".join(row.get(column, "") for column in columns)))
        elif rows:
            show(columns, rows, self.form)


def _parts(tails: Tails, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each file with new events, and a file that has these alone."""
    for number, (file, lines) in enumerate(tails.events()):
        part = folder / f"{number}-{file.name}"
        part.write_bytes(lines)
        yield file, part


class Tails(AbstractContextManager["Tails"]):
    """Follows files from their present ends, and later files from their beginnings.

    A file that is renamed is the same file. A rotation may also copy a file and empty it: the copy
    goes on where the file was read to. Packed files below a folder are left out.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders, as `cwli.readers.files.log_files` takes them.
    clock : Clock, optional
        The clock of each file; by default its new lines choose it.
    begins : callable, optional
        Tells whether a line begins an event; by default the clock does.

    Raises
    ------
    LogFilesError
        If a file cannot be read, is in UTF-16, or is packed and one of the paths.
    """

    def __init__(
        self, paths: Sequence[Path], clock: Clock | None = None, begins: Beginning | None = None
    ) -> None:
        self._paths = paths
        self._new_tail = partial(_Tail, clock=clock, begins=begins)
        self._tails: dict[_Identity, _Tail] = {}
        with ExitStack() as opened:
            opened.push(self)
            for path in paths:
                with _refused(path):
                    for file in files_of([path]):
                        file.stat()
            self._find()
            for tail in self._tails.values():
                tail.skip()
            opened.pop_all()

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        for tail in self._tails.values():
            tail.close()

    def events(self) -> Iterator[tuple[Path, bytes]]:
        """Yield each file with new events, and their lines.

        The last event of a file is held back until no line follows it in one call. The events of a
        renamed file have its first name.

        Raises
        ------
        LogFilesError
            If a file cannot be read any more, or a new file cannot be followed.
        """
        emptied = [tail for tail in self._tails.values() if tail.is_emptied()]
        listed = self._find()  # after that, since a copy is older than the emptiness of its file
        if not self._tails.keys() <= listed:
            # A rename while a folder is listed hides a file, which would else be new later.
            listed |= self._find()
        for tail in emptied:
            tail.begin_again(copy for copy in self._tails.values() if copy.original is tail)
        # A rotation gives a name to another file.
        found: dict[Path, bytes] = {}
        for identity, tail in list(self._tails.items()):
            with _refused(tail.path):
                is_last = identity not in listed and tail.unread_bytes() <= _MOST_BYTES
                lines = tail.rest() if is_last else tail.events()
            found[tail.path] = found.get(tail.path, b"") + lines
            if is_last:
                self._tails.pop(identity).close()
        yield from ((path, lines) for path, lines in found.items() if lines)

    def _find(self) -> set[_Identity]:
        """Open the files that are new; return the identities of all that are listed."""
        listed: set[_Identity] = set()
        for path in self._paths:
            with _refused(path):
                if path.is_dir():
                    listed.update(*map(self._below, logs_below(path)))
                else:
                    listed.update(self._named(path))
        return listed

    def _named(self, path: Path) -> set[_Identity]:
        """Return the identity of a file that is one of the paths."""
        try:
            if packing_of(path) is not Packing.NONE:
                raise LogFilesError(f"{path}: a packed file does not grow")
            return self._opened(path)
        except FileNotFoundError:  # a rotation has not made the new file yet
            return {identity for identity, tail in self._tails.items() if tail.path == path}

    def _below(self, path: Path) -> set[_Identity]:
        """Return the identity of a file below a folder, none if it is not followed."""
        try:
            status = path.stat()
            is_known = _identity(status) in self._tails
            # An empty file may become a packed one.
            if is_known or (status.st_size and packing_of(path) is Packing.NONE):
                return self._opened(path)
            return set()
        except FileNotFoundError:  # a rotation has removed it meanwhile
            return set()

    def _opened(self, path: Path) -> set[_Identity]:
        identity = _identity(path.stat())
        if identity not in self._tails:
            file = path.open("rb")
            identity = _identity(os.fstat(file.fileno()))
            tail = self._new_tail(path, file)
            tail.original = next(filter(tail.is_copy_of, self._tails.values()), None)
            self._tails[identity] = tail
            if is_utf16(file):
                raise LogFilesError(f"{path}: a file in UTF-16 is not followed")
        return {identity}


class _Tail:
    def __init__(
        self, path: Path, file: BinaryIO, clock: Clock | None, begins: Beginning | None
    ) -> None:
        self.path = path
        self._file = file
        self._clock = clock
        self._begins = begins
        self._held = b""
        self._head = b""
        self.original: _Tail | None = None
        """The original, if this file is a copy of it; None once the original is emptied."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def skip(self) -> None:
        """Move to the end of the file."""
        self._file.seek(0, SEEK_END)
        self._head = self._begin()

    def is_emptied(self) -> bool:
        """Tell whether the file was emptied in its place, perhaps with new lines since then."""
        is_shorter = os.fstat(self._file.fileno()).st_size < self._file.tell()
        return is_shorter or not self._begin().startswith(self._head)

    def unread_bytes(self) -> int:
        """Return the bytes of the file that no call has read."""
        return os.fstat(self._file.fileno()).st_size - self._file.tell()

    def is_copy_of(self, other: _Tail) -> bool:
        """Tell whether a rotation copied the lines of another file into this one."""
        begin = self._begin()[: len(other._head)]
        return is_rotated(self.path, other.path) and begin != b"" and other._head.startswith(begin)

    def begin_again(self, copies: Iterable[_Tail]) -> None:
        """Move to the beginning of the emptied file; its copies have its earlier lines."""
        for copy in copies:
            copy._file.seek(self._file.tell())
            copy._held, self._held = self._held, b""
            copy.original = None
        if self._held[-1:] not in (b"", b"\n"):
            self._held += b"\n"
        self._file.seek(0)
        self._head = b""

    def events(self) -> bytes:
        """Return the lines of the new events; a line without an end is none yet."""
        new = self._read()
        lines = self._held + new
        end = lines.rfind(b"\n") + 1
        ready = last_event(lines, self._begins or self._beginning(lines[:end])) if new else end
        if len(lines) - ready > _MOST_BYTES:
            ready = len(lines)
        self._held = lines[ready:]
        return lines[:ready]

    def rest(self) -> bytes:
        """Return the lines that are left, at most ``_MOST_BYTES``, also one without an end."""
        lines = self._held + self._read()
        return lines if lines[-1:] in (b"", b"\n") else lines + b"\n"

    def _read(self) -> bytes:
        """Return the bytes since the last call; none of a copy, since its file has them."""
        if self.original and self.is_copy_of(self.original):
            return b""
        new = self._file.read(_MOST_BYTES)
        if new and len(self._head) < _HEAD_BYTES:
            self._head = self._begin()[: self._file.tell()]
        return new

    def _begin(self) -> bytes:
        return os.pread(self._file.fileno(), _HEAD_BYTES, 0)

    def _beginning(self, lines: bytes) -> Beginning:
        first = first_lines(lines[:_PEEKED_BYTES].decode(errors="replace"))
        return beginning(self._clock or clock_in(self.path, first))


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Raise LogFilesError for an error of the system."""
    try:
        yield
    except OSError as error:
        name = error.filename or path
        raise LogFilesError(f"{name}: this file cannot be read: {error.strerror}") from None
