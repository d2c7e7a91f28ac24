"""The texts of values in results.

Source: AWS documentation, Athena: GetQueryResults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from typing import Any


def text(value: Any) -> str | None:  # noqa: ANN401 (what DuckDB returns)
    """Return a value as Athena's results show it, None for null."""
    return None if value is None else _TEXTS.get(type(value), str)(value)


def _timestamp_text(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"


def _array_text(values: list[Any]) -> str:
    return f"[{', '.join('null' if value is None else str(text(value)) for value in values)}]"


def double_text(value: float) -> str:
    """Return the text of a double in Java: the shortest text that reads as the same double.

    It has an exponent unless the double is between 1e-3 and 1e7 (Java documentation,
    Double.toString).
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{value!r}e0".partition("e")
    sign = "-" if value < 0 else ""
    whole, _, fraction = digits.removeprefix("-").partition(".")
    ten = int(exponent.partition("e")[0]) + len(whole) - 1
    figures = whole + fraction
    ten -= len(figures) - len(figures.lstrip("0"))
    figures = figures.strip("0")
    return f"{sign}{figures[0]}.{figures[1:] or '0'}E{ten}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    float: double_text,
    datetime: _timestamp_text,
    date: date.isoformat,
    list: _array_text,
}
