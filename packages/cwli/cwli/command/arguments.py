"""The arguments of a query: its text with the places of its errors, its files, tables and times."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import quote, unquote_to_bytes

import click

from cwli.insights import EventsError, QueryError
from cwli.program import Refused
from cwli.readers.clocks import Beginning
from cwli.readers.folders import SUFFIXES, LogFilesError, files_of, log_of

if TYPE_CHECKING:
    pass


STANDARD_INPUT = "-"
_FOLDER, _SPOOLED, _COPIES = "cwli-query-", "stdin", "copies"
_COPIED_PATH = re.compile(
    rf"{re.escape(gettempdir())}/{_FOLDER}\w+/"
    rf"(?:(?P<input>{_SPOOLED})\b|{_COPIES}/(?P<parent>(?:~[\w.~%-]+/)+)@/)"
)
# The longest name of a file on Linux has 255 bytes.
_LONGEST = 200
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{4}-W\d\d-\d")
_AGO = re.compile("-([0-9]{1,6})([smhdw])")
# As seconds this is the year 5138, as milliseconds 1973.
_FIRST_MILLISECONDS = 10**11
_ENDING = ".cwli"
# A file rather than a command: a word with a slash, a star or the suffix of a log.
_LIKE_A_FILE = re.compile(
    rf"[^\s()|=]+(?:{'|'.join(map(re.escape, SUFFIXES))})|[^\s()|=]*[/*][^\s()|=]*"
)
# Editors of Windows write a mark before the text.
_ENCODING = "utf-8-sig"


def lookup_tables(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Path]:
    """Return the file of each lookup table, of options as NAME=FILE.

    Raises
    ------
    Refused
        If an option has another form, a name is given twice or a file is missing.
    """
    tables = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not (name and equals and file):
            raise Refused(f"--lookup-table: {pair!r} is not of the form NAME=FILE")
        if name in tables:
            raise Refused(f"--lookup-table: {name!r} is given twice")
        tables[name] = Path(file)
    for table in tables.values():
        if not _is_file(str(table)):
            raise Refused(f"--lookup-table: there is no file {str(table)!r}")
    return tables


def beginning(_: click.Context, __: click.Parameter, pattern: str | None) -> Beginning | None:
    """Return the test of whether a line begins an event; raise Refused for no pattern of RE2.

    RE2, which searches in queries, too, takes a time that is linear in the line.
    """
    if pattern is None:
        return None
    import re2  # noqa: PLC0415 (few queries need it)

    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        reason = error.args[0].decode()
        raise Refused(
            f"--event-start: {pattern!r} is not a regular expression of RE2: {reason}"
        ) from None
    return lambda line: search(line.decode(errors="replace"))


def query_text(query: str) -> tuple[str, str]:
    """Return the place of a query, for messages, and its text.

    Raises
    ------
    Refused
        If the file cannot be read, or is not text.
    """
    try:
        if query == STANDARD_INPUT:
            return "<stdin>", sys.stdin.buffer.read().decode(_ENCODING)
        if query.endswith(_ENDING) or _is_file(query):
            return query, Path(query).read_text(_ENCODING)
        if query and _passes(query, Path.is_dir):
            raise Refused(f"{query}: this is a folder; the query comes before the files")
        if _LIKE_A_FILE.fullmatch(query):
            raise Refused(f"{query}: there is no such file; the query comes before the files")
    except UnicodeDecodeError:
        raise Refused(f"{query}: this is not text in UTF-8") from None
    except OSError as error:
        raise Refused(f"{query}: this file cannot be read: {error.strerror}") from None
    return "query", query


def place_of(name: str, error: QueryError) -> str:
    """Return the sentence of an error after the name of its query, and the line with a caret.

    A file without the suffix of queries may be a log in the place of the query, if its first word
    is wrong.
    """
    is_first = (error.line, error.column) == (1, 1)
    is_log = is_first and _is_file(name) and not name.endswith(_ENDING)
    order = "; this file is read as a query: the query comes before the files" if is_log else ""
    return _with_excerpt(f"{name}: {error}{order}", error)


def place_in_file(file: Path, line: int, error: QueryError) -> str:
    """Return the same for a query within a file, with the line of the file."""
    return _with_excerpt(f"{file}:{line}: {error.message}", error)


def _with_excerpt(sentence: str, error: QueryError) -> str:
    return "\n".join(line for line in (sentence, error.excerpt()) if line)


def _is_file(query: str) -> bool:
    return _passes(query, Path.is_file)


def _passes(query: str, test: Callable[[Path], bool]) -> bool:
    try:
        return test(Path(query))
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


class Moment(NamedTuple):
    """A time in seconds since 1970-01-01 UTC, and its text."""

    seconds: int
    text: str


class MomentType(click.ParamType[Moment]):
    """A time in ISO 8601, by default in UTC, since 1970-01-01 UTC, or before now.

    A number of 12 digits or more counts milliseconds, microseconds or nanoseconds.

    Parameters
    ----------
    ends : bool
        Whether a day without a time is its last second.
    """

    name = "time"

    def __init__(self, *, ends: bool = False) -> None:
        self._ends = ends

    def convert(
        self, value: str | Moment, _: click.Parameter | None, __: click.Context | None
    ) -> Moment:
        """Return the time of a text."""
        return value if isinstance(value, Moment) else Moment(self._seconds(value), value)

    def _seconds(self, value: str) -> int:
        if match := _AGO.fullmatch(value):
            return int(datetime.now(UTC).timestamp()) - int(match[1]) * _UNIT_SECONDS[match[2]]
        if re.fullmatch("-?[0-9]{1,19}", value):
            return _epoch_seconds(int(value))
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time; accepted: 1717338360, 2024-06-02T14:26:00Z or -1h")
        if self._ends and _DAY.fullmatch(value):
            time = time.replace(hour=23, minute=59, second=59)
        return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def _epoch_seconds(time: int) -> int:
    while time >= _FIRST_MILLISECONDS:
        time //= 1000
    return time


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
            raise type(error)(without_copies(str(error))) from None


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
    return log_of(str(file)) or without_copies(str(file), _SPOOLED)


def named_as_given(text: str, copies: Mapping[Path, Path | None]) -> str:
    """Return a text with the names of files in place of the names of their copies."""
    names = {str(copy): str(file) for file, copy in copies.items() if copy}
    if not names:
        return text
    return re.sub(rf"(?:{'|'.join(map(re.escape, names))})\b", lambda found: names[found[0]], text)


def without_copies(text: str, standard_input: str = "standard input") -> str:
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
