"""Commands ``filter``, and ``filterIndex`` and ``unmask``, which do more on AWS only."""

from __future__ import annotations

from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.names import Names
from local.insights.plan import Keep
from local.insights.syntax import (
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
        """Add the filter."""
        names.step(Keep(names.resolve(self.condition)))

    def __str__(self) -> str:
        return f"filter {printing.expression(self.condition)}"


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
        names.show((field.name for field in self.fields), alone=True)

    def __str__(self) -> str:
        return f"unmask {printing.fields(self.fields)}"
