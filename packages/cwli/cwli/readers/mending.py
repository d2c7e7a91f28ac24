"""Copies of files that DuckDB cannot read as they are, and the counts of the damage in them.

A query first reads the files as they are. Only if that fails, they are read here line by line:
damaged files, files in UTF-16, files in which an event has several lines or a carriage return, what
the console downloads, and files that bzip2, zstd or xz packed, or that are packed twice.
"""

from __future__ import annotations

import csv
import filecmp
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from io import SEEK_END, TextIOWrapper
from itertools import chain, islice, starmap
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, NamedTuple, TextIO

from cwli.readers import log_file
from cwli.readers.clocks import Beginning, Clock, beginning
from cwli.readers.folders import EVENT_FIELDS
from cwli.readers.lines import LIMITS, MARKS, Joining, encoding_of, utf8_lines, without_returns
from cwli.readers.log_file import (
    EVENT_COLUMNS,
    PEEKED_BYTES,
    RESULT_FIELDS,
    TABLES,
    Form,
    clock_in,
    form_of,
    list_begin,
)
from cwli.readers.packing import INCOMPLETE, reason, unpacked

_NONCHARACTERS = str.maketrans(dict.fromkeys("\U0010ffff\U0010fffe" + MARKS, "\ufffd"))
# The lines that choose the form of a file and its clock.
_FIRST_LINES = 200
# A row of CSV may be longer than an event, and no line takes more memory than this.
_MOST_LINE = 16 * LIMITS.line
# A packed file may hold more than this only if it is at most this multiple of the file: gzip
# packs to a thousandth at best, and zstd's best may fill any disk.
_LEAST_UNPACKED, _MOST_RATIO = 1024 * 1024 * 1024, 1_000
_NO_SPACE = re.compile(r"\S")
# The forms in which a file is JSON as a whole.
_DOCUMENTS = (Form.ANSWER, Form.LISTED, Form.RECORDS, Form.DELIVERY, Form.OBJECTS)
_LISTS = (Form.ANSWER, Form.RECORDS)
"""The documents whose events are the members of a list in one object."""
_BIN = re.compile(r"bin\(.*\)")
_MILLISECONDS = re.compile("[0-9]{1,15}")
_CHUNK = 1024 * 1024
_BETWEEN = re.compile(r"[\s,]*")


class Damage(Enum):
    """A kind of damage, with the words for its count: one, several."""

    BYTES = ("line with bytes that are not text", "lines with bytes that are not text")
    LONG = ("line too long for an event skipped", "lines too long for an event skipped")
    NO_EVENT = ("line that is not an event skipped", "lines that are not events skipped")
    NO_TIME = (
        "row without a time has the time of the file's last change",
        "rows without a time have the time of the file's last change",
    )
    INCOMPLETE = ("file ends early", "files end early")
    LARGE = (
        "file is read in part, since it unpacks to a thousand times its size",
        "files are read in part, since they unpack to a thousand times their size",
    )
    UNREADABLE = ("file cannot be read", "files cannot be read")


class Mended(NamedTuple):
    """The copies of files, and the damage of the files.

    Attributes
    ----------
    copies : dict of Path to Path or None
        The copy of each file; the file itself if a copy has the same bytes, so that each of its
        lines is an event; None for a file that cannot be read at all.
    damage : dict of Damage to int
        The counts of lines and files.
    first : dict of Damage to str
        The file and the line of the first damage of a kind.
    joined : int
        The number of lines that belong to the event of a line before.
    """

    copies: Mapping[Path, Path | None]
    damage: Mapping[Damage, int]
    first: Mapping[Damage, str]
    joined: int


@dataclass
class Mending:
    """Copies damaged files, and files that DuckDB cannot read, as lines that it can.

    Attributes
    ----------
    clock : Clock or None
        The clock of each file; None if its first lines choose one.
    begins : callable or None
        Tells whether a line begins an event; None if the clock does.
    most_bytes : int
        The maximum size of a line of text with its line feed [B]; longer lines are left out.
    """

    clock: Clock | None = None
    begins: Beginning | None = None
    most_bytes: int = LIMITS.line

    def copies(self, files: Iterable[Path], folder: Path) -> Mended:
        """Return copies of files, written into a folder, and no copy that has the same bytes.

        Bytes that are not UTF-8 become U+FFFD.
        """
        copies: dict[Path, Path | None] = {}
        damage: Counter[Damage] = Counter()
        first: dict[Damage, str] = {}
        joined = 0
        for number, file in enumerate(files):
            copy = _Copy(file, folder / f"mended-{number}", self)
            copy.write()
            damage += copy.damage
            first = copy.first | first
            joined += copy.joined
            if copy.damage[Damage.UNREADABLE]:
                copies[file] = None
            elif copy.differs():
                copies[file] = copy.path
            else:
                copy.path.unlink()
                copies[file] = file
        return Mended(copies, damage, first, joined)


class _Copy:
    """A copy of one file, its damage and its joined lines."""

    def __init__(self, file: Path, path: Path, mending: Mending) -> None:
        self._file = file
        self.path = path
        self._mending = mending
        self.damage: Counter[Damage] = Counter()
        self.first: dict[Damage, str] = {}
        self.joined = 0
        self._form = Form.TEXT

    def write(self) -> None:
        with ExitStack() as opened:
            try:
                file = opened.enter_context(unpacked(self._file))
            except INCOMPLETE as error:
                self._count(Damage.UNREADABLE, reason=reason(error))
                return
            self._copy(file)

    def _copy(self, file: BinaryIO) -> None:
        with self.path.open("wb") as copy:
            read = self._read(utf8_lines(file, _MOST_LINE))
            begin = list(_beginning(read))
            self._form = form_of(b"".join(line for _, line in begin).decode(errors="replace"))
            if self._form in (*_DOCUMENTS, Form.RESULTS):
                if self._is_large(file):
                    copy.writelines(self._bounded(self._parts(file, copy)))
                    return
                file.seek(0)
                begin, read = [], self._read(utf8_lines(file, log_file.MOST_AT_ONCE + 1))
            lines = chain(begin, read)
            is_table = self._form in TABLES
            events = self._rows(lines) if is_table else self._events(lines, len(begin))
            copy.writelines(self._bounded(events))
        if self._form in _DOCUMENTS and not _is_json(self.path.read_text()):
            self._count(Damage.UNREADABLE)

    def _events(self, read: Iterable[tuple[int, bytes]], beginning: int) -> Iterator[bytes]:
        """Yield each event as a line; the first lines, ``beginning`` of them, choose the clock."""
        lines = starmap(self._mended, read)
        first = list(islice(lines, beginning))
        joining = Joining(self._beginning(first), self._mending.most_bytes - 1)
        for event in joining.events(chain(first, lines)):
            if event:
                yield event + b"\n"
        self.joined = joining.joined

    def _is_large(self, file: BinaryIO) -> bool:
        """Tell whether a document takes too much memory to be read at once."""
        with suppress(*INCOMPLETE):  # a reading of its lines tells more
            return file.seek(0, SEEK_END) > log_file.MOST_AT_ONCE
        return False

    def _parts(self, file: BinaryIO, copy: BinaryIO) -> Iterator[bytes]:
        """Yield the members of a large document as lines, or copy objects that DuckDB parts."""
        file.seek(0)
        if self._form is Form.RESULTS:
            limit = f"its JSON has more than {log_file.MOST_AT_ONCE:,} bytes"
            self._count(Damage.UNREADABLE, reason=limit)
        elif self._form not in _LISTS:
            copyfileobj(file, copy)
        else:
            text = TextIOWrapper(file, encoding_of(file), errors="replace", newline="")
            try:
                yield from map(self._member, members(text))
            except (ValueError, RecursionError, *INCOMPLETE) as error:
                self._count(Damage.INCOMPLETE, reason=reason(error))
            text.detach()  # else its end would close the file

    def _member(self, value: object) -> bytes:
        """Return the line of a member of a list, b"" if it is not an event."""
        if not isinstance(value, dict):
            self._count(Damage.NO_EVENT)
            return b""
        if self._form is Form.ANSWER:
            value = {name: value.get(name) for name in EVENT_FIELDS}
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _bounded(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines up to the size that a packed file may have."""
        left = max(_LEAST_UNPACKED, _MOST_RATIO * self._file.stat().st_size)
        for line in lines:
            left -= len(line)
            if left < 0:
                self._count(Damage.LARGE)
                return
            yield line

    def differs(self) -> bool:
        return not filecmp.cmp(self._file, self.path, shallow=False)

    def _read(self, file: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each line."""
        number = 0
        try:
            for number, line in enumerate(file, 1):
                yield number, line if number > 1 else line.removeprefix(BOM_UTF8)
        except INCOMPLETE as error:
            kind = Damage.INCOMPLETE if number else Damage.UNREADABLE
            self._count(kind, number, reason(error))

    def _rows(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield the event of each row of a table as a line of JSON, as the AWS CLI prints them."""
        texts = (self._text(*line) for line in lines)
        is_csv = self._form is Form.DOWNLOAD
        try:
            for row in rows_of(texts) if is_csv else answered_rows("".join(texts)):
                yield self._row(row)
        except CutTableError as error:
            self._count(Damage.INCOMPLETE, error.args[0])
        except (ValueError, RecursionError):
            self._count(Damage.UNREADABLE)

    def _row(self, row: Row) -> bytes:
        """Return the event of a row as a line, b"" if the row has none."""
        event = row.cells and event_of(row.cells)
        if not event:
            self._count(Damage.NO_EVENT, row.line)
            return b""
        if event["timestamp"] is None:
            self._count(Damage.NO_TIME, row.line)
            event["timestamp"] = self._file.stat().st_mtime_ns // 1_000_000
        return json.dumps(event, ensure_ascii=False).encode() + b"\n"

    def _text(self, number: int, line: bytes) -> str:
        text = _text_of(line)
        if text != line:
            self._count(Damage.BYTES, number)
        return text.decode()

    def _mended(self, number: int, line: bytes) -> bytes:
        """Return a line as a copy has it, without its end; b"" for a line that is too long."""
        line = line.rstrip(b"\r\n")
        clean = text = line if line.isascii() else _text_of(line)
        if b"\r" in text:
            text = without_returns(text)
        if self._form is Form.TEXT and len(text) >= self._mending.most_bytes:
            self._count(Damage.LONG, number)
            return b""
        if self._form is Form.EVENTS and text and not _is_json(text.decode()):
            self._count(Damage.NO_EVENT, number)
            return b""
        if clean != line:
            self._count(Damage.BYTES, number)
        return text

    def _count(self, kind: Damage, line: int = 0, reason: str = "") -> None:
        self.damage[kind] += 1
        place = f", line {line}" if line else f": {reason}" if reason else ""
        self.first.setdefault(kind, f"{self._file}{place}")

    def _beginning(self, first: Sequence[bytes]) -> Beginning:
        if self._form is not Form.TEXT:
            return bool
        lines = [line.decode() for line in first]
        return self._mending.begins or beginning(self._mending.clock or clock_in(self._file, lines))


def _beginning(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that choose the form of a file and its clock."""
    left = PEEKED_BYTES
    for number, line in islice(lines, _FIRST_LINES):
        yield number, line
        left -= len(line)
        if left < 0:
            return


def _is_json(text: str) -> bool:
    """Tell whether a text is JSON, or several JSON texts one after the other."""
    decode, first = json.JSONDecoder().raw_decode, _NO_SPACE.search(text)
    try:
        while first:
            _, end = decode(text, first.start())
            first = _NO_SPACE.search(text, end)
    except (ValueError, RecursionError):
        return False
    return True


def _text_of(line: bytes) -> bytes:
    return line.decode(errors="replace").translate(_NONCHARACTERS).encode()


class Row(NamedTuple):
    """A row of a table."""

    line: int
    """The number of its last line, 0 if the table has no lines."""
    cells: Mapping[str, str] | None
    """The texts by column, None if the row does not fit the columns."""


class CutTableError(Exception):
    """A table that ends early; the argument is the number of the line."""


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of CSV; raise CutTableError if a quote is not closed."""
    csv.field_size_limit(LIMITS.line)
    rows = csv.reader(lines, strict=True)
    try:
        names = next(rows)
        for row in filter(None, rows):
            fits = len(row) == len(names)
            yield Row(rows.line_num, dict(zip(names, row, strict=True)) if fits else None)
    except csv.Error:
        raise CutTableError(rows.line_num) from None


def answered_rows(text: str) -> Iterator[Row]:
    """Yield the rows of JSON, of an answer or of an array of objects.

    Raises
    ------
    ValueError, RecursionError
        If the text is not JSON.
    CutTableError
        If the query had not ended.
    """
    answer = json.loads(text)
    rows = answer if isinstance(answer, list) else answer["results"]
    yield from (Row(0, _cells(row)) for row in rows)
    if isinstance(answer, dict) and answer.get("status", "Complete") != "Complete":
        raise CutTableError(0)


def _cells(row: object) -> Mapping[str, str] | None:
    try:
        pairs = row.items() if isinstance(row, dict) else _pairs(row)
        return {str(name): value if isinstance(value, str) else json.dumps(value)
                for name, value in pairs}  # fmt: skip
    except (TypeError, KeyError):
        return None


def _pairs(row: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 (JSON of any form)
    return ((cell["field"], cell["value"]) for cell in row)


def event_of(cells: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the event of a row as FilterLogEvents gives it, with ``@log``.

    A row without ``@message`` is an event with its other cells as JSON. An event without a time has
    None; a row with a time that cannot be read has no event.
    """
    times = [cells[name] for name in ("@timestamp", "timestamp") if name in cells]
    times += [value for name, value in cells.items() if _BIN.fullmatch(name)]
    try:
        timestamp = _time(times[0]) if times else None
        ingested = _time(cells["@ingestionTime"]) if cells.get("@ingestionTime") else None
    except ValueError:
        return None
    others = {name: value for name, value in cells.items() if name not in RESULT_FIELDS}
    message = cells["message"] if [*cells] == EVENT_COLUMNS else cells.get("@message")
    return {
        "timestamp": timestamp,
        "message": json.dumps(others, ensure_ascii=False) if message is None else message,
        "ingestionTime": ingested,
        "logStreamName": cells.get("@logStream") or None,
        "@log": cells.get("@log") or None,
    }


def _time(text: str) -> int:
    """Return a time of the console [ms since 1970-01-01 UTC]; raise ValueError without one."""
    if _MILLISECONDS.fullmatch(text):
        return int(text)
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + moment.microsecond // 1000


def members(text: TextIO) -> Iterator[object]:
    """Yield the events or records of a document, which is read in parts.

    Raises
    ------
    ValueError, RecursionError
        If the text is not JSON, ends early, or has a member that is too large.
    """
    decode, size = json.JSONDecoder().raw_decode, _CHUNK
    part = text.read(2 * _CHUNK)
    place = list_begin(part)
    while True:
        between = _BETWEEN.match(part, place)
        place = between.end() if between else place
        if part.startswith("]", place):
            return
        try:
            value, place = decode(part, place)
        except ValueError:
            more = text.read(size) if len(part) - place < log_file.MOST_OBJECT else ""
            if not more:
                raise
            # A large member is decoded anew each time that it was cut, which doubles take once.
            part, place, size = part[place:] + more, 0, 2 * size
            continue
        size = _CHUNK
        yield value
