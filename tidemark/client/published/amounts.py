"""Figures as people publish them: ``366000``, ``366,000 ± 1,200 (6 trials)``, ``1.3M``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from tidemark.model.sentences import shown

# Groups of three digits have a comma, apostrophe, underscore or space between them, or points.
_GROUPS = r"[0-9]{1,3}(?:[,'_\u2019 \u00a0\u2009\u202f][0-9]{3})+(?:\.[0-9]+)?"
_POINTS = r"[0-9]{1,3}(?:\.[0-9]{3}){2,}"
_DIGITS = r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_NUMBER = rf"(?:{_GROUPS}|{_POINTS}|{_DIGITS})(?:\s?[kMG])?"
_FIGURE = re.compile(
    rf"(?P<value>{_NUMBER})"
    rf"(?:\s*\(?(?:±|\+/-|\+-)\s*(?P<spread>{_NUMBER})\s?(?P<percent>%)?\)?)?"
    r"(?:\s*\((?:n\s*=\s*)?(?P<trials>[0-9]+)(?: (?:trials?|runs?|jobs?|samples?))?\))?"
)
# Nobody writes a thousand as 0.412.
_UNSURE = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# Figures that are no thousands with a point, and those with a comma before the decimals.
_WITH_POINT = re.compile(
    r"[0-9]{4,}\.[0-9]+|0\.[0-9]+|[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})|[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+"
)
_WITH_COMMA = re.compile(
    r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|0,[0-9]+"
)
_LONG = re.compile(r"[0-9]{4,}")
_SHORT = re.compile(r"[1-9][0-9]{0,2}")
Point = Literal[".", ","]
"""The mark before the decimals."""
_SCALES = {"k": 1e3, "M": 1e6, "G": 1e9}
# A mark of a footnote behind a figure.
_MARKS = re.compile(r"[*†‡¹²³]+$")
_MISSING = {
    "", "-", "--", "\N{EN DASH}", "\N{EM DASH}", "?", "\N{HORIZONTAL ELLIPSIS}", "...", "n/a", "na",
    "nan", "none", "null", "nil", "tbd", "tbc", "unknown", "missing", "not measured", "not tested",
}  # fmt: skip


class Amount(NamedTuple):
    """A published figure."""

    text: str
    """The figure digit for digit, with its spread, without a unit."""
    value: float
    spread: float | None = None
    """The standard deviation, in the unit of the value."""
    samples: int = 0
    """The number of values that it is the mean of, 0 if that is not known."""


def is_missing(text: str) -> bool:
    """Tell whether a cell says that there is no figure."""
    return text.casefold() in _MISSING


def is_amount(text: str) -> bool:
    """Tell whether a cell has the form of a figure, perhaps with a unit."""
    return re.match(r"[~<>≈]?\s*[0-9]", text) is not None


def is_figure(text: str) -> bool:
    """Tell whether a cell is a figure without a unit, with any mark before its decimals."""
    return _PLAIN.fullmatch(text) is not None or (
        _FIGURE.fullmatch(text) is not None or _WITH_COMMA.fullmatch(text) is not None
    )


def decimal_point(texts: Iterable[str], given: Point | None) -> Point | None:
    """Return the mark before the decimals of a file's figures, None if no figure tells it.

    A point is one if a figure of the file is no thousand with a point, or a thousand without one,
    or if all have three digits behind it: of several thousands some would be smaller, or larger.
    """
    if given:
        return given
    unsure, short, long, point, comma = 0, False, False, False, False
    for text in texts:
        point = point or _WITH_POINT.fullmatch(text) is not None
        comma = comma or _WITH_COMMA.fullmatch(text) is not None
        short = short or _SHORT.fullmatch(text) is not None
        long = long or _LONG.fullmatch(text) is not None
        unsure += _UNSURE.fullmatch(text) is not None
    if point != comma:
        return "." if point else ","
    return "." if not comma and (long or (unsure > 1 and not short)) else None


def amount(text: str, unit: str, point: Point | None = None) -> Amount:
    """Return the figure of a cell; raise ValueError with the end of a sentence for any other text.

    ``unit`` may stand behind the figure. ``point`` is the mark before the decimals, if it is known.
    """
    if point == ",":
        text = text.replace(".", "").replace(",", ".")
    if point and _PLAIN.fullmatch(text) and math.isfinite(value := float(text)):
        return Amount(text, value)
    figure = _MARKS.sub("", text.removesuffix(unit).strip()).strip()
    match = _FIGURE.fullmatch(figure)
    if match is None:
        raise ValueError(f"{shown(text)} is no figure; expected one such as 366000 or 366,000.5")
    for number in filter(None, match.group("value", "spread")):
        if point is None and _UNSURE.fullmatch(number):
            whole, fraction = number.split(".")
            both = f"{whole}{fraction} or {number}0"
            advice = "write one of them, or say --decimal . or --decimal ,"
            raise ValueError(f"{shown(number)} may be {both}; {advice}")
    if match["spread"] and not match["percent"]:
        _check_scales(text, match["value"], match["spread"])
    value, trials = _number(match["value"]), int(match["trials"] or 0)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is no finite number")
    spread = _number(match["spread"]) if match["spread"] else None
    if spread is not None and match["percent"]:
        spread *= value / 100
    return Amount(figure, value, spread, trials)


def _check_scales(text: str, value: str, spread: str) -> None:
    """Refuse a scale that may be of one number or of both, as in ``1.3 ± 0.1M``."""
    plain = [number for number in (value, spread) if number[-1] not in _SCALES]
    if len(plain) == 1 and _number(plain[0]) < min(_SCALES.values()):
        scale = (spread if plain == [value] else value)[-1]
        raise ValueError(f"{shown(text)} has {scale} behind one number; write it behind both")


def _number(text: str) -> float:
    scale = _SCALES.get(text[-1], 1.0)
    digits = text if scale == 1 else text[:-1]
    if digits.count(".") > 1:
        digits = digits.replace(".", "")
    value = float(re.sub(r"[^0-9.eE+-]", "", digits))
    return value if scale == 1 else value * scale
