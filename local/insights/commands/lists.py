"""``unnest`` and ``expand``: a row for each element of a list."""

from __future__ import annotations

from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.names import Names
from local.insights.plan import Step
from local.insights.sql import Writer
from local.insights.syntax import Command, Field, Span
from local.insights.values import Type, Value, text


@dataclass(frozen=True)
class Unnest(Command):
    """``unnest list into element``; what is no list is a list of itself."""

    field: Field
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Unnest:
        """Read what follows the word ``unnest``."""
        field = reader.field()
        reader.need_word("into")
        name = reader.name().value
        return cls(reader.since(start), field, name)

    def resolve(self, names: Names) -> None:
        """Make the rows."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.name])
        names.step(Elements(column, source))

    def __str__(self) -> str:
        return f"unnest {printing.name(self.field.name)} into {printing.name(self.name)}"


@dataclass(frozen=True)
class Expand(Command):
    """``expand list``: as ``unnest``, and the element has the list's name."""

    field: Field

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Expand:
        """Read what follows the word ``expand``."""
        field = reader.field()
        return cls(reader.since(start), field)

    def resolve(self, names: Names) -> None:
        """Make the rows."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.field.name])
        names.step(Elements(column, source))

    def __str__(self) -> str:
        return f"expand {printing.name(self.field.name)}"


@dataclass(frozen=True)
class Elements(Step):
    """Make a row of each element of the JSON array in ``source``."""

    column: str
    source: str

    @property
    def defines(self) -> frozenset[str]:
        """The element."""
        return frozenset({self.column})

    @property
    def reads(self) -> frozenset[str]:
        """The list."""
        return frozenset({self.source})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write an unnest."""
        array = text(writer.value(self.source))
        is_array = f"CASE WHEN json_valid({array}) THEN json_type({array}) = 'ARRAY' END"
        elements = (
            f"CASE WHEN {is_array} THEN json_extract_string({array}, '$[*]') ELSE [{array}] END"
        )
        writer.define(kept, {self.column: Value(f"unnest({elements})", Type.TEXT)})
