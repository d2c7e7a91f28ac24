"""The marks of verdicts, which tell verdicts apart without colour: ``▼ slower``."""

from __future__ import annotations

MARKS = {"slower": "▼", "faster": "▲", "cannot tell": "?", "not comparable": "–", "same": "="}
"""The mark of each word, in the order in which people look for them; up is better."""


def marked(word: str) -> str:
    """Return the word of a verdict behind its mark."""
    return f"{MARKS[word]} {word}"
