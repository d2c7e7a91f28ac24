"""How the values of a column are written, as a QuickSight definition says it."""

from __future__ import annotations

from dataclasses import dataclass

from cdk.data_sets import DATETIME, STRING
from local.dashboard.node import Node

# Pictures of QuickSight's DateTimeFormat, and how many characters of a stored time they show.
_PICTURES = {"YYYY-MM-DD": 10, "YYYY-MM-DD HH:mm": 16, "YYYY-MM-DD HH:mm:ss": 19}
_NUMBERS = (
    "NumberDisplayFormatConfiguration",
    "PercentageDisplayFormatConfiguration",
    "CurrencyDisplayFormatConfiguration",
)
_CURRENCIES = {"USD": "$"}


@dataclass(frozen=True)
class Format:
    """How a value is written."""

    kind: str
    """``text``, ``time`` or ``number``."""
    places: int | None = None
    """Digits behind the point, None for as many as it takes; of a time its characters."""
    times: int = 1
    """What a number is multiplied by."""
    prefix: str = ""
    suffix: str = ""


TEXT = Format("text")
NUMBER = Format("number")
WHOLE = Format("number", 0)
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


def _number(kind: str, display: Node) -> Format:
    places = display.node("DecimalPlacesConfiguration")
    separator = display.node("SeparatorConfiguration").node("ThousandsSeparator")
    separator.must_be("Symbol", "COMMA")
    separator.must_be("Visibility", "VISIBLE")
    percentage = kind.startswith("Percentage")
    symbol = display.choice("Symbol", *_CURRENCIES) if kind.startswith("Currency") else ""
    return Format(
        "number",
        places.number("DecimalPlaces") if "DecimalPlaces" in places else None,
        100 if percentage else 1,
        display.text("Prefix", _CURRENCIES.get(symbol, "")),
        display.text("Suffix", " %" if percentage else ""),
    )
