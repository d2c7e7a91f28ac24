"""Numbers as texts, for sentences, tables and terminals."""

from __future__ import annotations

import math


def decimal(value: float, places: int) -> str:
    """Return a number with separated thousands, ``−1,234.5``; a rounded zero has no sign.

    Machine formats such as CSV and JSON have numbers as Python writes them.
    """
    return f"{value:z,.{places}f}".replace("-", "\N{MINUS SIGN}")


def figure(value: float) -> str:
    """Return a figure with separated thousands and at least four significant digits."""
    places = max(1, 3 - math.floor(math.log10(abs(value)))) if value else 1
    return f"{value:,.{places}f}"


def bound(share: float) -> str:
    """Return a share that somebody chose as a percentage, without needless digits; 1 is 100 %."""
    return f"{100 * share:.12g} %"


def percent(share: float, places: int = 2) -> str:
    """Return a share as a percentage; 1 is ``100.00 %``.

    Source: The International System of Units (SI), 9th edition, 5.4.7: a space before the symbol.
    """
    return f"{decimal(100 * share, places)} %"
