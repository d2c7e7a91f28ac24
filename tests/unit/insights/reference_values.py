"""What expressions mean, in the plainest Python."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from local.insights.periods import milliseconds
from local.insights.syntax import Call, Expression, Field, Number, Operation, Period, Regex, Text


class Moment(float):
    """Milliseconds since 1970-01-01 UTC that are shown as a time."""


Value = str | float | bool | None
Row = dict[str, Any]
Order = Callable[[list[Row]], list[Row]]


def as_number(given: Value) -> float | None:
    if isinstance(given, str):
        decimal = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", given)
        given = float(given) if decimal else None
    return None if given is None else finite(float(given))


def as_text(given: Value) -> str | None:
    if isinstance(given, bool):
        return str(int(given))
    if isinstance(given, Moment):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=given)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    if isinstance(given, float):
        return repr(given + 0.0).removesuffix(".0")
    return given


def truth(given: Value) -> bool:
    return given is True or (as_number(given) or 0) != 0


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


COMPARISONS = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b if b else math.nan,
}


def value(node: Expression, row: Row) -> Value:
    match node:
        case Number() | Text():
            return node.value
        case Field():
            return row.get(node.name)
        case Call(function="bin", arguments=[Period() as period]):
            return binned(row["@timestamp"], period)
        case Call():
            return called(node.function, [value(each, row) for each in node.arguments])
        case Operation(operator="like", arguments=[subject, pattern]):
            return liked(as_text(value(subject, row)), pattern)
        case Operation():
            return operated(node.operator, [value(each, row) for each in node.arguments])
    raise AssertionError(node)


def binned(time: Value, period: Period) -> Moment | None:
    length = milliseconds(period)
    assert length
    return None if time is None else Moment(float(time) // length * length)


def liked(text: str | None, pattern: Expression) -> bool:
    if text is None:
        return False
    if isinstance(pattern, Regex):
        return re.search(pattern.pattern, text) is not None
    assert isinstance(pattern, Text)
    return pattern.value in text


def operated(sign: str, given: list[Value]) -> Value:
    match sign:
        case "and":
            return all(map(truth, given))
        case "or":
            return any(map(truth, given))
        case "not":
            return not truth(given[0])
        case "!=":
            return not compared("=", *given)
        case "in":
            return any(compared("=", given[0], member) for member in given[1:])
    if sign in COMPARISONS:
        return compared(sign, *given)
    numbers = [number for each in given if (number := as_number(each)) is not None]
    if len(numbers) < len(given):
        return None
    return finite(ARITHMETIC[sign](*numbers)) if len(numbers) == 2 else -numbers[0]


def compared(sign: str, left: Value, right: Value) -> bool:
    a: Any = as_number(left)
    b: Any = as_number(right)
    if a is None or b is None:
        a, b = as_text(left), as_text(right)
    return a is not None and b is not None and COMPARISONS[sign](a, b)


def called(name: str, given: list[Value]) -> Value:
    match name:
        case "abs":
            number = as_number(given[0])
            return None if number is None else abs(number)
        case "strlen":
            text = as_text(given[0])
            return None if text is None else float(len(text))
        case "ispresent":
            return given[0] is not None
        case "coalesce":
            return next((each for each in given if each is not None), None)
        case "concat":
            return "".join(text for each in given if (text := as_text(each)) is not None)
    raise AssertionError(name)


def sorted_by(keys: list[tuple[str, bool]], then: Order) -> Order:
    def sort(rows: list[Row]) -> list[Row]:
        rows = then(rows)
        for name, descending in reversed(keys):
            there = [row for row in rows if row.get(name) is not None]
            missing = [row for row in rows if row.get(name) is None]
            # Not reversed as a whole: rows that are alike stay newest first.
            there.sort(key=lambda row: natural(row[name]), reverse=descending)
            rows = there + missing
        return rows

    return sort


def natural(given: Value) -> tuple[bool, float, str]:
    text = as_text(given) or ""
    number = as_number(given)
    if number is not None:
        return (True, number, text)
    return (False, 0.0, re.sub(r"[0-9]+", lambda d: f"0{len(d[0]):09}{d[0]}", text))
