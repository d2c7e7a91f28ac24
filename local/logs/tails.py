"""Files that grow: the events that are appended to them, also while a rotation replaces them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

from local.logs.clocks import Beginning, Clock, beginning
from local.logs.encodings import is_utf16
from local.logs.folders import LogFilesError, files_of
from local.logs.joining import first_lines
from local.logs.log_file import clock_in
from local.logs.packing import Packing, packing_of

_PEEKED_BYTES = 64 * 1024


class Tails(AbstractContextManager["Tails"]):
    """The ends of files, from where they are at first; a later file begins at its beginning.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders, as `local.logs.files.log_files` takes them.
    clock : Clock, optional
        The clock of each file; by default the one that its new lines fit.
    begins : callable, optional
        Tells whether a line begins an event; by default the clock does.

    Raises
    ------
    LogFilesError
        If a file cannot be read, or is packed.
    """

    def __init__(
        self, paths: Sequence[Path], clock: Clock | None = None, begins: Beginning | None = None
    ) -> None:
        self._paths = paths
        self._new_tail = partial(_Tail, clock=clock, begins=begins)
        self._tails = {file: self._new_tail(file) for file in files_of(paths)}
        with ExitStack() as opened:
            opened.push(self)
            for tail in self._tails.values():
                tail.skip()
            opened.pop_all()

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        for tail in self._tails.values():
            tail.close()

    def events(self) -> Iterator[tuple[Path, bytes]]:
        """Yield each file with new events, and their lines.

        The last event of a file is held back until no line follows it in one call.
        """
        for file in files_of(self._paths):
            tail = self._tails.setdefault(file, self._new_tail(file))
            if lines := tail.events():
                yield file, lines


class _Tail:
    def __init__(self, path: Path, clock: Clock | None, begins: Beginning | None) -> None:
        self._path = path
        self._clock = clock
        self._begins = begins
        self._file: BinaryIO | None = None
        self._held = b""

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
            self._file = None

    def skip(self) -> None:
        """Move to the end of a file that exists."""
        try:
            if packing_of(self._path) is not Packing.NONE:
                raise LogFilesError(f"{self._path}: a packed file does not grow")
            self._file = self._path.open("rb")
        except OSError as error:
            reason = f"this file cannot be read: {error.strerror}"
            raise LogFilesError(f"{self._path}: {reason}") from None
        if is_utf16(self._file):
            raise LogFilesError(f"{self._path}: a file in UTF-16 is not followed")
        self._file.seek(0, SEEK_END)

    def events(self) -> bytes:
        """Return the lines of the new events; a line without an end is none yet."""
        new = self._read()
        lines = self._held + new
        end = lines.rfind(b"\n") + 1
        ready = self._last_event(lines[:end]) if new else end
        self._held = lines[ready:]
        return lines[:ready]

    def _read(self) -> bytes:
        """Return the bytes since the last call, of the old file and of one in its place."""
        if self._file is None:
            return self._reopened()
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)  # the file was emptied in its place
        new = self._file.read()
        if self._is_same():
            return new
        is_whole = (self._held + new)[-1:] in (b"", b"\n")
        return new + (b"" if is_whole else b"\n") + self._reopened()

    def _is_same(self) -> bool:
        try:
            status = self._path.stat()
        except OSError:
            return True  # a rotation has not made the new file yet
        return self._file is not None and os.path.samestat(status, os.fstat(self._file.fileno()))

    def _reopened(self) -> bytes:
        self.close()
        with suppress(FileNotFoundError):
            self._file = self._path.open("rb")
        return self._file.read() if self._file else b""

    def _last_event(self, lines: bytes) -> int:
        """Return the place at which the last event begins, 0 if no line begins one."""
        begins = self._begins or self._beginning(lines[:_PEEKED_BYTES])
        end = place = len(lines)
        while place:
            place = lines.rfind(b"\n", 0, end - 1) + 1
            if begins(lines[place:end].rstrip(b"\r\n")):
                break
            end = place
        return place

    def _beginning(self, lines: bytes) -> Beginning:
        first = first_lines(lines.decode(errors="replace"))
        return beginning(self._clock or clock_in(self._path, first))
