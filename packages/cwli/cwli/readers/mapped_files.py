"""Files that are read in place, by a memory map."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from mmap import ACCESS_READ, MADV_DONTNEED, PAGESIZE, mmap
from typing import BinaryIO

# MADV_POPULATE_READ (Linux, uapi/asm-generic/mman-common.h), which Python 3.11 does not name.
_POPULATE_READ = 22


class TruncatedError(Exception):
    """A file that another process has truncated."""


def mapped(file: BinaryIO) -> mmap:
    """Return the map of a file; it stays that of these bytes, whatever becomes of the path.

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
