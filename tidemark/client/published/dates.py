"""Days as people write them, and the order of day and month where it is not plain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Literal, NamedTuple

from tidemark.client.published.release_figure import refused_at
from tidemark.model.sentences import shown

Order = Literal["day-first", "month-first"]

_ISO = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ].*)?")
_NUMBERS = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_WEEKDAY = re.compile(r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+", re.IGNORECASE)
_NTH = re.compile(r"(?<=[0-9])(?:st|nd|rd|th)\b", re.IGNORECASE)
_SEPT = re.compile(r"\bsept\b", re.IGNORECASE)
# "13 June 2022" and "June 13 2022", once commas, hyphens and slashes are spaces.
_WORDS = ("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%Y %B %d", "%Y %b %d")
_EXPECTED = "expected the form of 2022-06-13, 13/06/2022 or 13 June 2022"


class Day(NamedTuple):
    """The text of a day and its line."""

    text: str
    line: int


def order_of(days: Iterable[Day], given: Order | None) -> Order | None:
    """Return the order of day and month in the days of a file, None if no day tells it.

    Raises
    ------
    Refused
        If two days tell different orders, or one tells another than the ``given`` one.

    """
    certain: dict[Order, Day] = {}
    for day in days:
        if match := _NUMBERS.fullmatch(day.text):
            first, second = int(match[1]), int(match[3])
            if max(first, second) > 12 and min(first, second) <= 12:
                certain.setdefault("day-first" if first > 12 else "month-first", day)
    if len(certain) > 1:
        both = " and ".join(f"{day.text} in line {day.line} is {o}" for o, day in certain.items())
        raise refused_at(max(day.line for day in certain.values()), f"{both}; expected one order")
    found = next(iter(certain), None)
    if given and found and given != found:
        day = certain[found]
        raise refused_at(day.line, f"{day.text} is {found}, and --dates says {given}")
    return given or found


def day_of(day: Day, order: Order | None) -> date:
    """Return the day of a text; refuse a text that is none, or may be two days."""
    match = _NUMBERS.fullmatch(day.text)
    if match and order is None and _is_unsure(int(match[1]), int(match[3])):
        one, other, year = int(match[1]), int(match[3]), int(match[4])
        both = f"{date(year, other, one)} or {date(year, one, other)}"
        advice = "--dates day-first or --dates month-first says which"
        raise refused_at(day.line, f"{day.text} may be {both}; {advice}")
    try:
        return _day(day.text, order)
    except ValueError:
        raise refused_at(day.line, f"{shown(day.text)} is no day; {_EXPECTED}") from None


def _is_unsure(one: int, other: int) -> bool:
    """Tell whether each of two numbers may be the month, and they are different days."""
    return one != other and all(1 <= number <= 12 for number in (one, other))


def _day(text: str, order: Order | None) -> date:
    """Return the day of a text; raise ValueError if it is none."""
    if match := _ISO.fullmatch(text):
        return date(*map(int, match.groups()))
    if match := _NUMBERS.fullmatch(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        return date(year, first, second) if order == "month-first" else date(year, second, first)
    words = _SEPT.sub("Sep", _NTH.sub("", _WEEKDAY.sub("", text)))
    return _in_words(" ".join(re.split(r"[\s,./-]+", words.strip())))


def _in_words(text: str) -> date:
    for form in _WORDS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(text)
