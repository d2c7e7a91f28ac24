"""What the commands mean that make rows or look at other rows, in the plainest Python."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from local.insights.commands.counts import CountFrequent, Fillmissing
from local.insights.commands.json_field import JsonField
from local.insights.commands.lists import Expand, Unnest
from local.insights.commands.outliers import Outlier
from local.insights.commands.parsing import ParseFormat, ParseRegex
from local.insights.commands.sessions import Sessionize
from local.insights.commands.totals import AddTotals
from local.insights.commands.windows import Accum, Autoregress, Filldown
from local.insights.periods import milliseconds
from local.insights.syntax import Command
from tests.unit.insights.reference_values import (
    Moment,
    Order,
    Row,
    Value,
    as_number,
    as_text,
    finite,
    sorted_by,
    value,
)


def applied(
    command: Command, given: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    rows = [dict(row) for row in given]
    match command:
        case Accum() | Autoregress() | Filldown():
            down(command, order(rows), shown)
        case AddTotals():
            rows, order = with_totals(command, rows, order, shown)
        case Outlier():
            rows = without_outliers(command, rows, shown)
        case Sessionize():
            shown[command.name] = None
            number_sessions(command, rows)
        case Fillmissing():
            rows = filled(command, rows, "k", 2)
        case CountFrequent(fields=[field]):
            counts = Counter(as_text(value(field, row)) for row in rows)
            rows = [{field.name: key, "_approxcount": float(n)} for key, n in counts.items()]
            order = sorted_by([("_approxcount", True), (field.name, False)], list)
            shown.clear()
            shown |= {field.name: None, "_approxcount": None}
        case _:
            rows = [{**row, **fields} for row in rows for fields in taken(command, row, shown)]
    return rows, order


def taken(command: Command, row: Row, shown: dict[str, None]) -> list[Row]:
    """Return what a command takes out of a row: the new fields of each row that it makes."""
    match command:
        case Unnest(field=field, name=name):
            found = [{name: each} for each in elements(row.get(field.name))]
        case Expand(field=field):
            found = [{field.name: each} for each in elements(row.get(field.name))]
        case ParseRegex(multi=True):
            found = matches(command, row)
        case ParseFormat(format="csv", names=names):
            text = as_text(value(command.source, row))
            cells = [*(text.split(",") if text is not None else []), *[None] * len(names)]
            found = [dict(zip(names, cells, strict=False))]
        case ParseFormat(format="logfmt", names=(name,)):
            # Of values without spaces and quotes, after the one key `a`.
            text = as_text(value(command.source, row)) or ""
            held = {"a": text.removeprefix("a=")} if text.startswith("a=") else None
            shown_map = held and json.dumps(held, ensure_ascii=False, separators=(",", ":"))
            found = [{name: shown_map, f"{name}.a": held and held["a"]}]
            shown[name] = None
            return found
        case JsonField(field=field, path=path, name=name):
            inside = row.get(field.name)
            held = inside.get(path.value) if isinstance(inside, dict) else None
            found = [{name: scalar(held)}]
        case _:
            raise AssertionError(command)
    shown |= dict.fromkeys(name for fields in found for name in fields)
    return found


def down(command: Command, rows: list[Row], shown: dict[str, None]) -> None:
    """Go down the rows in their order, and write into each what those before it say."""
    before: list[Value] = []
    for row in rows:
        match command:
            case Accum():
                shown[command.name] = None
                before.append(as_number(value(command.field, row)))
                numbers = [float(each) for each in before if each is not None]
                row[command.name] = finite(sum(numbers)) if numbers else None
            case Autoregress(alias=None, first=first, last=last):
                name = command.field.name
                lags = {f"{name}_p{lag}": lag for lag in range(first, last + 1)}
                shown |= dict.fromkeys(lags)
                for lagged, lag in lags.items():
                    row[lagged] = before[-lag] if lag <= len(before) else None
                before.append(value(command.field, row))
            case Filldown(patterns=(name,)):
                before.append(row.get(name))
                row[name] = next((each for each in reversed(before) if each is not None), None)


def scalar(node: Any) -> Value:
    if isinstance(node, bool):
        return str(int(node))
    return None if node is None else str(node)


def elements(given: Any) -> list[Value]:
    return [scalar(each) for each in given] if isinstance(given, list) else [given]


def matches(command: ParseRegex, row: Row) -> list[Row]:
    text = as_text(value(command.source, row)) or ""
    found = re.findall(command.regex.pattern, text)
    return [dict(zip(command.names, groups, strict=True)) for groups in found] or [
        dict.fromkeys(command.names)
    ]


def with_totals(
    command: AddTotals, rows: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    names = [field.name for field in command.fields]
    if command.of_columns and rows:
        shown |= dict.fromkeys(names)
        total = {name: added([row.get(name) for row in rows]) for name in names}
        rows = [*rows, {**total, "@timestamp": None, "the last": True}]
    if command.of_rows:
        shown[command.name] = None
        for row in rows:
            row[command.name] = added([row.get(name) for name in names])

    def totals_last(given: list[Row]) -> list[Row]:
        totals = [row for row in given if "the last" in row]
        return [*order([row for row in given if "the last" not in row]), *totals]

    return rows, totals_last


def added(values: list[Value]) -> float | None:
    numbers = [number for each in values if (number := as_number(each)) is not None]
    return finite(math.fsum(numbers)) if numbers else None


def without_outliers(command: Outlier, rows: list[Row], shown: dict[str, None]) -> list[Row]:
    fences = {field.name: bounds(command, field.name, rows) for field in command.fields}
    beyond = {id(row): any(outside(row, *fence) for fence in fences.items()) for row in rows}
    for row in rows:
        if command.mark:
            shown["outlier"] = None
            row["outlier"] = beyond[id(row)]
        for name, (low, high) in fences.items():
            if not command.remove and outside(row, name, (low, high)):
                row[name] = high if (as_number(row[name]) or 0) > high else low
    return [row for row in rows if not (command.remove and beyond[id(row)])]


def bounds(command: Outlier, name: str, rows: list[Row]) -> tuple[float, float]:
    numbers = sorted(n for row in rows if (n := as_number(row.get(name))) is not None)
    if not numbers:
        return -math.inf, math.inf
    first, third = quantile(numbers, 0.25), quantile(numbers, 0.75)
    reach = command.factor * (third - first)
    return first - reach if command.lower else -math.inf, third + reach


def quantile(numbers: list[float], part: float) -> float:
    place = part * (len(numbers) - 1)
    low, high = numbers[math.floor(place)], numbers[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def outside(row: Row, name: str, fence: tuple[float, float]) -> bool:
    number = as_number(row.get(name))
    return number is not None and not fence[0] <= number <= fence[1]


def number_sessions(command: Sessionize, rows: list[Row]) -> None:
    pause = milliseconds(command.pause)
    assert pause is not None
    last: dict[tuple[str | None, ...], tuple[float, float]] = {}
    sessions = 0.0
    timed = [row for row in rows if row["@timestamp"] is not None]
    for row in sorted(timed, key=lambda row: row["@timestamp"]):
        who = tuple(as_text(value(field, row)) for field in command.fields)
        time, session = last.get(who, (-math.inf, 0.0))
        if row["@timestamp"] - time > pause:
            sessions += 1
            session = sessions
        last[who] = (row["@timestamp"], session)
        row[command.name] = session


def filled(command: Fillmissing, rows: list[Row], key: str, length: int) -> list[Row]:
    bins = [row[key] for row in rows if row[key] is not None]
    every = range(int(min(bins)), int(max(bins)) + 1, length) if bins else range(0)
    missing = [
        {key: Moment(at), **{name: constant.value for constant, name in command.filled}}
        for at in every
        if at not in bins
    ]
    return [*rows, *missing]
