"""SQL for dates as text: ``formatDate`` uses strftime's letters, ``parseDate`` uses Java's.

Source: AWS documentation, CloudWatch Logs Insights query syntax: datetime functions; Java SE,
DateTimeFormatter: patterns for formatting and parsing. Other letters are refused, since a wrong
date is worse than none.
"""

from __future__ import annotations

import re

from cwli.insights.values import ArgumentError, Type, Value, quoted

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
