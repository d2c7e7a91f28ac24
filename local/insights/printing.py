"""Expressions and names written as a query would write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from local.insights.syntax import (
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
    """Return names with commas between."""
    return ", ".join(map(name, texts))


def fields(listed: Iterable[Field]) -> str:
    """Return fields with commas between."""
    return names(field.name for field in listed)


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def expression(node: Expression) -> str:
    """Return an expression, each operation inside another in parentheses."""
    match node:
        case Number(value=value):
            # By way of a decimal: AWS documents no exponents.
            written = format(Decimal(repr(value).removesuffix(".0")), "f")
        case Text(value=value):
            written = quoted(value)
        case Regex(pattern=pattern):
            written = f"/{pattern}/"
        case Period(amount=amount, unit=unit):
            written = f"{amount}{unit}"
        case Field():
            written = name(node.name)
        case Call(function="count", arguments=()):
            written = "count(*)"
        case Subquery(commands=commands):
            written = f"({' | '.join(map(str, commands))})"
        case Call():
            written = f"{node.function}({', '.join(map(expression, node.arguments))})"
        case Operation():
            written = _operation(node)
        case _:
            raise AssertionError(f"{node} stands in no query")
    return written


def items(written: Iterable[Item]) -> str:
    """Return expressions and their names; one without an alias stays as it was written."""
    return ", ".join(
        f"{expression(item.expression)} as {name(item.name)}" if item.aliased else item.span.text
        for item in written
    )


def sort_keys(keys: Iterable[SortKey]) -> str:
    """Return what is sorted by."""
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
    written = expression(node)
    return f"({written})" if isinstance(node, Operation) else written
