"""The sentence about a profile that cannot be read."""

from __future__ import annotations


class Unreadable(ValueError):
    """A profile that is not accepted; the message is a sentence without the file's name."""


def unreadable_at(line: int, sentence: str) -> Unreadable:
    """Return the error about a line of a profile."""
    return Unreadable(f"line {line:,}: {sentence}")
