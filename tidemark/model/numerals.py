"""Numbers, times and changes as texts, for sentences, tables, pages and terminals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol

MISSING, NONE = "missing", "none"
"""The texts of a missing figure, and of a change without figures."""
# From which power of ten on a figure has which prefix, for which power (SI brochure, 3).
_PREFIXES = ((9, 9, " G"), (6, 6, " M"), (4, 3, " k"))
_MOST_DIGITS = 6
_MOST_COUNTED = 100_000  # larger whole numbers are shortened


class Rules(NamedTuple):
    """The rules of figures, which the scripts of pages share."""

    minus: str = "\N{MINUS SIGN}"
    percent: str = " %"
    digits: int = 4
    """The least significant digits of a figure."""
    least_places: int = 1
    least_counted: float = 1e-9
    most_counted: float = 1e15
    """The least and the first too large figure without a power of ten."""
    power_places: int = 3
    """The places of a figure with a power of ten."""
    change_places: int = 2
    """The most places of a change in percent."""
    change_digits: int = 2
    """The digits of the half-width of its interval, which decide its places."""
    times_places: int = 1
    times_units: tuple[str, ...] = ("h", "min", "s", "ms", "us", "µs", "ns")
    """The units whose figures are long, and not much."""


RULES = Rules()


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


def decimal(value: float, places: int) -> str:
    """Return a number with separated thousands, ``−1,234.5``; a rounded zero has no sign.

    Machine formats such as CSV and JSON have numbers as Python writes them.
    """
    return f"{value:z,.{places}f}".replace("-", RULES.minus)


def signed(value: float, places: int) -> str:
    """Return a difference with its sign; a rounded zero has none."""
    text = decimal(value, places)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def figure(value: float | None) -> str:
    """Return a figure with separated thousands and at least four significant digits.

    Numbers of more digits than anybody counts have a power of ten.
    """
    if value is None:
        return MISSING
    sign, size = (RULES.minus if value < 0 else ""), abs(value)
    if _is_beyond(value):
        return f"{sign}{size:.{RULES.power_places}e}"
    places = RULES.digits - 1 - math.floor(math.log10(size)) if value else 0
    return f"{sign}{size:,.{max(RULES.least_places, places)}f}"


def supported(value: float, spread: float | None) -> tuple[str, str]:
    """Return a figure and its spread in the digits that it supports: ``1.86 M``, ``0.61 M``.

    The last digit is the second one of the spread, or the figure's fourth without a spread, whose
    text is then ''. A count such as 10,045 users has no digit behind the point.
    """
    if _is_beyond(value):
        return f"{value:.3e}", "" if spread is None else f"{spread:.1e}"
    if not spread and _is_count(value):
        return decimal(value, 0), "" if spread is None else "0"
    power = math.floor(math.log10(abs(value))) if value else 0
    last = math.floor(math.log10(spread)) - 1 if spread else power - 3
    last = max(last, power - _MOST_DIGITS + 1)
    of, prefix = next(((of, prefix) for least, of, prefix in _PREFIXES if power >= least), (0, ""))

    def text(number: float) -> str:
        return decimal(round(number, -last) / 10**of, max(0, of - last)) + prefix

    return text(value), "" if spread is None else text(spread)


def counted(value: float | None) -> str:
    """Return a figure, a count such as 10,045 users without a digit behind the point."""
    return decimal(value, 0) if value is not None and _is_count(value) else figure(value)


def _is_count(value: float) -> bool:
    return abs(value) < _MOST_COUNTED and value == round(value)


def _is_beyond(value: float) -> bool:
    return value != 0 and not RULES.least_counted <= abs(value) < RULES.most_counted


def percent_places(low: float | None, high: float | None) -> int:
    """Return the places of percentages that an interval supports: two digits of its half-width.

    Without an interval there are two.
    """
    most = RULES.change_places
    if low is None or high is None or low == high:
        return most
    return min(most, max(0, RULES.change_digits - 1 - math.floor(math.log10(50 * (high - low)))))


def bound(share: float) -> str:
    """Return a share that somebody chose as a percentage, without needless digits; 1 is 100 %."""
    return f"{100 * share:.12g} %"


def percent(share: float | None, places: int = 2) -> str:
    """Return a share as a percentage; 1 is ``100.00 %``.

    Source: The International System of Units (SI), 9th edition, 5.4.7: a space before the symbol.
    """
    return MISSING if share is None else f"{decimal(100 * share, places)}{RULES.percent}"


def percent_change(share: float, places: int = 2) -> str:
    """Return a change as a percentage with its sign, ``+3.61 %``; a rounded zero has none."""
    return f"{signed(100 * share, places)}{RULES.percent}"


def delta(share: float, direction: str, unit: str, places: int = 2) -> str:
    """Return the change of a figure, ``−3.61 %``; ``13.8 times as long`` if less is better.

    A change can be far above 100 % if less is better.
    """
    return times_as(share, direction, unit) or percent_change(share, places)


def span(low: float, high: float, direction: str, unit: str, places: int = 2) -> str:
    """Return an interval of a change in the form of the change: ``11.0 to 14.5 times``."""
    if times_as(low, direction, unit):
        return f"{_times(low)} to {_times(high)} times"
    return f"{percent_change(low, places)} to {percent_change(high, places)}"


def times_as(share: float, direction: str, unit: str) -> str:
    """Return a change of 100 % or more as ``13.8 times as long`` if less is better, else ''."""
    if direction != "lower" or share < 1:
        return ""
    return f"{_times(share)} times as {'long' if unit in RULES.times_units else 'much'}"


def _times(share: float) -> str:
    return decimal(1 + share, RULES.times_places)


def change(share: float | None, of: Measured, places: int = 2) -> str:
    """Return the change of a figure, ``none`` without one."""
    return NONE if share is None else delta(share, of.direction, of.unit, places)


def interval(judged: Bounded, of: Measured, places: int = 2) -> str:
    """Return the interval of a change, in the form of the change, ``none`` without one."""
    low, high = judged.low, judged.high
    if low is None or high is None:
        return NONE
    return span(low, high, of.direction, of.unit, places)


def moment(time: datetime | None) -> str:
    """Return a time to the second, in UTC as every stored time."""
    return f"{time:%Y-%m-%d %H:%M:%S}" if time else MISSING


def duration(seconds: float) -> str:
    """Return a duration in suitable units: ``3.2 s``, ``2 min 5 s``, ``1 h 4 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def ranges(numbers: Iterable[int]) -> str:
    """Return whole numbers in order, neighbours joined: ``1–3, 7``."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return ", ".join(f"{low}–{high}" if low < high else f"{low}" for low, high in spans)
