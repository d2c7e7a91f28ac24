"""The content of a profile's file, folded stacks as text, and the tally of their samples.

FlameGraph, inferno and py-spy write folded stacks.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from tidemark.figures.profiles.folded_stacks import SEPARATOR, folded
from tidemark.model.sentences import shown


class Unreadable(ValueError):
    """A profile that is not accepted; the message is a sentence without the file's name."""


def unreadable_at(line: int, sentence: str) -> Unreadable:
    """Return the error about a line of a profile."""
    return Unreadable(f"line {line:,}: {sentence}")


MOST_BYTES = 512 << 20
"""The most that is read of a file, unpacked [B]."""
_LONGEST_LINE, _BLOCK = 1 << 20, 1 << 18  # [B]; a block fits into the cache of a core
_TOO_LONG = f"it has more than {_LONGEST_LINE:,} bytes"
_GZIP = b"\x1f\x8b"


class Content:
    """A file that is read once, from its beginning."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._most = self._left = MOST_BYTES
        self.may_end_within_line = False

    def beginning(self, size: int) -> bytes:
        """Return the first bytes without passing them."""
        found = self._stream.read(size)
        self._stream.seek(0)
        return found

    def whole(self, most_bytes: int) -> bytes:
        """Return the content of a form that is read at once.

        Raises
        ------
        Unreadable
            If the file is too large for that.

        """
        self._most = self._left = most_bytes
        return b"".join(self.chunks())

    def chunks(self, size: int = 1 << 16) -> Iterator[bytes]:
        """Yield the content in parts."""
        while part := self._stream.read(size):
            self._count(part)
            yield part

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line.

        Raises
        ------
        Unreadable
            If the file is too large, ends within a line, or is not text.

        """
        for first, block in self.blocks():
            for number, line in enumerate(block, start=first):
                try:
                    text = text_of(line)
                except Unreadable as error:
                    raise unreadable_at(number, str(error)) from None
                yield number, text

    def blocks(self) -> Iterator[tuple[int, Sequence[bytes]]]:
        """Yield the lines of each part of the file, and the number of the first of them.

        Raises
        ------
        Unreadable
            If the file is too large or ends within a line.

        """
        first, rest = 1, b""
        for part in self.chunks(_BLOCK):
            *lines, rest = (rest + part).split(b"\n")
            yield first, lines
            first += len(lines)
            if len(rest) > _LONGEST_LINE:
                raise unreadable_at(first, _TOO_LONG)
        if rest and not self.may_end_within_line:
            raise unreadable_at(first, "the file ends within it; expected a whole file")
        if rest:
            yield first, [rest]

    def number_of(self, wanted: bytes) -> int:
        """Return the number of the first line of this content, 0 without one."""
        self._stream.seek(0)
        self._left = self._most
        for first, block in self.blocks():
            if wanted in block:
                return first + block.index(wanted)
        return 0

    def _count(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise _too_large(self._most)


def text_of(line: bytes) -> str:
    """Return the text of a line without its end; raise Unreadable if it is too long or no text."""
    if len(line) > _LONGEST_LINE:
        raise Unreadable(_TOO_LONG)
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise Unreadable("it is not text in UTF-8") from None


@contextmanager
def opened(file: Path) -> Iterator[Content]:
    """Yield the content of a file, unpacked if gzip packed it.

    Raises
    ------
    Unreadable
        If the file cannot be read or unpacked.

    """
    try:
        with file.open("rb") as packed, unpacked(packed) as content:
            yield content
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from None


@contextmanager
def unpacked(packed: BufferedIOBase) -> Iterator[Content]:
    """Yield the content of an open file, unpacked if gzip packed it.

    Raises
    ------
    Unreadable
        If it cannot be unpacked, or is too large.

    """
    is_packed = packed.read(len(_GZIP)) == _GZIP
    size = packed.seek(0, os.SEEK_END)
    packed.seek(0)
    if not is_packed and size > MOST_BYTES:
        raise _too_large(MOST_BYTES)
    try:
        with gzip.GzipFile(fileobj=packed) if is_packed else packed as stream:
            yield Content(stream)
    except EOFError:
        raise Unreadable("its gzip ends too early; expected a whole file") from None
    except (gzip.BadGzipFile, zlib.error):
        raise Unreadable("its gzip is damaged; expected a whole file") from None


def _too_large(most_bytes: int) -> Unreadable:
    return Unreadable(f"it has more than {most_bytes:,} bytes, unpacked")


SAMPLES = "samples"
"""The unit of numbers of samples."""
_MOST_CHARACTERS = 64 << 20
_MOST_STACKS = 1_000_000
_EACH = 128  # [B], which a short text takes beside its characters
_MOST_SAMPLES = 2**63 - 1  # the largest bigint of a table


class Tally:
    """The samples so far, and the room for different stacks."""

    def __init__(self, most_characters: int | None = None) -> None:
        self.stacks = Counter[str]()
        self._most = self._room = most_characters or _MOST_CHARACTERS
        self._total = 0
        self.scale = 1
        """The number that all counts are multiplied by, which have fractions if it is not 1."""

    def add(self, stack: str, samples: int) -> None:
        """Add the samples of a folded stack.

        Raises
        ------
        Unreadable
            If the different stacks or the samples are too many.

        """
        if samples <= 0:
            return
        if stack not in self.stacks:
            self._room -= len(stack)
            if self._room < 0:
                raise Unreadable(f"its different stacks have more than {self._most:,} characters")
            if len(self.stacks) == _MOST_STACKS:
                raise Unreadable(f"it has more than {_MOST_STACKS:,} different stacks")
        self._total += samples
        if self._total > _MOST_SAMPLES:
            raise Unreadable(f"it has more than {_MOST_SAMPLES:,} samples")
        self.stacks[stack] += samples

    def multiply(self, scale: int) -> None:
        """Multiply all samples so far, and those to come."""
        self.scale = scale
        for stack in self.stacks:
            self.stacks[stack] *= scale
        self._total *= scale

    def divide(self, weight: int) -> None:
        """Divide all samples by a number that divides each."""
        for stack in self.stacks:
            self.stacks[stack] //= weight


_COUNT = re.compile(r"[0-9]{1,18}|[0-9]{1,12}\.[0-9]{1,6}")
_MILLION = 1_000_000
_MOST_COUNTED = 64 << 20  # [B]


def add_folded(content: Content, tally: Tally) -> None:
    """Add the samples of lines such as ``main;parse;malloc 12``.

    Counts with fractions, ``1.5``, are kept in millionths: the tally has another ``scale`` then.

    Raises
    ------
    Unreadable
        If a line has another form, such as the two counts of a differential flame graph.

    """
    # A file may have a line for each sample: equal lines are counted first and read once.
    lines, longest = Counter[bytes](), 0
    for first, block in content.blocks():
        lines.update(block if first > 1 else _unmarked(block))
        longest = max(longest, max(map(len, block), default=0))
        if len(lines) * (longest + _EACH) > _MOST_COUNTED:
            _add_lines(lines, content, tally)
            lines.clear()
    _add_lines(lines, content, tally)


def _add_lines(lines: Mapping[bytes, int], content: Content, tally: Tally) -> None:
    for line, times in lines.items():
        try:
            stack, count = _parsed(text_of(line))
        except Unreadable as error:
            raise unreadable_at(content.number_of(line) or 1, str(error)) from None
        # A known stack has been folded already.
        if stack and stack not in tally.stacks and _is_odd(stack):
            stack = folded(stack.split(SEPARATOR))
        if "." in count and tally.scale == 1:
            tally.multiply(_MILLION)
        whole, _, part = count.partition(".")
        tally.add(
            stack, times * (tally.scale * int(whole) + int(part.ljust(6, "0") if part else 0))
        )


def _unmarked(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the first lines of a file without its byte order mark."""
    yield from (
        line.removeprefix(BOM_UTF8) if not place else line for place, line in enumerate(lines)
    )


def _parsed(line: str) -> tuple[str, str]:
    stack, _, count = line.rpartition(" ")
    if _COUNT.fullmatch(count) and stack.strip(" ;"):
        before, _, second = stack.rpartition(" ")
        if before.strip(" ;") and _COUNT.fullmatch(second):
            sentence = f"{shown(line)} has two counts, as difffolded.pl writes them"
            raise Unreadable(f"{sentence}; expected one")
        return stack, count
    if line.strip() and not line.startswith("#"):
        raise Unreadable(f"{shown(line)} is not a stack with its samples, such as main;work 12")
    return "", "0"


def _is_odd(stack: str) -> bool:
    """Tell whether a frame is written in another way: most are not, and folding takes time."""
    if stack[0] == SEPARATOR or stack[-1] == SEPARATOR:
        return True
    return 2 * SEPARATOR in stack or "\r" in stack or "\t" in stack
