"""The formats of figures in reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from tidemark.model import numerals

MISSING = "missing"
NONE = "none"


def figure(value: float | None) -> str:
    """Return a figure with separated thousands and at least four significant digits."""
    return MISSING if value is None else numerals.figure(value)


def percent(share: float | None, places: int = 2) -> str:
    """Return a share as a percentage."""
    return MISSING if share is None else numerals.percent(share, places)


class Measured(Protocol):
    """A metric, or a rate of one."""

    @property
    def unit(self) -> str:
        """The unit."""

    @property
    def direction(self) -> str:
        """The better direction."""


class Bounded(Protocol):
    """A judgement on a change, or what is told of one."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval, None without one."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""


def change(share: float | None, of: Measured, places: int = 2) -> str:
    """Return the change of a figure, ``none`` without one."""
    return NONE if share is None else numerals.delta(share, of.direction, of.unit, places)


def interval(judged: Bounded, of: Measured, places: int = 2) -> str:
    """Return the interval of a change, in the form of the change, ``none`` without one."""
    low, high = judged.low, judged.high
    if low is None or high is None:
        return NONE
    return numerals.span(low, high, of.direction, of.unit, places)


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
