"""Numbers as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Return a duration in the units that suit it: ``3.2 s``, ``2 min 5 s``, ``1 h 4 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def plural(count: int, noun: str) -> str:
    """Return ``1 task`` or ``2 tasks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
