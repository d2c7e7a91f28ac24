"""Reference for commands that make rows or look at other rows, in simple Python."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from reference_values import Moment, Order, Row, Value, as_number, as_text, finite, sorted_by, value

from cwli.insights.commands.parsing import ParseFormat, ParseRegex
from cwli.insights.commands.rows import JsonField, Unnest
from cwli.insights.commands.stats import AddTotals, CountFrequent, Fillmissing
from cwli.insights.commands.windows import Accum, Autoregress, Filldown, Outlier, Sessionize
from cwli.insights.syntax import Command
from cwli.insights.times import milliseconds


def apply(
    command: Command, rows: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    rows = [dict(row) for row in rows]
    match command:
        case Accum() | Autoregress() | Filldown():
            write_window_columns(command, order(rows), shown)
        case AddTotals():
            rows, order = add_totals(command, rows, order, shown)
        case Outlier():
            rows = treat_outliers(command, rows, shown)
        case Sessionize():
            shown[command.name] = None
            number_sessions(command, rows)
        case Fillmissing():
            rows = fill_bins(command, rows, "k", 2)
        case CountFrequent(fields=[field]):
            counts = Counter(as_text(value(field, row)) for row in rows)
            rows = [{field.name: key, "_approxcount": float(n)} for key, n in counts.items()]
            order = sorted_by([("_approxcount", True), (field.name, False)], list)
            shown.clear()
            shown |= {field.name: None, "_approxcount": None}
        case _:
            rows = [{**row, **fields} for row in rows for fields in new_fields(command, row, shown)]
    return rows, order


def new_fields(command: Command, row: Row, shown: dict[str, None]) -> list[Row]:
    """Return the new fields of each row that a command makes of a row."""
    match command:
        case Unnest(field=field, name=name):
            rows = [{name: each} for each in elements(row.get(field.name))]
        case ParseRegex(multi=True):
            rows = matches(command, row)
        case ParseFormat(format="csv", names=names):
            text = as_text(value(command.source, row))
            cells = [*(text.split(",") if text is not None else []), *[None] * len(names)]
            rows = [dict(zip(names, cells, strict=False))]
        case ParseFormat(format="logfmt", names=(name,)):
            # Only values without spaces and quotes, after the single key `a`.
            text = as_text(value(command.source, row)) or ""
            map_ = {"a": text.removeprefix("a=")} if text.startswith("a=") else None
            map_text = map_ and json.dumps(map_, ensure_ascii=False, separators=(",", ":"))
            rows = [{name: map_text, f"{name}.a": map_ and map_["a"]}]
            shown[name] = None
            return rows
        case JsonField(field=field, path=path, name=name):
            document = row.get(field.name)
            node = document.get(path.value) if isinstance(document, dict) else None
            rows = [{name: scalar(node)}]
        case _:
            raise AssertionError(command)
    shown |= dict.fromkeys(name for fields in rows for name in fields)
    return rows


def write_window_columns(command: Command, rows: list[Row], shown: dict[str, None]) -> None:
    """Write columns into the rows, in their order, from the values of earlier rows."""
    before: list[Value] = []
    for row in rows:
        match command:
            case Accum():
                shown[command.name] = None
                before.append(as_number(value(command.field, row)))
                numbers = [float(each) for each in before if each is not None]
                row[command.name] = finite(sum(numbers)) if numbers else None
            case Autoregress(alias=None, first=first, last=last):
                lags = {f"{command.field.name}_p{lag}": lag for lag in range(first, last + 1)}
                shown |= dict.fromkeys(lags)
                for name, lag in lags.items():
                    row[name] = before[-lag] if lag <= len(before) else None
                before.append(value(command.field, row))
            case Filldown(patterns=(name,)):
                before.append(row.get(name))
                row[name] = next((each for each in reversed(before) if each is not None), None)


def scalar(node: Any) -> Value:
    if isinstance(node, bool):
        return str(int(node))
    return None if node is None else str(node)


def elements(node: Any) -> list[Value]:
    return [scalar(each) for each in node] if isinstance(node, list) else [node]


def matches(command: ParseRegex, row: Row) -> list[Row]:
    text = as_text(value(command.source, row)) or ""
    captures = re.findall(command.regex.pattern, text)
    return [dict(zip(command.names, groups, strict=True)) for groups in captures] or [
        dict.fromkeys(command.names)
    ]


def add_totals(
    command: AddTotals, rows: list[Row], order: Order, shown: dict[str, None]
) -> tuple[list[Row], Order]:
    names = [field.name for field in command.fields]
    if command.of_columns and rows:
        shown |= dict.fromkeys(names)
        total = {name: total_of([row.get(name) for row in rows]) for name in names}
        rows = [*rows, {**total, "@timestamp": None, "the last": True}]
    if command.of_rows:
        shown[command.name] = None
        for row in rows:
            row[command.name] = total_of([row.get(name) for name in names])

    def totals_last(rows: list[Row]) -> list[Row]:
        totals = [row for row in rows if "the last" in row]
        return [*order([row for row in rows if "the last" not in row]), *totals]

    return rows, totals_last


def total_of(values: list[Value]) -> float | None:
    numbers = [number for each in values if (number := as_number(each)) is not None]
    return finite(math.fsum(numbers)) if numbers else None


def treat_outliers(command: Outlier, rows: list[Row], shown: dict[str, None]) -> list[Row]:
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
    events = [row for row in rows if row["@timestamp"] is not None]
    for row in sorted(events, key=lambda row: row["@timestamp"]):
        identity = tuple(as_text(value(field, row)) for field in command.fields)
        time, session = last.get(identity, (-math.inf, 0.0))
        if row["@timestamp"] - time > pause:
            sessions += 1
            session = sessions
        last[identity] = (row["@timestamp"], session)
        row[command.name] = session


def fill_bins(command: Fillmissing, rows: list[Row], key: str, length: int) -> list[Row]:
    bins = [row[key] for row in rows if row[key] is not None]
    every = range(int(min(bins)), int(max(bins)) + 1, length) if bins else range(0)
    missing = [
        {key: Moment(at), **{name: constant.value for constant, name in command.filled}}
        for at in every
        if at not in bins
    ]
    return [*rows, *missing]
