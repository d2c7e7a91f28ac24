"""The formats of figures in reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tidemark.model import numerals

MISSING = "missing"


def figure(value: float | None) -> str:
    """Return a figure with separated thousands and at least four significant digits."""
    return MISSING if value is None else numerals.figure(value)


def percent(share: float | None) -> str:
    """Return a share as a percentage with two decimals."""
    return MISSING if share is None else numerals.percent(share)


def moment(time: datetime | None) -> str:
    """Return a time to the second, in UTC as every stored time."""
    return f"{time:%Y-%m-%d %H:%M:%S}" if time else MISSING


def ranges(numbers: Iterable[int]) -> str:
    """Return whole numbers in order, neighbours joined: ``1–3, 7``."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return ", ".join(f"{low}–{high}" if low < high else f"{low}" for low, high in spans)
