"""What queries mean, in the plainest Python: slow, and only of what `random_queries` asks."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from local.insights.commands.fields import Fields
from local.insights.commands.filters import Filter
from local.insights.commands.order import Dedup, Limit, Sort
from local.insights.commands.parsing import ParseGlob, ParseRegex
from local.insights.commands.stats import Stats
from local.insights.parser import parse
from local.insights.syntax import Call, Command, Expression, Field, Number, Operation, Regex, Text

Value = str | float | bool | None
Row = dict[str, Value]
Order = Callable[[list[Row]], list[Row]]


def answer(query: str, messages: list[str]) -> list[dict[str, str]]:
    """Return the rows of a query over messages, oldest first, without times and pointers."""
    rows = [{"@message": message, **discovered(message)} for message in messages]
    rows.reverse()
    shown: dict[str, None] = {}
    keep_message, order = True, list
    for command in parse(query):
        keep_message = keep_message and not isinstance(command, Fields | Stats)
        rows, order = applied(command, rows, order, shown)
    names = [*(["@message"] if keep_message else []), *shown]
    return [
        {name: text for name in names if (text := as_text(row.get(name))) is not None}
        for row in order(rows)
    ]


def applied(
    command: Command, rows: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    match command:
        case Fields(items=[item]):
            shown[item.name] = None
            rows = [{**row, item.name: value(item.expression, row)} for row in rows]
        case Filter():
            rows = [row for row in rows if truth(value(command.condition, row))]
        case ParseGlob(names=(left, right)):
            shown |= {left: None, right: None}
            rows = [{**row, **split(command, row)} for row in rows]
        case ParseRegex():
            pattern = re.compile(command.regex.pattern.replace("(?<", "(?P<"))
            shown |= dict.fromkeys(pattern.groupindex)
            rows = [{**row, **captured(pattern, value(command.source, row))} for row in rows]
        case Stats():
            rows = grouped(command, rows)
            shown.clear()
            shown |= {item.name: None for item in (*command.keys, *command.items)}
            order = sorted_by([(item.name, False) for item in command.keys], list)
        case Sort(keys=[key]):
            rows = [{**row, "the key": value(key.expression, row)} for row in rows]
            order = sorted_by([("the key", key.descending)], list)
        case Limit():
            rows = order(rows)[: command.count]
        case Dedup(fields=[field]):
            rows = first_of_each(field, order(rows))
        case _:
            raise AssertionError(command)
    return rows, order


def first_of_each(field: Field, rows: list[Row]) -> list[Row]:
    seen: set[str] = set()
    kept = []
    for row in rows:
        key = as_text(value(field, row))
        if key is None or key not in seen:
            kept.append(row)
        seen |= {key} if key is not None else set()
    return kept


def discovered(message: str) -> Row:
    found: Row = {}

    def walk(name: str, node: Any) -> None:
        if isinstance(node, dict | list):
            parts = node.items() if isinstance(node, dict) else enumerate(node)
            for key, part in parts:
                walk(f"{name}.{key}" if name else str(key), part)
        elif isinstance(node, bool):
            found[name] = str(int(node))
        elif node is not None:
            found[name] = str(node)

    try:
        walk("", json.loads(message))
    except ValueError:
        return {}
    found.pop("", None)
    return found


def as_number(given: Value) -> float | None:
    if isinstance(given, str):
        decimal = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", given)
        given = float(given) if decimal else None
    return None if given is None else finite(float(given))


def as_text(given: Value) -> str | None:
    if isinstance(given, bool):
        return str(int(given))
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
        case Call():
            return called(node.function, [value(each, row) for each in node.arguments])
        case Operation(operator="like", arguments=[subject, pattern]):
            return liked(as_text(value(subject, row)), pattern)
        case Operation():
            return operated(node.operator, [value(each, row) for each in node.arguments])
    raise AssertionError(node)


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


def split(command: ParseGlob, row: Row) -> Row:
    text = as_text(value(command.source, row))
    parts: Iterable[Value] = (None, None)
    if text is not None and "-" in text:
        parts = text.split("-", 1)
    return dict(zip(command.names, parts, strict=True))


def captured(pattern: re.Pattern[str], given: Value) -> Row:
    text = as_text(given)
    match = None if text is None else pattern.search(text)
    return dict(match.groupdict()) if match else dict.fromkeys(pattern.groupindex)


def grouped(command: Stats, rows: list[Row]) -> list[Row]:
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        keys = {item.name: value(item.expression, row) for item in command.keys}
        groups.setdefault(tuple(map(as_text, keys.values())), []).append({**row, **keys})
    return [
        {
            **{item.name: members[0][item.name] for item in command.keys},
            **{item.name: aggregated(item.expression, members) for item in command.items},
        }
        for members in groups.values()
    ]


def aggregated(call: Expression, rows: list[Row]) -> Value:
    assert isinstance(call, Call)
    if not call.arguments:
        return float(len(rows))
    given = [value(call.arguments[0], row) for row in rows]
    there = [each for each in given if each is not None]
    numbers = [number for each in there if (number := as_number(each)) is not None]
    match call.function:
        case "count":
            return float(len(there))
        case "count_distinct":
            return float(len(set(map(as_text, there))))
        case "sum":
            return finite(math.fsum(numbers)) if numbers else None
        case "avg":
            return finite(math.fsum(numbers) / len(numbers)) if numbers else None
    extreme: Any = {"min": min, "max": max}[call.function]
    texts = [text for each in there if (text := as_text(each)) is not None]
    return extreme(numbers) if numbers else extreme(texts, default=None)


def sorted_by(keys: list[tuple[str, bool]], then: Order) -> Order:
    def sort(rows: list[Row]) -> list[Row]:
        rows = then(rows)
        for name, descending in reversed(keys):
            there = [row for row in rows if row[name] is not None]
            missing = [row for row in rows if row[name] is None]
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
