"""Expressions and names as query text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cwli.insights.syntax import (
    Call,
    Expression,
    Field,
    Item,
    Number,
    Operation,
    Period,
    Regex,
    SortKey,
    Subquery,
    Text,
)

_PLAIN = re.compile(r"(?:[^\W\d]|@)[\w@]*(?:\.[\w@]+)*")
_SYMBOLS = ("not", "and", "or", "like", "in", "by", "as", "asc", "desc", "group")


def name(text: str) -> str:
    """Return a name, in backticks if it needs them."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _SYMBOLS
    return text if plain else f"`{text}`"


def names(texts: Iterable[str]) -> str:
    """Return names, separated by commas."""
    return ", ".join(map(name, texts))


def fields(nodes: Iterable[Field]) -> str:
    """Return fields, separated by commas."""
    return ", ".join(map(expression, nodes))


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def expression(node: Expression) -> str:
    """Return an expression, each operation inside another in parentheses."""
    match node:
        case Number(value=value):
            # A Decimal has no exponent here: AWS documents none.
            from decimal import Decimal  # noqa: PLC0415 (few numbers have an exponent)

            text = format(Decimal(repr(value).removesuffix(".0")), "f")
        case Text(value=value):
            text = quoted(value)
        case Regex(pattern=pattern):
            text = f"/{pattern}/"
        case Period(amount=amount, unit=unit):
            text = f"{amount}{unit}"
        case Field():
            text = node.path or name(node.name)
        case Call(function="count", arguments=()):
            text = "count(*)"
        case Subquery(commands=commands):
            text = f"({' | '.join(map(str, commands))})"
        case Call():
            text = f"{node.function}({', '.join(map(expression, node.arguments))})"
        case Operation():
            text = _operation(node)
        case _:
            raise AssertionError(f"{node} cannot be printed")
    return text


def items(nodes: Iterable[Item]) -> str:
    """Return expressions with their names; an item without an alias keeps its source text."""
    return ", ".join(
        f"{expression(item.expression)} as {name(item.name)}" if item.aliased else item.span.text
        for item in nodes
    )


def sort_keys(keys: Iterable[SortKey]) -> str:
    """Return sort keys, separated by commas."""
    return ", ".join(f"{expression(key.expression)} {key.direction}" for key in keys)


def _operation(node: Operation) -> str:
    first, *others = (operand(each) for each in node.arguments)
    if node.operator == "in":
        members = tuple(expression(each) for each in node.arguments[1:])
        if isinstance(node.arguments[1], Subquery):
            return f"{first} in {members[0]}"
        return f"{first} in [{', '.join(members)}]"
    if not others:
        return f"{node.operator} {first}"
    return f" {node.operator} ".join((first, *others))


def operand(node: Expression) -> str:
    """Return an expression, in parentheses unless it is one word."""
    text = expression(node)
    return f"({text})" if isinstance(node, Operation) else text
