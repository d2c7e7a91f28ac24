"""Command ``json``: a field from the JSON in another field.

Source: AWS documentation, CloudWatch Logs Insights query syntax: parse (JSON field extraction).
"""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.plan import Extend
from cwli.insights.syntax import Attribute, Command, Field, Span, Text


@dataclass(frozen=True)
class JsonField(Command):
    """``json field=payload "user.name" as name``."""

    field: Field
    path: Text
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> JsonField:
        """Read the arguments of ``json``."""
        reader.need_word("field")
        reader.need("=", "'='")
        field = reader.field()
        path = reader.text()
        reader.need_word("as")
        name = reader.name().value
        return cls(reader.since(start), field, path, name)

    def resolve(self, names: Names) -> None:
        """Add the field."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.name])
        names.step(Extend({column: Attribute(self.path.span, source, self.path.value)}))

    def __str__(self) -> str:
        field, name = printing.name(self.field.name), printing.name(self.name)
        return f"json field={field} {printing.quoted(self.path.value)} as {name}"
