"""Answers in words: each verdict behind its mark, ``▼ slower``, with the metrics that have it.

Marks tell verdicts apart without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CHANGES = ("slower", "faster")
"""The verdicts that say how much a version differs."""
MOST_NAMES = 3
"""The most metrics that an answer names for each verdict; tables have all."""

DECIDED = ("slower", "faster", "same")
"""The verdicts that say how the versions differ."""
_UNLIKE = " on unlike machines"
MARKS = {
    "slower": "▼",
    f"slower{_UNLIKE}": "▽",
    "faster": "▲",
    f"faster{_UNLIKE}": "△",
    "cannot tell": "?",
    "not comparable": "–",
    "same": "=",
    f"same{_UNLIKE}": "≈",
}
"""The mark of each word, in the order in which people look for them; up is better.

A hollow mark says that the machines, and not the versions, may have made the difference.
"""
FAILURES = {"failed": "✗ failed", "incomplete": "✗ incomplete"}
"""The marked words of trials that did not complete."""


def qualified(word: str, *, unlike: bool) -> str:
    """Return the word of a verdict, which says so if the machines of both versions differ."""
    return f"{word}{_UNLIKE}" if unlike and word in DECIDED else word


def marked(word: str) -> str:
    """Return the word of a verdict behind its mark."""
    return f"{MARKS[word]} {word}"


def answers(names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return ``▼ slower: ingest_rate (−4.1 %)`` by verdict, for the metrics that have it."""
    return {word: f"{marked(word)}: {_first(names[word])}" for word in MARKS if word in names}


def _first(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
