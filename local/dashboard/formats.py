"""How the values of a column are written, as a QuickSight definition says it."""

from __future__ import annotations

from dataclasses import dataclass

from cdk.data_sets import DATETIME, STRING
from local.dashboard.node import Node

# Pictures of QuickSight's DateTimeFormat, and how many characters of a stored time they show.
_PICTURES = {"YYYY-MM-DD": 10, "YYYY-MM-DD HH:mm": 16, "YYYY-MM-DD HH:mm:ss": 19}
_NUMBERS = {
    "NumberDisplayFormatConfiguration": "number",
    "PercentageDisplayFormatConfiguration": "percentage",
}


@dataclass(frozen=True)
class Format:
    """How a value is written."""

    kind: str
    """``text``, ``time``, ``number``, or ``percentage``, which is of a hundredth."""
    places: int | None = None
    """Digits behind the point, None for as many as it takes; of a time its characters."""


TEXT = Format("text")
NUMBER = Format("number")
DAY = Format("time", _PICTURES["YYYY-MM-DD"])
MINUTE = Format("time", _PICTURES["YYYY-MM-DD HH:mm"])


def default_format(kind: str) -> Format:
    """Return how values of one of QuickSight's types are written if nothing is said."""
    return {STRING: TEXT, DATETIME: MINUTE}.get(kind, NUMBER)


def read_format(node: Node) -> Format:
    """Return what a format configuration says, of a column or of a field."""
    if "DateTimeFormat" in node:
        return Format("time", _PICTURES[node.choice("DateTimeFormat", *_PICTURES)])
    if "FormatConfiguration" in node:
        return _number(*node.node("FormatConfiguration").kind(*_NUMBERS))
    _, inner = node.kind("NumberFormatConfiguration", "DateTimeFormatConfiguration")
    return read_format(inner)


def _number(name: str, display: Node) -> Format:
    separator = display.node("SeparatorConfiguration").node("ThousandsSeparator")
    separator.must_be("Symbol", "COMMA")
    separator.must_be("Visibility", "VISIBLE")
    places = display.node("DecimalPlacesConfiguration")
    known = "DecimalPlaces" in places
    return Format(_NUMBERS[name], places.number("DecimalPlaces") if known else None)
