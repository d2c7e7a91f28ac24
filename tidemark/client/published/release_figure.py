"""A published figure of a release: its version, its day and its amount, as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from tidemark.model.publication import PublishedMetric
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown
from tidemark.model.version_order import VERSION

Environment = tuple[tuple[str, str], ...]
"""The facts of the machine that a file names, such as ``("cpu_model", "Xeon E5-2630")``."""


class ReleaseFigure(NamedTuple):
    """One metric of one version, as a file has it."""

    version: str
    tested_on: date
    metric: PublishedMetric
    amount: Amount
    line: int
    environment: Environment = ()

    @property
    def key(self) -> tuple[str, date, str, str]:
        """The version, day, test and figure, which have one value."""
        return self.version, self.tested_on, self.metric.test, self.metric.name

    @property
    def name(self) -> str:
        """The figure for a sentence: ``0.11.0 compaction_rate of 2022-06-13``."""
        return f"{self.version} {self.metric.name} of {self.tested_on}"


def release_version(text: str) -> str:
    """Return a version without the ``v`` of a tag; raise ValueError for any other text."""
    version = re.sub(r"^v(?=[0-9])", "", text)
    if not re.fullmatch(VERSION, version) or not re.search("[0-9]", version):
        raise ValueError(f"{shown(text)} is not a version; expected one such as 0.11.0")
    return version


def refused_at(line: int, sentence: str) -> Refused:
    """Return the refusal of what stands in a line of the file."""
    return Refused(f"FILE: line {line}: {sentence}")


@contextmanager
def in_line(line: int, before: str = "") -> Iterator[None]:
    """Refuse a text that is not a figure, version or label, by its line; ``before`` says which."""
    try:
        yield
    except ValueError as error:
        raise refused_at(line, f"{before}{error}") from None


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
# Figures that are not thousands with a point, and those with a comma before the decimals.
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


def without_figure(cells: Iterable[str]) -> Iterator[str]:
    """Yield how many cells say that there is no figure, nothing if none does."""
    if missing := sum(map(is_missing, cells)):
        yield plural(missing, "cell") + " without a figure"


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

    A point is one if a figure of the file is not a thousand with a point, or a thousand without it,
    or if all have three digits behind it: of several thousands some would be smaller, or larger.
    """
    if given:
        return given
    unsure, short, long, point, comma = 0, False, False, False, False
    for text in (each.removeprefix("-") for each in texts):
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
    is_plain = (point or "." not in text) and _PLAIN.fullmatch(text)
    if is_plain and math.isfinite(value := float(text)):
        return Amount(text, value)
    figure = _MARKS.sub("", text.removesuffix(unit).strip()).strip()
    match = _FIGURE.fullmatch(figure)
    if match is None:
        raise ValueError(f"{shown(text)} is not a figure; expected one such as 366000 or 366,000.5")
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
        raise ValueError(f"{shown(text)} is not a finite number")
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


Order = Literal["day-first", "month-first"]

_ISO = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ].*)?")
# The seconds since 1970, or the milliseconds, from 2001 on.
_UNIX = re.compile(r"1[0-9]{9}(?:[0-9]{3}|\.[0-9]+)?")
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
        raise refused_at(day.line, f"{day.text} is {found}, but --dates says {given}")
    return given or found


def day_of(day: Day, order: Order | None) -> date:
    """Return the day of a text; refuse a text that is not a day or may be two days."""
    match = _NUMBERS.fullmatch(day.text)
    if match and order is None and _is_unsure(int(match[1]), int(match[3])):
        one, other, year = int(match[1]), int(match[3]), int(match[4])
        both = f"{date(year, other, one)} or {date(year, one, other)}"
        advice = "--dates day-first or --dates month-first says which"
        raise refused_at(day.line, f"{day.text} may be {both}; {advice}")
    try:
        return _day(day.text, order)
    except ValueError:
        raise refused_at(day.line, f"{shown(day.text)} is not a day; {_EXPECTED}") from None


def _is_unsure(one: int, other: int) -> bool:
    """Tell whether each of two numbers may be the month, and they are different days."""
    return one != other and all(1 <= number <= 12 for number in (one, other))


def _day(text: str, order: Order | None) -> date:
    """Return the day of a text; raise ValueError if it is none."""
    if _UNIX.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC).date()
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
