"""Folded stacks as text, which FlameGraph, inferno and py-spy write, and the tally of samples."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tidemark.figures.profiles.folded_stacks import SEPARATOR, folded
from tidemark.model.sentences import shown
from tidemark.store.profiles.file_content import Content, Unreadable, text_of, unreadable_at

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
    # A file may have a line for each sample: equal ones are counted first and read once.
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
        raise Unreadable(f"{shown(line)} is no stack with its samples, such as main;work 12")
    return "", "0"


def _is_odd(stack: str) -> bool:
    """Tell whether a frame is written in another way: most are not, and folding takes time."""
    if stack[0] == SEPARATOR or stack[-1] == SEPARATOR:
        return True
    return 2 * SEPARATOR in stack or "\r" in stack or "\t" in stack
