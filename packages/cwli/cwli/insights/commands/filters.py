"""Commands ``filter``, and ``filterIndex`` and ``unmask``, which do more on AWS only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader, source_name
from cwli.insights.names import Names
from cwli.insights.plan import Keep
from cwli.insights.syntax import (
    Call,
    Command,
    Expression,
    Field,
    Operation,
    QueryError,
    Span,
)


@dataclass(frozen=True)
class Filter(Command):
    """``filter a = 1``: keep the rows for which a condition holds."""

    condition: Expression

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Filter:
        """Read the arguments of ``filter``."""
        condition = reader.expression()
        return cls(reader.since(start), condition)

    def resolve(self, names: Names) -> None:
        """Add the filter, and after stats its conditions on the grouped rows before the stats."""
        for condition in _conditions(self.condition):
            _keep(condition, names)

    def __str__(self) -> str:
        return f"filter {printing.expression(self.condition)}"


def _conditions(expression: Expression) -> tuple[Expression, ...]:
    """Return the conditions that must all hold."""
    if isinstance(expression, Operation) and expression.operator == "and":
        return tuple(part for each in expression.arguments for part in _conditions(each))
    return (expression,)


def _keep(condition: Expression, names: Names) -> None:
    """Add a filter; one on fields that stats does not return filters the rows before it.

    AWS's sample queries for Container Insights filter by the type of the event after stats.
    """
    fields = list(_fields(condition, names))
    missing = [field for field in fields if names.lacks(field)]
    if not missing:
        names.step(Keep(names.resolve(condition)))
        return
    field, hint = missing[0], names.scope.hint(missing[0])
    if len(missing) < len(fields):
        raise QueryError(
            f"{field.name!r} is not a result of stats, but other fields of this condition are; "
            f"filter by it before stats; {hint}",
            field.span,
        )
    names.warn(
        field.span,
        f"{field.name!r} is not a result of stats, so this filter works before stats; {hint}",
    )
    with names.rows_of_stats():
        _keep(condition, names)


def _fields(expression: Expression, names: Names) -> Iterator[Field]:
    """Yield the fields of an expression; a result of stats without an alias is one, too."""
    if isinstance(expression, Field):
        yield expression
    elif source_name(expression) in names.scope.fields:
        yield Field(expression.span, source_name(expression))
    elif isinstance(expression, Call | Operation):
        for argument in expression.arguments:
            yield from _fields(argument, names)


@dataclass(frozen=True)
class FilterIndex(Filter):
    """``filterIndex a = 1`` or ``a in [1, 2]``: a filter for which AWS uses an index."""

    @classmethod
    def read(cls, reader: Reader, start: Span) -> FilterIndex:
        """Read the arguments of ``filterIndex``."""
        condition = reader.expression()
        indexed = isinstance(condition, Operation) and condition.operator in ("=", "in")
        if not indexed:
            raise QueryError(
                "filterIndex takes a field with = or in; an index finds nothing else",
                condition.span,
            )
        return cls(reader.since(start), condition)

    def __str__(self) -> str:
        return f"filterIndex {printing.expression(self.condition)}"


@dataclass(frozen=True)
class Unmask(Command):
    """``unmask a``: show masked data. Nothing is masked on one machine."""

    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Unmask:
        """Read the arguments of ``unmask``."""
        fields = reader.list_of(reader.field)
        return cls(reader.since(start), fields)

    def resolve(self, names: Names) -> None:
        """Show the fields, as ``fields`` does."""
        for field in self.fields:
            names.define(field.name, names.column(field))
        names.selection.show((field.name for field in self.fields), alone=True)

    def __str__(self) -> str:
        return f"unmask {printing.fields(self.fields)}"
