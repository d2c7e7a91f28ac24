"""Reference for the meaning of queries: slow, simple Python for the queries of `random_queries`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

import reference_beside
import reference_rows
from reference_values import (
    Moment,
    Order,
    Row,
    Value,
    as_integer_or_number,
    as_number,
    as_text,
    finite,
    sorted_by,
    truth,
    value,
)

from cwli.insights.commands.joins import AppendCols, Join
from cwli.insights.commands.lookup import CidrLookUp, LookUp
from cwli.insights.commands.parsing import ParseGlob, ParseRegex
from cwli.insights.commands.rows import Dedup, Fields, Filter, Limit, Sort
from cwli.insights.commands.stats import Stats
from cwli.insights.parser import parse
from cwli.insights.syntax import Call, Command, Expression, Field, Number, Period
from cwli.insights.times import milliseconds


def answer(query: str, messages: list[str]) -> list[dict[str, str]]:
    """Return the rows of a query over messages, oldest first, without times and pointers."""
    rows: list[Row] = [
        {"@timestamp": Moment(time), "@message": message, **discover(message)}
        for time, message in enumerate(messages)
    ]
    rows.reverse()
    commands = parse(query)
    rows, shown = run_commands(commands, rows)
    keep_message = not any(isinstance(command, Fields | Stats) for command in commands)
    names = [*(["@message"] if keep_message else []), *shown]
    return [
        {name: text for name in names if (text := as_text(row.get(name))) is not None}
        for row in rows
    ]


def run_commands(commands: tuple[Command, ...], events: list[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows of commands over events, newest first, and the fields of the result."""
    rows: list[Row] = list(events)
    order: Order = list
    shown: dict[str, None] = {}
    for command in commands:
        match command:
            case Join() | AppendCols():
                other = run_commands(command.rows.commands, events)
                rows = reference_beside.join_rows(command, rows, order, shown, other)
            case LookUp() | CidrLookUp():
                rows = reference_beside.look_up(command, rows, shown)
            case _:
                rows, order = apply(command, rows, order, shown)
    return order(rows), list(shown)


def apply(
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
            rows = [{**row, **captures(pattern, value(command.source, row))} for row in rows]
        case Stats():
            rows = group(command, rows)
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
            rows, order = reference_rows.apply(command, rows, order, shown)
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


def discover(message: str) -> Row:
    fields: Row = {}

    def walk(name: str, node: Any) -> None:
        if isinstance(node, dict | list):
            fields[name] = node
            parts = node.items() if isinstance(node, dict) else enumerate(node)
            for key, part in parts:
                walk(f"{name}.{key}" if name else str(key), part)
        elif isinstance(node, bool):
            fields[name] = str(int(node))
        elif node is not None:
            fields[name] = str(node)

    try:
        walk("", json.loads(message))
    except ValueError:
        return {}
    fields.pop("", None)
    return fields


def split(command: ParseGlob, row: Row) -> Row:
    text = as_text(value(command.source, row))
    parts: Iterable[Value] = (None, None)
    if text is not None and "-" in text:
        parts = text.split("-", 1)
    return dict(zip(command.names, parts, strict=True))


def captures(pattern: re.Pattern[str], source: Value) -> Row:
    text = as_text(source)
    match = None if text is None else pattern.search(text)
    return dict(match.groupdict()) if match else dict.fromkeys(pattern.groupindex)


def group(command: Stats, rows: list[Row]) -> list[Row]:
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        keys = {item.name: key_of(item.expression, row, command.offset) for item in command.keys}
        groups.setdefault(tuple(map(as_text, keys.values())), []).append({**row, **keys})
    return [
        {
            **{item.name: members[0][item.name] for item in command.keys},
            **{item.name: aggregate(item.expression, members) for item in command.items},
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
    points = sorted(
        (float(row["@timestamp"]), number)
        for row in rows
        if (number := as_number(value(call.arguments[0], row))) is not None
    )
    elapsed = points[-1][0] - points[0][0] if points else 0
    length = milliseconds(interval) or 0
    return finite((points[-1][1] - points[0][1]) / elapsed * length) if elapsed else None


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


def aggregate(call: Expression, rows: list[Row]) -> Value:
    assert isinstance(call, Call)
    if not call.arguments:
        return float(len(rows))
    values = [value(call.arguments[0], row) for row in rows]
    present = [each for each in values if each is not None]
    numbers = [number for each in present if (number := as_number(each)) is not None]
    match call.function:
        case "rate":
            return rate(rows, call)
        case "histogram":
            return histogram(numbers, call.arguments[1])
        case "count":
            return float(len(present))
        case "count_distinct":
            return float(len(set(map(as_text, present))))
        case "sum":
            return finite(math.fsum(numbers)) if numbers else None
        case "avg":
            return finite(math.fsum(numbers) / len(numbers)) if numbers else None
    extreme: Any = {"min": min, "max": max}[call.function]
    texts = [text for each in present if (text := as_text(each)) is not None]
    exact = [number for each in present if (number := as_integer_or_number(each)) is not None]
    found = extreme(exact) if exact else extreme(texts, default=None)
    return str(found) if isinstance(found, int) else found
