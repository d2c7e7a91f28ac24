"""The files that a query reads: their paths, and messages about them."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote, unquote_to_bytes

from cwli.formats import listed, plural
from cwli.insights import EventsError
from cwli.readers.fetched import log_of
from cwli.readers.folders import LogFilesError, files_of, skipped_below
from cwli.readers.log_file import TIMED_BY_CLOCKS, LogFile

if TYPE_CHECKING:
    from cwli.readers.mending import Damage, Mended

STANDARD_INPUT = "-"
_MOST_NAMED = 5
_FOLDER, _SPOOLED, _COPIES = "cwli-query-", "stdin", "copies"
_COPIED_PATH = re.compile(
    rf"{re.escape(gettempdir())}/{_FOLDER}\w+/"
    rf"(?:(?P<input>{_SPOOLED})\b|{_COPIES}/(?P<parent>(?:~[\w.~%-]+/)+)@/)"
)
# The longest name of a file on Linux has 255 bytes.
_LONGEST = 200


@contextmanager
def files_at(paths: Iterable[str]) -> Iterator[tuple[list[Path], Path]]:
    """Yield the files at paths, also of standard input, and a folder for copies of some.

    A query may read its events twice, so standard input and pipes are copied. An error of reading
    them has their name, not the path of their copy.
    """
    with TemporaryDirectory(prefix=_FOLDER) as name:
        folder = Path(name)
        each = dict.fromkeys(paths)  # standard input is read once
        try:
            yield list(files_of(_spooled(path, folder) for path in each)), folder
        except (LogFilesError, EventsError) as error:
            raise type(error)(_named(str(error))) from None


def _spooled(path: str, folder: Path) -> Path:
    """Return a path; for standard input or a pipe, the path of a copy."""
    if path == STANDARD_INPUT:
        try:
            return _copied(sys.stdin.buffer, folder / _SPOOLED)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            raise LogFilesError("standard input is closed") from None
    if not Path(path).is_fifo():
        return Path(path)
    with Path(path).open("rb") as pipe:
        return _copied(pipe, place_of_copy(Path(path), folder))


def place_of_copy(path: Path, folder: Path) -> Path:
    """Return the place in a folder for a copy of a file, from which `log_name` tells the path."""
    parent = quote(os.fsencode(path.parent), safe="")
    parts = (f"~{parent[place : place + _LONGEST]}" for place in range(0, len(parent), _LONGEST))
    return folder.joinpath(_COPIES, *parts, "@", path.name)


def _copied(file: BinaryIO, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return path


def log_name(file: Path) -> str:
    """Return the ``@log`` of a file, or of a copy: its path, ``stdin``, or its log group."""
    return log_of(str(file)) or _named(str(file), _SPOOLED)


def named_as_given(text: str, copies: Mapping[Path, Path | None]) -> str:
    """Return a text with the names of files in place of the names of their copies."""
    names = {str(copy): str(file) for file, copy in copies.items() if copy}
    if not names:
        return text
    return re.sub(rf"(?:{'|'.join(map(re.escape, names))})\b", lambda found: names[found[0]], text)


def _named(text: str, standard_input: str = "standard input") -> str:
    """Return a text with the names of standard input and files, not the paths of their copies."""

    def name(match: re.Match[str]) -> str:
        if match["input"]:
            return standard_input
        parent = "".join(part[1:] for part in match["parent"].split("/"))
        return str(Path(os.fsdecode(unquote_to_bytes(parent))) / "@").removesuffix("@")

    return _COPIED_PATH.sub(name, text)


def on_disk(paths: Iterable[str]) -> list[Path]:
    """Return the paths that can be read again: neither standard input nor pipes."""
    files = (Path(path) for path in dict.fromkeys(paths) if path != STANDARD_INPUT)
    return [path for path in files if not path.is_fifo()]


def unread(paths: Iterable[str]) -> list[str]:
    """Return a sentence for each folder with files that are not read."""
    folders = (path for path in on_disk(paths) if path.is_dir())
    skipped = {folder: skipped_below(folder) for folder in folders}
    return [
        f"{folder}: {plural(len(files), 'file')} not read: "
        f"{_first([_within(folder, file) for file in files])}; name a file to read it"
        for folder, files in skipped.items()
        if files
    ]


def _within(folder: Path, path: Path) -> str:
    """Return a path relative to a folder, with a slash after it if it is a folder, too."""
    return f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}"


def recognised(files: Iterable[LogFile]) -> list[str]:
    """Return sentences that say how times are recognised, and where none are."""
    texts = [file for file in files if file.form in TIMED_BY_CLOCKS and file.size]
    names = dict.fromkeys(file.clock.description for file in texts if file.clock and file.is_timed)
    without = [_named(str(file.original)) for file in texts if not file.is_timed]
    likely = (file.likely for file in texts if file.likely)
    hint = next(likely, "--time-field or --time-format may name the times")
    sentences = [f"times of lines: {listed(list(names))}"] if names else []
    if without:
        sentences.append(
            f"warning: no time is found in {_first(without)}; its lines have the time of the "
            f"file's last change; {hint}"
        )
    return sentences


def damages(mended: Mended) -> list[str]:
    """Return the count of each kind of damage, and the place of the first."""
    return [
        _damage(kind, number, _named(mended.first[kind])) for kind, number in mended.damage.items()
    ]


def _damage(kind: Damage, number: int, first: str) -> str:
    one, several = kind.value
    return f"1 {one}: {first}" if number == 1 else f"{number:,} {several}, the first: {first}"


def told_of_joining(mended: Mended) -> list[str]:
    """Return a sentence that counts the lines that belong to the event of a line before."""
    return [f"lines joined to the event before: {mended.joined:,}"] if mended.joined else []


def _first(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} others" if more > 0 else "")
