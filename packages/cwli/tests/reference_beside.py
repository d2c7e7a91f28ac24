"""Reference for commands that add columns of other queries or tables, in simple Python."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from random_queries import NETWORKS, WORDS
from reference_values import Order, Row, as_text

from cwli.insights.commands.joins import AppendCols, Join
from cwli.insights.commands.lookup import CidrLookUp, LookUp


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
            for other in matches(command, row, others)
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


def matches(command: Join, row: Row, others: list[Row]) -> list[Row]:
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
