"""SQL for times: lengths such as ``5m``, dates as text, and numbers over the time.

``formatDate`` uses strftime's letters, ``parseDate`` uses Java's. Other letters are refused, since
a wrong date is worse than none. AWS documents neither the two values of a rate nor the format of a
histogram.

Sources: AWS documentation, CloudWatch Logs Insights query syntax: datetime functions, time-series
functions; Java SE, DateTimeFormatter: patterns for formatting and parsing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cwli.insights.syntax import Period
from cwli.insights.values import ArgumentError, Type, Value, finite, quoted, text


class Unit(NamedTuple):
    """A unit of time, its length [ms] and its largest amount in bins.

    Calendar units have no fixed length. Weeks begin on a Monday, which AWS does not document.
    """

    symbol: str
    milliseconds: int | None
    most: int | None
    names: tuple[str, ...]
    calendar: str = ""


_UNITS = (
    Unit("ms", 1, 1000, ("ms", "msec", "msecs", "millisecond", "milliseconds")),
    Unit("s", 1_000, 60, ("s", "sec", "secs", "second", "seconds")),
    Unit("m", 60_000, 60, ("m", "min", "mins", "minute", "minutes")),
    Unit("h", 3_600_000, 24, ("h", "hr", "hrs", "hour", "hours")),
    Unit("d", 86_400_000, None, ("d", "day", "days")),
    Unit("w", None, None, ("w", "week", "weeks"), "WEEK"),
    Unit("mo", None, None, ("mo", "mos", "mon", "mons", "month", "months"), "MONTH"),
    Unit("q", None, None, ("q", "qtr", "qtrs", "quarter", "quarters"), "QUARTER"),
    Unit("y", None, None, ("y", "yr", "yrs", "year", "years"), "YEAR"),
)
UNITS = {name: unit for unit in _UNITS for name in unit.names}
SYMBOLS = tuple(unit.symbol for unit in _UNITS)


def cap(period: Period) -> Period:
    """Return a period with its amount capped: ``300s`` is 60 seconds, not 5 minutes."""
    most = UNITS[period.unit].most
    if most is None or period.amount <= most:
        return period
    return Period(period.span, most, period.unit)


def milliseconds(period: Period) -> int | None:
    """Return the length of a period [ms], None for a calendar period."""
    length = UNITS[period.unit].milliseconds
    return None if length is None else period.amount * length


def interval(period: Period) -> str:
    """Return a calendar period as DuckDB's SQL."""
    return f"INTERVAL {period.amount} {UNITS[period.unit].calendar}"


_UTC = Value("'UTC'", Type.TEXT, "UTC")
# Letters that strftime of C and of DuckDB share, and the short forms of C.
_SAME = "aAbBdHIjmMpSuUVwWyYG%"
_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "h": "%b"}
_JAVA = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z'])")
_LETTERS = {
    **dict.fromkeys(("y", "yyyy", "u", "uuuu"), "%Y"),
    **dict.fromkeys(("yy", "uu"), "%y"),
    **dict.fromkeys(("M", "MM"), "%m"),
    "MMM": "%b",
    "MMMM": "%B",
    **dict.fromkeys(("d", "dd"), "%d"),
    **dict.fromkeys(("E", "EE", "EEE"), "%a"),
    "EEEE": "%A",
    **dict.fromkeys(("H", "HH"), "%H"),
    **dict.fromkeys(("h", "hh"), "%I"),
    "a": "%p",
    **dict.fromkeys(("m", "mm"), "%M"),
    **dict.fromkeys(("s", "ss"), "%S"),
    "SSS": "%g",
    "SSSSSS": "%f",
    "SSSSSSSSS": "%n",
    **dict.fromkeys(("X", "XX", "XXX", "x", "xx", "xxx", "Z"), "%z"),
}
_DAY = ({"%Y", "%y"}, {"%m", "%b", "%B"}, {"%d"})


def format_date(time: Value, format_: Value, zone: Value = _UTC) -> Value:
    """Return SQL for a time as text.

    Raises
    ------
    ArgumentError
        If the format has an unknown letter, or the time zone does not exist.
    """
    letters = quoted(_strftime(format_))
    local = f"timezone({_zone(zone)}, timezone('UTC', make_timestamp_ms({time})))"
    return Value(f"TRY(strftime({local}, {letters}))", Type.TEXT)


def parse_date(text: Value, pattern: Value, zone: Value = _UTC) -> Value:
    """Return SQL for the milliseconds since 1970 of a date as text, null if it does not fit.

    An offset in the text overrides the time zone.

    Raises
    ------
    ArgumentError
        If the pattern has an unknown letter or no day, or the time zone does not exist.
    """
    letters = _strptime(pattern)
    name = _zone(zone)
    if letters.endswith("%z"):
        # DuckDB does not accept Z as an offset.
        offset = f"regexp_replace({text}, 'Z$', '+00')"
        moment = f"try_strptime({offset}, {quoted(letters)})"
    else:
        moment = f"timezone({name}, try_strptime({text}, {quoted(letters)}))"
    return Value(f"TRY(CAST(epoch_ms({moment}) AS DOUBLE))", Type.NUMBER)


def _constant(value: Value, place: int, argument: str) -> str:
    if not isinstance(value.constant, str):
        raise ArgumentError(f"{argument} must be a text in quotes", place)
    return value.constant


def _zone(zone: Value) -> str:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 (few queries name a time zone)

    name = _constant(zone, 2, "the time zone")
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ArgumentError(
            f"there is no time zone {name!r}; accepted: 'UTC', 'Europe/Berlin' and the like", 2
        ) from error
    return quoted(name)


def _strftime(format_: Value) -> str:
    def letter(match: re.Match[str]) -> str:
        code = match[0] if match[1] and match[1] in _SAME else _SHORT.get(match[1])
        if code is None:
            codes = " ".join(f"%{each}" for each in (*_SAME, *_SHORT))
            raise ArgumentError(f"{match[0]} is not supported in a format; supported: {codes}", 1)
        return code

    text = _constant(format_, 1, "the format")
    if "%" not in text:
        raise ArgumentError(f"{text!r} has no letter after %, as in '%Y-%m-%d %H:%M:%S'", 1)
    return re.sub(r"%(.|\Z)", letter, text, flags=re.DOTALL)


def _strptime(pattern: Value) -> str:
    text = _constant(pattern, 1, "the pattern")
    parts: list[str] = []
    position = 0
    while position < len(text):
        part = _JAVA.match(text, position)
        if part is None:
            raise ArgumentError("a quote in the pattern is not closed by '", 1)
        parts.append(_part(part))
        position = part.end()
    if not all(day & set(parts) for day in _DAY):
        raise ArgumentError("the pattern must have year, month and day, such as yyyy-MM-dd", 1)
    if "%z" in parts[:-1]:
        raise ArgumentError("an offset is accepted only at the end of the pattern", 1)
    return "".join(parts)


def _part(part: re.Match[str]) -> str:
    if letters := part["letters"]:
        if letters not in _LETTERS:
            known = " ".join(_LETTERS)
            raise ArgumentError(f"{letters} is not supported in a pattern; supported: {known}", 1)
        return _LETTERS[letters]
    literal = part["other"] or part["quoted"].replace("''", "'") or "'"
    return literal.replace("%", "%%")


# AWS documents no limit.
_MOST_RANGES = 100


def rate(time: Value, pointer: Value, number: Value, period: Value) -> Value:
    """Return SQL for the change per ``period`` from the earliest to the latest number.

    Raises
    ------
    ArgumentError
        If the period is a calendar period, which has no fixed length.
    """
    if period.constant is None:
        raise ArgumentError("the period must be of days or shorter", 3)
    present = f"FILTER (WHERE {number} IS NOT NULL AND {time} IS NOT NULL)"
    latest, earliest = (
        f"{edge}({number}, ({time}, {pointer})) {present}" for edge in ("arg_max", "arg_min")
    )
    elapsed = f"nullif(max({time}) {present} - min({time}) {present}, 0)"
    return finite(f"({latest} - {earliest}) / {elapsed} * {period}")


def histogram(number: Value, ranges: Value) -> Value:
    """Return SQL for a map from the lower end of equally wide ranges to their counts of numbers.

    Raises
    ------
    ArgumentError
        If ``ranges`` is not a whole number from 1 to 100.
    """
    count = ranges.constant
    if not isinstance(count, float) or count not in range(1, _MOST_RANGES + 1):
        raise ArgumentError(f"the number of ranges must be whole, from 1 to {_MOST_RANGES}", 1)
    # Equal numbers have one range. With a struct, the SQL names each aggregate once.
    step = f"s.high / {count} - s.low / {count}"
    inside = f"floor(v / ({step}) - s.low / ({step}))"
    members = f"list_filter(s.all, lambda v: least({inside}, {count - 1}) = i)"
    low = text(Value(f"(s.low + i * ({step}))", Type.NUMBER))
    bar = f"'\"' || {low} || '\":' || len({members})"
    bars = f"array_to_string(list_transform(range({count:.0f}), lambda i: {bar}), ',')"
    single = f"'\"' || {text(Value('s.low', Type.NUMBER))} || '\":' || len(s.all)"
    map_ = f"'{{' || CASE WHEN {step} > 0 THEN {bars} ELSE {single} END || '}}'"
    aggregates = (
        f"{{'all': list({number}) FILTER (WHERE {number} IS NOT NULL), "
        f"'low': min({number}), 'high': max({number})}}"
    )
    return Value(f"list_transform([{aggregates}], lambda s: {map_})[1]", Type.STRUCTURE)
