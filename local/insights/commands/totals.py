"""``addtotals``: the sum of the fields of each row.

Source: AWS documentation, CloudWatch Logs Insights query syntax: addtotals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.lexer import Kind
from local.insights.names import Names
from local.insights.plan import Definition
from local.insights.sql import Writer
from local.insights.syntax import Command, Field, QueryError, Span
from local.insights.values import Type, finite, number


@dataclass(frozen=True)
class AddTotals(Command):
    """``addtotals fieldname=total price, tax``: of all fields of the result so far if none."""

    name: str
    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> AddTotals:
        """Read what follows the word ``addtotals``: options, then fields."""
        name = "Total"
        fields: list[Field] = []
        while reader.token.kind is Kind.NAME:
            word = reader.field()
            if fields or not reader.take("="):
                fields.append(word)
                reader.take(",")
                continue
            value = reader.name()
            match word.name.lower(), value.value.lower():
                case "fieldname", _:
                    name = value.value
                case ("row", "true") | ("col", "false"):
                    pass
                case _:
                    written = f"{word.name}={value.value}"
                    raise QueryError(
                        f"{written} is not supported; supported: fieldname=…, row=true, col=false",
                        word.span.to(value.span),
                    )
        return cls(reader.since(start), name, tuple(fields))

    def resolve(self, names: Names) -> None:
        """Add the sum."""
        if self.fields:
            sources = [names.column(field) for field in self.fields]
        else:
            shown = names.plan().outputs
            sources = [column for name, column in shown.items() if not name.startswith("@")]
        if not sources:
            raise QueryError("addtotals finds no fields in the result so far", self.span)
        (column,) = names.define_captures([self.name])
        names.step(RowTotal({column: tuple(sources)}))

    def __str__(self) -> str:
        named = f"addtotals fieldname={printing.name(self.name)}"
        listed = printing.names(field.name for field in self.fields)
        return f"{named} {listed}" if listed else named


@dataclass(frozen=True)
class RowTotal(Definition):
    """Add a column that is the sum of others, of those that are numbers."""

    columns: Mapping[str, tuple[str, ...]]

    @property
    def reads(self) -> frozenset[str]:
        """What is summed."""
        return frozenset(source for sources in self.columns.values() for source in sources)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write the sum of a list; null if none of it is a number."""
        totals = {}
        for column, sources in self.columns.items():
            values = [writer.value(source) for source in sources]
            summed = [str(number(each)) for each in values if each.type is not Type.TIME]
            totals[column] = finite(f"list_sum([{', '.join((*summed, 'NULL::DOUBLE'))}])")
        writer.define(kept, totals)
