"""Reference for the meaning of queries: slow, simple Python for the queries of `random_queries`."""

from __future__ import annotations

import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any

from random_queries import NETWORKS, WORDS

from cwli.insights.commands.joins import AppendCols, Join
from cwli.insights.commands.lookup import CidrLookUp, LookUp
from cwli.insights.commands.parsing import ParseFormat, ParseGlob, ParseRegex
from cwli.insights.commands.rows import Dedup, Fields, Filter, JsonField, Limit, Sort, Unnest
from cwli.insights.commands.stats import AddTotals, CountFrequent, Fillmissing, Stats
from cwli.insights.commands.windows import Accum, Autoregress, Filldown, Outlier, Sessionize
from cwli.insights.parser import parse
from cwli.insights.syntax import (
    Call,
    Command,
    Expression,
    Field,
    Number,
    Operation,
    Period,
    Regex,
    Text,
)
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
                rows = join_rows(command, rows, order, shown, other)
            case LookUp() | CidrLookUp():
                rows = look_up(command, rows, shown)
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
            rows, order = apply_to_rows(command, rows, order, shown)
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


def apply_to_rows(
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
            rows = all_matches(command, row)
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


def all_matches(command: ParseRegex, row: Row) -> list[Row]:
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


def join_rows(
    command: Join | AppendCols,
    rows: list[Row],
    order: Order,
    shown: dict[str, None],
    other_query: tuple[list[Row], list[str]],
) -> list[Row]:
    others, names = other_query
    if isinstance(command, Join):
        shown |= {f"b.{name}": None for name in names}
        return [
            {**row, **with_side("a", row), **with_side("b", other)}
            for row in rows
            for other in partners(command, row, others)
        ]
    rows = [dict(row) for row in rows]
    names = [name for name in names if command.override or name not in shown]
    shown |= dict.fromkeys(names)
    others = others[: command.most]
    for place, row in enumerate(order(rows)):
        other = others[place] if place < len(others) else {}
        row |= {name: other.get(name) for name in names}
    return rows


def with_side(side: str, row: Row) -> Row:
    return {f"{side}.{name}": each for name, each in row.items()}


def partners(command: Join, row: Row, others: list[Row]) -> list[Row]:
    left, right = (key.name.partition(".")[2] for key in (command.left, command.right))
    key = as_text(row.get(left))
    equal = [each for each in others if key is not None and as_text(each.get(right)) == key]
    return equal or ([{}] if command.outer else [])


def look_up(command: LookUp | CidrLookUp, rows: list[Row], shown: dict[str, None]) -> list[Row]:
    (pair,) = command.taken
    name = pair.field.name
    shown[name] = None
    if isinstance(command, LookUp):
        words = dict(reversed(WORDS))
        (key,) = command.keys
        return [{**row, name: words.get(as_text(row.get(key.field.name)) or "")} for row in rows]
    return [
        row
        if command.only_new and row.get(name) not in (None, "")
        else {**row, name: narrowest(as_text(row.get(command.address.name)))}
        for row in rows
    ]


def narrowest(text: str | None) -> str | None:
    try:
        address = ip_address(text or "")
    except ValueError:
        return None
    names = {ip_network(each): name for each, name in NETWORKS if address in ip_network(each)}
    return names[max(names, key=lambda network: network.prefixlen)] if names else None
