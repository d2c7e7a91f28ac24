"""The journal of a folder of objects: a change is on the disk before its request is answered.

A line is one transaction: the CRC-32 of its JSON, and the JSON array of its changes. The first line
has the generation of the journal, which grows whenever the journal is written anew. A power failure
damages at most the last line, a transaction that was not answered.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from onebox.disk import open_regular, sync_folder
from onebox.store.errors import DOCTOR, DamagedJournal

_CHANGES_A_LINE = 500
_BODY = re.compile(r"[0-9a-f]{32}")


class Entry(NamedTuple):
    """An object: its name, its file, the file's size [B] and MD5, and the attributes as JSON."""

    bucket: str
    key: str
    body: str
    size: int
    md5: str
    attributes: str


class Removal(NamedTuple):
    """The name of an object that was removed."""

    bucket: str
    key: str


Change = Entry | Removal


class Position(NamedTuple):
    """The end of a line: the journal's generation, 0 if there is none, and the offset [B]."""

    generation: int
    offset: int


class Journal:
    """A journal in a file, used by one process at a time."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def generation(self) -> int:
        """Return the generation, 0 if the journal is missing or its first line is damaged."""
        try:
            with open_regular(self.file) as file:
                (generation,) = _parsed(file.readline())
                return int(generation)
        except (FileNotFoundError, ValueError, TypeError, RecursionError):
            return 0

    def reaches(self, position: Position) -> bool:
        """Tell whether a position lies in this journal."""
        return (
            position.generation == self.generation() > 0
            and position.offset <= self.file.stat().st_size
        )

    def transactions(
        self, after: Position, *, skip_damaged: bool = False
    ) -> Iterator[tuple[Position, Sequence[Change]]]:
        """Yield the transactions after a position of this journal, each with its end.

        Raises
        ------
        DamagedJournal
            If a line before the last is damaged, unless damaged lines are skipped.
        """
        with open_regular(self.file) as file:
            file.seek(after.offset)
            for line in file:
                end = after = Position(after.generation, after.offset + len(line))
                try:
                    changes = [_change(one) for one in _parsed(line) if isinstance(one, list)]
                except (ValueError, TypeError, RecursionError):
                    # An append that a power failure cut off, if nothing follows.
                    if not skip_damaged and file.peek(1):
                        raise self._damaged(end.offset - len(line)) from None
                    continue
                yield end, changes

    def entries(self) -> dict[tuple[str, str], Entry]:
        """Return the objects that the whole journal leads to, by bucket and key.

        Raises
        ------
        DamagedJournal
            If a line before the last is damaged.
        """
        found: dict[tuple[str, str], Entry] = {}
        if not self.file.exists():
            return found
        start = Position(self.generation(), 0)
        for change in chain.from_iterable(changes for _, changes in self.transactions(start)):
            if isinstance(change, Entry):
                found[change.bucket, change.key] = change
            else:
                found.pop((change.bucket, change.key), None)
        return found

    def _damaged(self, offset: int) -> DamagedJournal:
        return DamagedJournal(f"{self.file} is damaged at byte {offset:,}; {DOCTOR}.")

    def append(self, changes: Sequence[Change], end: Position) -> Position:
        """Write a transaction at ``end``; return its own end once it is on the disk."""
        line = _line(changes)
        with self.file.open("r+b") as file:
            file.truncate(end.offset)
            file.seek(end.offset)
            file.write(line)
            file.flush()
            os.fdatasync(file.fileno())
        return Position(end.generation, end.offset + len(line))

    def cut(self, end: Position) -> None:
        """Take back, on the disk, what was written after ``end``."""
        with self.file.open("r+b") as file:
            file.truncate(end.offset)
            os.fdatasync(file.fileno())

    def rewrite(self, entries: Iterable[Entry], generation: int) -> Position:
        """Replace the journal by one that begins with these objects; return its end."""
        unfinished = self.file.with_suffix(".unfinished")
        remaining = iter(entries)
        with unfinished.open("wb") as file:
            file.write(_line([generation]))
            while some := list(islice(remaining, _CHANGES_A_LINE)):
                file.write(_line(some))
            end = Position(generation, file.tell())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.file)
        sync_folder(self.file.parent)
        return end


def _line(items: Sequence[object]) -> bytes:
    text = json.dumps(items, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _parsed(line: bytes) -> list[Any]:
    """Return the items of a line; raise ValueError if the line is damaged."""
    checksum, _, text = line.partition(b" ")
    if not line.endswith(b"\n") or int(checksum, 16) != crc32(text[:-1]):
        raise ValueError("the line is damaged")
    items: list[Any] = json.loads(text)
    return items


def _change(fields: list[Any]) -> Change:
    """Return a change; raise ValueError if it cannot be one of ours."""
    if len(fields) == len(Removal._fields):
        return Removal(*fields)
    entry = Entry(*fields)
    if not is_body(entry.body):
        raise ValueError(f"{entry.body} is no name of a body")
    return entry


def is_body(name: object) -> bool:
    """Tell whether a name is one of a body: any other could be the path of a file elsewhere."""
    return isinstance(name, str) and _BODY.fullmatch(name) is not None
