"""The formats of figures in reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from tidemark.model import numerals

if TYPE_CHECKING:  # a command without a model does not import it
    from tidemark.figures.verdicts.rule import Judgement

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


def change(share: float | None, of: Measured, places: int = 2) -> str:
    """Return the change of a figure, ``none`` without one."""
    return NONE if share is None else numerals.delta(share, of.direction, of.unit, places)


def interval(judgement: Judgement, of: Measured, places: int = 2) -> str:
    """Return the interval of a change, in the form of the change, ``none`` without one."""
    low, high = judgement.low, judgement.high
    if low is None or high is None:
        return NONE
    if numerals.times_as(low, of.direction, of.unit):
        return f"{numerals.decimal(1 + low, 1)} to {numerals.decimal(1 + high, 1)} times"
    return f"{percent(low, places)} to {percent(high, places)}"


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
