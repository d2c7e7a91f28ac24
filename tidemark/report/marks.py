"""The marks of verdicts, which tell verdicts apart without colour: ``▼ slower``."""

from __future__ import annotations

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
