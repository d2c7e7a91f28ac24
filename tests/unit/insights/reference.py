"""What queries mean, in the plainest Python: slow, and only of what `random_queries` asks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from local.insights.commands.fields import Fields
from local.insights.commands.filters import Filter
from local.insights.commands.joins import AppendCols, Join
from local.insights.commands.lookup import CidrLookUp, LookUp
from local.insights.commands.order import Dedup, Limit, Sort
from local.insights.commands.parsing import ParseGlob, ParseRegex
from local.insights.commands.stats import Stats
from local.insights.parser import parse
from local.insights.periods import milliseconds
from local.insights.syntax import Call, Command, Expression, Field, Number, Period
from tests.unit.insights import reference_beside as rows_beside
from tests.unit.insights import reference_rows as rows_of
from tests.unit.insights.reference_values import (
    Moment,
    Order,
    Row,
    Value,
    as_number,
    as_text,
    finite,
    sorted_by,
    truth,
    value,
)


def answer(query: str, messages: list[str]) -> list[dict[str, str]]:
    """Return the rows of a query over messages, oldest first, without times and pointers."""
    rows: list[Row] = [
        {"@timestamp": Moment(time), "@message": message, **discovered(message)}
        for time, message in enumerate(messages)
    ]
    rows.reverse()
    commands = parse(query)
    rows, shown = asked(commands, rows)
    keep_message = not any(isinstance(command, Fields | Stats) for command in commands)
    names = [*(["@message"] if keep_message else []), *shown]
    return [
        {name: text for name in names if (text := as_text(row.get(name))) is not None}
        for row in rows
    ]


def asked(commands: tuple[Command, ...], events: list[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows of a query over events, newest first, and the fields that it shows."""
    rows: list[Row] = list(events)
    order: Order = list
    shown: dict[str, None] = {}
    for command in commands:
        match command:
            case Join() | AppendCols():
                beside = asked(command.rows.commands, events)
                rows = rows_beside.joined(command, rows, order, shown, beside)
            case LookUp() | CidrLookUp():
                rows = rows_beside.looked_up(command, rows, shown)
            case _:
                rows, order = applied(command, rows, order, shown)
    return order(rows), list(shown)


def applied(
    command: Command, rows: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    match command:
        case Fields():
            for item in command.items:
                shown[item.name] = None
                rows = [{**row, item.name: value(item.expression, row)} for row in rows]
        case Filter():
            rows = [row for row in rows if truth(value(command.condition, row))]
        case ParseGlob(names=(left, right)):
            shown |= {left: None, right: None}
            rows = [{**row, **split(command, row)} for row in rows]
        case ParseRegex(multi=False):
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
            rows, order = rows_of.applied(command, rows, order, shown)
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
            found[name] = node
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
        keys = {item.name: key_of(item.expression, row, command.offset) for item in command.keys}
        groups.setdefault(tuple(map(as_text, keys.values())), []).append({**row, **keys})
    return [
        {
            **{item.name: members[0][item.name] for item in command.keys},
            **{item.name: aggregated(item.expression, members) for item in command.items},
        }
        for members in groups.values()
    ]


def key_of(key: Expression, row: Row, offset: Period | None) -> Value:
    moment = value(key, row)
    if not isinstance(moment, Moment) or offset is None:
        return moment
    return Moment(moment + (milliseconds(offset) or 0))


def rate(rows: list[Row], call: Call) -> float | None:
    _, interval = call.arguments
    assert isinstance(interval, Period)
    timed = sorted(
        (float(row["@timestamp"]), number)
        for row in rows
        if (number := as_number(value(call.arguments[0], row))) is not None
    )
    elapsed = timed[-1][0] - timed[0][0] if timed else 0
    per = milliseconds(interval) or 0
    return finite((timed[-1][1] - timed[0][1]) / elapsed * per) if elapsed else None


def histogram(numbers: list[float], ranges: Expression) -> str | None:
    if not numbers:
        return None
    assert isinstance(ranges, Number)
    low, high, count = min(numbers), max(numbers), int(ranges.value)
    step = high / count - low / count
    if not step:
        return json.dumps({as_text(low): len(numbers)}, separators=(",", ":"))
    places = [min(math.floor(n / step - low / step), count - 1) for n in numbers]
    bars = {as_text(low + i * step): places.count(i) for i in range(count)}
    return json.dumps(bars, separators=(",", ":"))


def aggregated(call: Expression, rows: list[Row]) -> Value:
    assert isinstance(call, Call)
    if not call.arguments:
        return float(len(rows))
    given = [value(call.arguments[0], row) for row in rows]
    there = [each for each in given if each is not None]
    numbers = [number for each in there if (number := as_number(each)) is not None]
    match call.function:
        case "rate":
            return rate(rows, call)
        case "histogram":
            return histogram(numbers, call.arguments[1])
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
