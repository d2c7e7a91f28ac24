"""What the commands mean that put other rows beside these, in the plainest Python."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from local.insights.commands.joins import AppendCols, Join
from local.insights.commands.lookup import CidrLookUp, LookUp
from tests.unit.insights.random_queries import NETWORKS, WORDS
from tests.unit.insights.reference_values import Order, Row, as_text


def joined(
    command: Join | AppendCols,
    given: list[Row],
    order: Order,
    shown: dict[str, None],
    beside: tuple[list[Row], list[str]],
) -> list[Row]:
    others, names = beside
    if isinstance(command, Join):
        shown |= {f"b.{name}": None for name in names}
        return [
            {**row, **told("a", row), **told("b", other)}
            for row in given
            for other in matching(command, row, others)
        ]
    rows = [dict(row) for row in given]
    added = [name for name in names if command.override or name not in shown]
    shown |= dict.fromkeys(added)
    others = others[: command.most]
    for place, row in enumerate(order(rows)):
        other = others[place] if place < len(others) else {}
        row |= {name: other.get(name) for name in added}
    return rows


def told(side: str, row: Row) -> Row:
    return {f"{side}.{name}": each for name, each in row.items()}


def matching(command: Join, row: Row, others: list[Row]) -> list[Row]:
    left, right = (key.name.partition(".")[2] for key in (command.left, command.right))
    key = as_text(row.get(left))
    found = [each for each in others if key is not None and as_text(each.get(right)) == key]
    return found or ([{}] if command.outer else [])


def looked_up(command: LookUp | CidrLookUp, rows: list[Row], shown: dict[str, None]) -> list[Row]:
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
    found = {ip_network(each): name for each, name in NETWORKS if address in ip_network(each)}
    return found[max(found, key=lambda network: network.prefixlen)] if found else None
