"""Scopes: the names that an expression may use, and the column of each.

A name is, in this order, a field that the query defined, a field of every event, an attribute of a
map that the query defined, or a field discovered in the message. After ``stats`` only its results
have names (AWS documentation, CloudWatch Logs Insights query syntax: stats).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from cwli.insights.functions import FUNCTIONS, Function
from cwli.insights.hints import nearest, suggestion
from cwli.insights.plan import SYSTEM_FIELDS
from cwli.insights.syntax import (
    Attribute,
    Call,
    Column,
    Expression,
    Field,
    Missing,
    Number,
    QueryError,
    Regex,
    Span,
    Text,
)
from cwli.insights.values import Type


class Scope:
    """The fields that an expression may use, and their columns."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields

    def find(self, field: Field) -> Expression:
        """Return the expression that a field name stands for.

        Raises
        ------
        QueryError
            If the name is unknown.
        """
        if column := self.fields.get(field.name):
            return Column(field.span, column)
        for owner, path in splits(field.path or field.name):
            if column := self.structure(owner.replace("`", "")):
                return Attribute(field.span, column, path)
        return self.unknown(field)

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that may hold a map or a list, None without one."""
        return self.fields.get(owner)

    def hint(self, field: Field) -> str:
        """Return a question that suggests the nearest field, or else all of them."""
        return (
            suggestion(nearest(field.name, self.fields))
            or f"the results are {', '.join(self.fields)}"
        )

    def unknown(self, field: Field) -> Expression:
        """Refuse a name that is none of these fields; other scopes return an expression."""
        if field.name.lower() in FUNCTIONS:
            raise QueryError(f"a function needs parentheses: {field.name}(…)", field.span)
        raise QueryError(
            f"{field.name!r} is neither a key nor an earlier item of this stats; known: "
            f"{', '.join(self.fields) or 'none'}",
            field.span,
        )


class ResultScope(Scope):
    """The results of stats; any other name is missing in every row."""

    def __init__(self, fields: dict[str, str], warn: Callable[[Span, str], None]) -> None:
        super().__init__(fields)
        self._warn = warn

    def unknown(self, field: Field) -> Expression:
        """Return a missing field, with a warning."""
        self._warn(
            field.span,
            f"{field.name!r} is missing, because stats does not return it; {self.hint(field)}",
        )
        return Missing(field.span)


class EventScope(Scope):
    """The fields of events; any other name may be a field discovered in the message."""

    def __init__(self, discovered: Container[str], discover: Callable[[Field], str]) -> None:
        super().__init__(dict(SYSTEM_FIELDS))
        self._discovered = discovered
        self._discover = discover

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that the query made, None for any other field."""
        computed = owner not in SYSTEM_FIELDS and owner not in self._discovered
        return self.fields.get(owner) if computed else None

    def unknown(self, field: Field) -> Expression:
        """Return a discovered field."""
        return Column(field.span, self._discover(field))


class Group(NamedTuple):
    """The scopes of an item of stats: keys and earlier items, and rows inside an aggregate."""

    scope: Scope
    rows: Scope
    aggregates: dict[str, Call]


def splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield every split of a dotted name into a field and a path, the longest field first."""
    at = name.rfind(".")
    while at > 0:
        yield name[:at], name[at + 1 :]
        at = name.rfind(".", 0, at)


def with_implied(call: Call, function: Function, scope: Scope) -> Call:
    """Return a call with the arguments that its function implies, such as the time of ``bin``.

    Raises
    ------
    QueryError
        If an implied field is no longer a field of the query.
    """
    missing = [name for name in function.implied if name not in scope.fields]
    if missing:
        raise QueryError(
            f"{call.function} needs {missing[0]}, which is not a result of stats", call.span
        )
    implied = (Field(call.span, name) for name in function.implied)
    return replace(call, arguments=(*implied, *call.arguments))


def with_patterns(call: Call, function: Function) -> Call:
    """Return a call with regular expressions in place of texts where the function takes them."""

    def read(place: int, argument: Expression) -> Expression:
        if function.reads_as(place) is not Type.REGEX:
            return argument
        if not isinstance(argument, Text):
            raise QueryError(
                f"{call.function} takes a regular expression in quotes here", argument.span
            )
        return Regex(argument.span, argument.value)

    return replace(call, arguments=tuple(map(read, count(), call.arguments)))


def check_arguments(call: Call, function: Function) -> None:
    """Refuse a call with too few, too many or wrong arguments.

    Raises
    ------
    QueryError
        If the number of arguments is not the function's, or a percentile is not a number.
    """
    fewest, most = function.arity
    number = len(call.arguments)
    if number < fewest or (most is not None and number > most):
        arity = str(fewest) if fewest == most else f"{fewest} to {most or 'any number of'}"
        arguments = "argument" if arity == "1" else "arguments"
        raise QueryError(f"{call.function} takes {arity} {arguments}, not {number}", call.span)
    if function is FUNCTIONS["pct"]:
        percent = call.arguments[1]
        if not isinstance(percent, Number) or not 0 <= percent.value <= 100:
            raise QueryError(
                f"{call.function} takes a number from 0 to 100 after the field", percent.span
            )


class Selection:
    """The fields that commands show, and those that a result has without any."""

    def __init__(self, default: Iterable[str] = (), shown: Iterable[str] = ()) -> None:
        # Names in the order of the result; dictionaries, since a set has no order.
        self._default = dict.fromkeys(default)
        self._shown = dict.fromkeys(shown)
        self._last = dict.fromkeys(shown)
        self._displayed: dict[str, None] = {}

    def show(self, names: Iterable[str], *, alone: bool = False) -> None:
        """Add fields to the result; with ``alone``, remove the default fields from it."""
        shown = dict.fromkeys(names)
        self._shown |= shown
        if alone:
            self._default = {}
            self._last = shown

    def display(self, names: Iterable[str]) -> None:
        """Show only these fields, unless a later command shows others."""
        self._displayed = self._last = dict.fromkeys(names)

    def outputs(self) -> tuple[str, ...]:
        """Return the fields of the result."""
        return tuple(self._displayed or self._default | self._shown)

    def chosen(self) -> tuple[str, ...]:
        """Return the fields that commands show, without the default fields."""
        return tuple(self._displayed or self._shown)

    def last(self) -> list[str]:
        """Return the fields of the last ``fields``, ``display`` or ``stats``."""
        return list(self._last)
