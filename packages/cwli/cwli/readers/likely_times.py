"""Likely times: fields and texts that look like times which no clock reads by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from shlex import quote

from cwli.readers.clocks import ANYTHING, MONTH, field_clock, fields_of, format_clock

_LINES = 20
_DEEPEST = 4
_TIME = re.compile(
    rf"(?P<date>\d{{4}}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.](?:\d{{4}}|\d\d)\b"
    rf"|\d\d[ /-]{MONTH}[ /-]\d{{4}}|{MONTH} [ \d]\d(?:,? \d{{4}})?|\b\d{{8}})?"
    r"(?P<between>(?<=.)[ T:_,-]{1,2})?"
    r"(?P<time>(?<!\d)(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)"
    r"(?P<fraction>[.,]\d{1,6})?(?P<noon> [AP]M)?"
    r"(?P<zone> ?[+-]\d\d:?\d\d\b)?"
)
# A name that promises a time counts before another field with one.
_NAMED = re.compile("time|date|stamp|created|when|_at$|At$", re.IGNORECASE)


def likely_time(lines: Sequence[str]) -> str:
    """Return a clause with the first likely time of lines and the option that reads it, or ''."""
    first = [line for line in lines if line][:_LINES]
    for line in first:
        found = _in_field(line) if line.startswith("{") else _in_text(line, first)
        if found:
            return found
    return ""


def _in_field(line: str) -> str:
    pairs = sorted(_members(fields_of(line)), key=lambda pair: not _NAMED.search(pair[0]))
    for name, value in pairs:
        if field_clock(name).fits(line):
            return f"the field {name!r} looks like a time, and --time-field {quote(name)} reads it"
        form = _form(str(value), [str(value)])
        if form and field_clock(name, form).fits(line):
            return (
                f"the field {name!r} looks like a time, and --time-field {quote(name)} "
                f"--time-format {quote(form)} reads it"
            )
    return ""


def _members(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    """Yield the path and the value of each text and number in an object of JSON."""
    if isinstance(value, dict) and len(path) < _DEEPEST:
        for name, member in value.items():
            yield from _members(member, (*path, str(name)))
    elif path and isinstance(value, str | int | float):
        yield ".".join(path), value


def _in_text(line: str, lines: Sequence[str]) -> str:
    form = _form(line, lines)
    if not form:
        return ""
    before = line[: _first_time(line).start()]
    sign = "" if before in ("", "[") else " " if before.strip(" \t[") == "" else ANYTHING
    if not format_clock(f"{sign}{form}").fits(line):
        return ""
    text = _first_time(line)[0]
    return f"{text!r} looks like a time, and --time-format {quote(sign + form)} reads it"


def _first_time(line: str) -> re.Match[str]:
    """Return the first time with a date in a line that has a time, or else its first time."""
    found = list(_TIME.finditer(line))
    return next((each for each in found if each["date"]), found[0])


def _form(text: str, lines: Sequence[str]) -> str:
    """Return the format of the first time in a text, '' without one."""
    if not _TIME.search(text):
        return ""
    found = _first_time(text)
    date = _date_form(found["date"], lines) if found["date"] else ""
    clock = "%H:%M:%S" if found["time"].count(":") > 1 else "%H:%M"
    if found["noon"]:
        clock = clock.replace("%H", "%I")
    between = (found["between"] or "") if date else ""
    fraction = f"{found['fraction'][0]}%f" if found["fraction"] else ""
    zone = re.sub(r"\S+", "%z", found["zone"] or "")
    return f"{date}{between}{clock}{fraction}{' %p' if found['noon'] else ''}{zone}"


def _date_form(date: str, lines: Sequence[str]) -> str:
    sign = next((each for each in date if not each.isalnum()), "")
    if not sign:
        return "%Y%m%d"
    if date[0].isalpha():
        return f"%b %d{', %Y' if ',' in date else ' %Y' if date[-4:].isdigit() else ''}"
    if re.search(MONTH, date):
        return sign.join(("%d", "%b", "%Y"))
    if date[:4].isdigit():
        return sign.join(("%Y", "%m", "%d"))
    year = "%Y" if len(date) > len("01.02.03") else "%y"
    return sign.join((*_order(sign, lines), year))


def _order(sign: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return the letters of the day and the month in their order, by values above 12 or the sign.

    Points stand between day, month and year, and slashes between month, day and year.
    """
    pairs = (
        re.search(rf"\b(\d\d){re.escape(sign)}(\d\d){re.escape(sign)}", line) for line in lines
    )
    numbers = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
    is_month_first = sign == "/"
    if any(first > 12 for first, _ in numbers):
        is_month_first = False
    elif any(second > 12 for _, second in numbers):
        is_month_first = True
    return ("%m", "%d") if is_month_first else ("%d", "%m")
