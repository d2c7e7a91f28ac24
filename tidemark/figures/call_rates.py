"""One rate of calls in several units: calls an hour, calls a second, milliseconds a call.

If one client calls and waits, each follows from any other: 71,500 calls an hour are 19.9 calls
a second, and 50.3 ms a call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_UNIT = re.compile(r"(?P<many>[a-z ]+?)s?/(?P<time>h|s)|(?P<each>ms|s)/(?P<one>[a-z ]+)")
_SECONDS = {"h": 3_600.0, "s": 1.0, "ms": 0.001}


# A request of a client is a call of its function.
_SYNONYMS = {"call": "request"}


class Printed(NamedTuple):
    """A printed rate: the seconds of one call lie between two bounds, as its digits say."""

    text: str
    noun: str
    """The calls, such as ``request``."""
    least: float
    most: float


def rate(digits: str, unit: str) -> Printed | None:
    """Return a rate such as ``71500`` ``calls/h`` or ``50.3`` ``ms/call``; None for other units.

    A zero at the end of a whole number may be rounded: 71500 stands for 71,450 to 71,550.
    """
    match = _UNIT.fullmatch(unit)
    if match is None:
        return None
    plain = re.sub(r"[, ]", "", digits)
    if not re.fullmatch(r"\d+(\.\d+)?", plain):
        return None
    value, half = float(plain), _last_digit(plain) / 2
    if not value:
        return None
    if match["each"]:
        seconds = _SECONDS[match["each"]]
        bounds = (value - half) * seconds, (value + half) * seconds
    else:
        seconds = _SECONDS[match["time"]]
        bounds = seconds / (value + half), seconds / (value - half)
    noun = match["many"] or match["one"]
    return Printed(f"{digits} {unit}", _SYNONYMS.get(noun, noun), *bounds)


def contradict(one: Printed, other: Printed) -> bool:
    """Tell whether no rate has both texts."""
    return one.least > other.most or other.least > one.most


def _last_digit(plain: str) -> float:
    """Return the value of the last digit that is certain."""
    whole, point, fraction = plain.partition(".")
    if point:
        return float(10.0 ** -len(fraction))
    return float(10.0 ** (len(whole) - len(whole.rstrip("0"))))
