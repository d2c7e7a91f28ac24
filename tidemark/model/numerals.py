"""Numbers as texts, for sentences, tables and terminals."""

from __future__ import annotations

import math

# From which power of ten on a figure has which prefix, for which power (SI brochure, 3).
_PREFIXES = ((9, 9, " G"), (6, 6, " M"), (4, 3, " k"))
_MOST_DIGITS = 6
_LEAST_COUNTED, _MOST_COUNTED = 1e-9, 1e15
_TIMES = frozenset({"h", "min", "s", "ms", "us", "µs", "ns"})


def decimal(value: float, places: int) -> str:
    """Return a number with separated thousands, ``−1,234.5``; a rounded zero has no sign.

    Machine formats such as CSV and JSON have numbers as Python writes them.
    """
    return f"{value:z,.{places}f}".replace("-", "\N{MINUS SIGN}")


def signed(value: float, places: int) -> str:
    """Return a difference with its sign; a rounded zero has none."""
    text = decimal(value, places)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def figure(value: float) -> str:
    """Return a figure with separated thousands and at least four significant digits.

    Numbers of more digits than anybody counts have a power of ten.
    """
    if _is_beyond(value):
        return f"{value:.3e}"
    places = max(1, 3 - math.floor(math.log10(abs(value)))) if value else 1
    return f"{value:,.{places}f}"


def supported(value: float, spread: float | None) -> tuple[str, str]:
    """Return a figure and its spread in the digits that it supports: ``1.86 M``, ``0.61 M``.

    The last digit is the second one of the spread, or the figure's fourth without a spread, whose
    text is then ''.
    """
    if _is_beyond(value):
        return f"{value:.3e}", "" if spread is None else f"{spread:.1e}"
    power = math.floor(math.log10(abs(value))) if value else 0
    last = math.floor(math.log10(spread)) - 1 if spread else power - 3
    last = max(last, power - _MOST_DIGITS + 1)
    of, prefix = next(((of, prefix) for least, of, prefix in _PREFIXES if power >= least), (0, ""))

    def text(number: float) -> str:
        return decimal(round(number, -last) / 10**of, max(0, of - last)) + prefix

    return text(value), "" if spread is None else text(spread)


def _is_beyond(value: float) -> bool:
    return value != 0 and not _LEAST_COUNTED <= abs(value) < _MOST_COUNTED


def percent_places(low: float | None, high: float | None) -> int:
    """Return the places of percentages that an interval supports: two digits of its half-width.

    Without an interval there are two.
    """
    if low is None or high is None or low == high:
        return 2
    return min(2, max(0, 1 - math.floor(math.log10(50 * (high - low)))))


def bound(share: float) -> str:
    """Return a share that somebody chose as a percentage, without needless digits; 1 is 100 %."""
    return f"{100 * share:.12g} %"


def percent(share: float, places: int = 2) -> str:
    """Return a share as a percentage; 1 is ``100.00 %``.

    Source: The International System of Units (SI), 9th edition, 5.4.7: a space before the symbol.
    """
    return f"{decimal(100 * share, places)} %"


def percent_change(share: float, places: int = 2) -> str:
    """Return a change as a percentage with its sign, ``+3.61 %``; a rounded zero has none."""
    return f"{signed(100 * share, places)} %"


def delta(share: float, direction: str, unit: str, places: int = 2) -> str:
    """Return the change of a figure, ``−3.61 %``; ``13.8 times as long`` if less is better.

    A change of which less is better can be far above 100 %.
    """
    return times_as(share, direction, unit) or percent_change(share, places)


def span(low: float, high: float, direction: str, unit: str, places: int = 2) -> str:
    """Return an interval of a change in the form of the change: ``11.0 to 14.5 times``."""
    if times_as(low, direction, unit):
        return f"{decimal(1 + low, 1)} to {decimal(1 + high, 1)} times"
    return f"{percent_change(low, places)} to {percent_change(high, places)}"


def times_as(share: float, direction: str, unit: str) -> str:
    """Return a change of 100 % or more as ``13.8 times as long`` if less is better, else ''."""
    if direction != "lower" or share < 1:
        return ""
    return f"{decimal(1 + share, 1)} times as {'long' if unit in _TIMES else 'much'}"
