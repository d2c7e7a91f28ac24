"""``filter``, and those that only AWS does more for: ``filterIndex`` and ``unmask``."""

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
        """Read what follows the word ``filter``."""
        condition = reader.expression()
        return cls(reader.since(start), condition)

    def resolve(self, names: Names) -> None:
        """Keep rows."""
        names.step(Keep(names.resolved(self.condition)))

    def __str__(self) -> str:
        return f"filter {printing.expression(self.condition)}"


@dataclass(frozen=True)
class FilterIndex(Filter):
    """``filterIndex a = 1`` or ``a in [1, 2]``: a filter that AWS looks up in an index."""

    @classmethod
    def read(cls, reader: Reader, start: Span) -> FilterIndex:
        """Read what follows the word ``filterIndex``."""
        condition = reader.expression()
        indexed = isinstance(condition, Operation) and condition.operator in ("=", "in")
        if not indexed:
            raise QueryError(
                "filterIndex takes a field and = or in, as an index finds no other", condition.span
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
        """Read what follows the word ``unmask``."""
        fields = reader.listed(reader.field)
        return cls(reader.since(start), fields)

    def resolve(self, names: Names) -> None:
        """Show the fields, as ``fields`` does."""
        for field in self.fields:
            names.define(field.name, names.column(field))
        names.show((field.name for field in self.fields), alone=True)

    def __str__(self) -> str:
        return f"unmask {printing.fields(self.fields)}"
