"""Reference for the meaning of expressions, in simple Python."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from cwli.insights.syntax import Call, Expression, Field, Number, Operation, Period, Regex, Text
from cwli.insights.times import milliseconds


class Moment(float):
    """Milliseconds since 1970-01-01 UTC, shown as a time."""


Value = str | float | bool | None
Row = dict[str, Any]
Order = Callable[[list[Row]], list[Row]]


def as_number(value: Value) -> float | None:
    if isinstance(value, str):
        decimal = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value)
        value = float(value) if decimal else None
    return None if value is None else finite(float(value))


def as_text(value: Value) -> str | None:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Moment):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    if isinstance(value, float):
        return repr(value + 0.0).removesuffix(".0")
    return value


def truth(value: Value) -> bool:
    return value is True or (as_number(value) or 0) != 0


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
            return bin_of(row["@timestamp"], period)
        case Call():
            return call(node.function, [value(each, row) for each in node.arguments])
        case Operation(operator="like", arguments=[subject, pattern]):
            return is_like(as_text(value(subject, row)), pattern)
        case Operation():
            quoted = [isinstance(each, Text) for each in node.arguments]
            return operate(node.operator, [value(each, row) for each in node.arguments], quoted)
    raise AssertionError(node)


def bin_of(time: Value, period: Period) -> Moment | None:
    length = milliseconds(period)
    assert length
    return None if time is None else Moment(float(time) // length * length)


def is_like(text: str | None, pattern: Expression) -> bool:
    if text is None:
        return False
    if isinstance(pattern, Regex):
        return re.search(pattern.pattern, text) is not None
    assert isinstance(pattern, Text)
    return pattern.value in text


def operate(sign: str, operands: list[Value], quoted: list[bool]) -> Value:
    match sign:
        case "and":
            return all(map(truth, operands))
        case "or":
            return any(map(truth, operands))
        case "not":
            return not truth(operands[0])
        case "!=":
            return not operate("=", operands, quoted)
        case "in":
            members = zip(operands[1:], quoted[1:], strict=True)
            return any(operate("=", [operands[0], m], [quoted[0], q]) for m, q in members)
    if sign in COMPARISONS:
        return compare(sign, *operands, as_texts=sign == "=" and any(quoted))
    numbers = [number for each in operands if (number := as_number(each)) is not None]
    if len(numbers) < len(operands):
        return None
    return finite(ARITHMETIC[sign](*numbers)) if len(numbers) == 2 else -numbers[0]


def compare(sign: str, left: Value, right: Value, *, as_texts: bool) -> bool:
    both_texts = isinstance(left, str) and isinstance(right, str)
    a: Any = as_integer_or_number(left)
    b: Any = as_integer_or_number(right)
    if both_texts and (as_texts or a is None or b is None):
        a, b = left, right
    return a is not None and b is not None and COMPARISONS[sign](a, b)


def as_integer_or_number(value: Value) -> float | None:
    integer = isinstance(value, str) and re.fullmatch("[+-]?[0-9]{16,38}", value)
    return int(value) if isinstance(value, str) and integer else as_number(value)


def call(name: str, arguments: list[Value]) -> Value:
    match name:
        case "abs":
            number = as_number(arguments[0])
            return None if number is None else abs(number)
        case "strlen":
            text = as_text(arguments[0])
            return None if text is None else float(len(text))
        case "ispresent":
            return arguments[0] is not None
        case "coalesce":
            return next((each for each in arguments if each is not None), None)
        case "concat":
            return "".join(text for each in arguments if (text := as_text(each)) is not None)
    raise AssertionError(name)


def sorted_by(keys: list[tuple[str, bool]], default: Order) -> Order:
    def sort(rows: list[Row]) -> list[Row]:
        rows = default(rows)
        for name, descending in reversed(keys):
            present = [row for row in rows if row.get(name) is not None]
            missing = [row for row in rows if row.get(name) is None]
            # A stable sort, not a reversal: rows with equal keys stay newest first.
            present.sort(key=lambda row: natural(row[name]), reverse=descending)
            rows = present + missing
        return rows

    return sort


def natural(value: Value) -> tuple[bool, float, str]:
    text = as_text(value) or ""
    number = as_number(value)
    if number is not None:
        return (True, number, text)
    return (False, 0.0, re.sub(r"[0-9]+", lambda d: f"0{len(d[0]):09}{d[0]}", text))
