"""Scopes: the names that an expression may use, and what each of them stands for.

A name is, in this order, a field that the query made, a field of every event, an attribute of a
map that the query made, or a field discovered in the message. After ``stats`` only its results
have names (AWS documentation, CloudWatch Logs Insights query syntax: stats).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from cwli.insights.foreign import nearest, suggestion
from cwli.insights.functions import FUNCTIONS
from cwli.insights.plan import SYSTEM_FIELDS
from cwli.insights.syntax import (
    Attribute,
    Call,
    Column,
    Expression,
    Field,
    Missing,
    QueryError,
    Span,
)


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
