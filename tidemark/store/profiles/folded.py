"""Folded stacks as text, which FlameGraph, inferno, async-profiler and py-spy write."""

from __future__ import annotations

from tidemark.figures.profiles.folded_stacks import SEPARATOR, folded
from tidemark.model.sentences import shown
from tidemark.store.profiles.file_content import Content
from tidemark.store.profiles.tally import Tally
from tidemark.store.profiles.unreadable import unreadable_at

_MOST_DIGITS = 18


def add_folded(content: Content, tally: Tally) -> None:
    """Add the samples of lines such as ``main;parse;malloc 12``.

    Raises
    ------
    Unreadable
        If a line has another form, such as the two counts of a differential flame graph.

    """
    for number, line in content.lines():
        stack, _, count = line.rpartition(" ")
        if count.isdecimal() and len(count) <= _MOST_DIGITS and stack.strip(" ;"):
            before, _, second = stack.rpartition(" ")
            if before.strip(" ;") and second.isdecimal():
                sentence = f"{shown(line)} has two counts, as difffolded.pl writes them"
                raise unreadable_at(number, f"{sentence}; expected one")
            # A known stack has been folded already.
            if stack not in tally.stacks and _is_odd(stack):
                stack = folded(stack.split(SEPARATOR))
            tally.add(stack, int(count))
        elif line.strip():
            raise unreadable_at(number, f"{shown(line)} is no stack with its samples")


def _is_odd(stack: str) -> bool:
    """Tell whether a frame is written in another way: most are not, and folding takes time."""
    closed = f"{SEPARATOR}{stack}{SEPARATOR}"
    return any(mark in closed for mark in (2 * SEPARATOR, "\r", "\t"))
