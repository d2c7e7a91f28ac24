"""Formats of the values of a column, from a QuickSight definition."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.dashboard.data_sets import DATETIME, STRING
from tidemark.dashboard.node import Node

# Each form of QuickSight's DateTimeFormat, with the number of characters of a stored time it shows.
_PICTURES = {"YYYY-MM-DD": 10, "YYYY-MM-DD HH:mm": 16, "YYYY-MM-DD HH:mm:ss": 19}
_NUMBERS = {
    "NumberDisplayFormatConfiguration": "number",
    "PercentageDisplayFormatConfiguration": "percentage",
}


@dataclass(frozen=True)
class Format:
    """The format of a value."""

    kind: str
    """``text``, ``time``, ``number`` or ``percentage``; 0.01 is written as 1 %."""
    places: int | None = None
    """The digits behind the point, None for as many as needed; for a time, its characters."""


TEXT = Format("text")
NUMBER = Format("number")
DAY = Format("time", _PICTURES["YYYY-MM-DD"])
MINUTE = Format("time", _PICTURES["YYYY-MM-DD HH:mm"])


def default_format(kind: str) -> Format:
    """Return the default format of one of QuickSight's types."""
    return {STRING: TEXT, DATETIME: MINUTE}.get(kind, NUMBER)


def read_format(node: Node) -> Format:
    """Return the format in a format configuration of a column or a field."""
    if "DateTimeFormat" in node:
        return Format("time", _PICTURES[node.choice("DateTimeFormat", *_PICTURES)])
    if "FormatConfiguration" in node:
        return _number(*node.node("FormatConfiguration").kind(*_NUMBERS))
    _, inner = node.kind("NumberFormatConfiguration", "DateTimeFormatConfiguration")
    return read_format(inner)


def _number(name: str, display: Node) -> Format:
    display.skip("Prefix")  # it calls a change a gain, which the page writes with the change's sign
    separator = display.node("SeparatorConfiguration").node("ThousandsSeparator")
    separator.must_be("Symbol", "COMMA")
    separator.must_be("Visibility", "VISIBLE")
    places = display.node("DecimalPlacesConfiguration")
    fixed = "DecimalPlaces" in places
    return Format(_NUMBERS[name], places.number("DecimalPlaces") if fixed else None)
