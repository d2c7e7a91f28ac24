"""Copies of files that DuckDB cannot read as they are, and the counts of the damage in them.

A query first reads the files as they are. Only if that fails, they are read here line by line:
damaged files, files in UTF-16, files in which an event has several lines or a carriage return, what
the console downloads, and files that bzip2 or zstd packed.
"""

from __future__ import annotations

import csv
import filecmp
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice, starmap
from pathlib import Path
from typing import NamedTuple

from local.logs.boundaries import LIMITS
from local.logs.clocks import Beginning, Clock, beginning
from local.logs.encodings import utf8_lines
from local.logs.joining import MARKS, Joining, without_returns
from local.logs.log_file import Form, clock_in, form_of
from local.logs.packing import INCOMPLETE, unpacked

_NONCHARACTERS = str.maketrans(dict.fromkeys("\U0010ffff\U0010fffe" + MARKS, "\ufffd"))
# The lines that choose the form of a file and its clock.
_FIRST_LINES = 200
_MILLISECONDS = re.compile("[0-9]{1,15}")
_NO_SPACE = re.compile(r"\S")
# The forms in which a file is JSON as a whole.
_DOCUMENTS = (Form.ANSWER, Form.RECORDS, Form.DELIVERY, Form.OBJECTS)


class Damage(Enum):
    """A kind of damage, with the words for its count: one, several."""

    BYTES = ("line with bytes that are no text", "lines with bytes that are no text")
    LONG = ("line too long for an event skipped", "lines too long for an event skipped")
    NO_EVENT = ("line that is no event skipped", "lines that are no events skipped")
    INCOMPLETE = ("file ends early", "files end early")
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
    """The copying of files.

    Attributes
    ----------
    clock : Clock or None
        The clock of each file; None if its first lines choose one.
    begins : callable or None
        Tells whether a line begins an event; None if the clock does.
    most_bytes : int
        The maximum size of a line of text with its line feed [B]; longer ones are left out.
    """

    clock: Clock | None = None
    begins: Beginning | None = None
    most_bytes: int = LIMITS.line

    def copies(self, files: Iterable[Path], folder: Path) -> Mended:
        """Return copies of files, written into a folder, and no copy that has the same bytes.

        Bytes that are no UTF-8 become U+FFFD.
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
        try:
            packed = unpacked(self._file)
        except OSError:
            self._count(Damage.UNREADABLE)
            return
        with packed as file, self.path.open("wb") as copy:
            read = self._read(utf8_lines(file))
            begin = list(islice(read, _FIRST_LINES))
            self._form = form_of(b"".join(line for _, line in begin).decode(errors="replace"))
            if self._form is Form.DOWNLOAD:
                copy.writelines(self._downloaded(chain(begin, read)))
                return
            lines = starmap(self._mended, chain(begin, read))
            first = list(islice(lines, _FIRST_LINES))
            joining = Joining(self._beginning(first), self._mending.most_bytes - 1)
            events = joining.events(chain(first, lines))
            copy.writelines(event + b"\n" for event in events if event)
        self.joined = joining.joined
        if self._form in _DOCUMENTS and not _is_json(self.path.read_text()):
            self._count(Damage.UNREADABLE)

    def differs(self) -> bool:
        return not filecmp.cmp(self._file, self.path, shallow=False)

    def _read(self, file: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each line."""
        number = 0
        try:
            for number, line in enumerate(file, 1):
                yield number, line if number > 1 else line.removeprefix(BOM_UTF8)
        except INCOMPLETE:
            self._count(Damage.INCOMPLETE if number else Damage.UNREADABLE, number)

    def _downloaded(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield each event of a CSV as a line of JSON, as the AWS CLI prints them."""
        csv.field_size_limit(LIMITS.line)
        rows = csv.reader((self._text(*line) for line in lines), strict=True)
        try:
            next(rows)
            for row in rows:
                if len(row) == 2 and _MILLISECONDS.fullmatch(row[0]):
                    event = {"timestamp": int(row[0]), "message": row[1]}
                    yield json.dumps(event, ensure_ascii=False).encode() + b"\n"
                elif row:
                    self._count(Damage.NO_EVENT, rows.line_num)
        except csv.Error:  # a quote is not closed
            self._count(Damage.INCOMPLETE, rows.line_num)

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

    def _count(self, kind: Damage, line: int = 0) -> None:
        self.damage[kind] += 1
        place = f", line {line}" if line else ""
        self.first.setdefault(kind, f"{self._file}{place}")

    def _beginning(self, first: Sequence[bytes]) -> Beginning:
        if self._form is not Form.TEXT:
            return bool
        lines = [line.decode() for line in first]
        return self._mending.begins or beginning(self._mending.clock or clock_in(self._file, lines))


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
