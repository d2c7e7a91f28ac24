"""Command ``outlier``: numbers far from the middle half of all numbers.

Source: AWS documentation, CloudWatch Logs Insights query syntax: outlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.lexer import Kind
from cwli.insights.names import Names
from cwli.insights.plan import Definition, Keep
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Number,
    Operation,
    Span,
)
from cwli.insights.values import finite, literal, number

_MARK = "outlier"


@dataclass(frozen=True)
class Outlier(Command):
    """``outlier action=remove param=3 uselower=true mark=true a b``.

    A number is an outlier if it is more than ``factor`` interquartile ranges above the third
    quartile, and with ``lower`` also as far below the first.
    """

    remove: bool
    factor: float
    lower: bool
    mark: bool
    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Outlier:
        """Read the arguments of ``outlier``: options, then fields."""
        options = reader.options(
            {
                "action": lambda: reader.one_of("remove", "transform"),
                "param": lambda: reader.number().value,
                "uselower": reader.flag,
                "mark": reader.flag,
            }
        )
        fields = [reader.field()]
        while reader.take(",") or reader.token.kind is Kind.NAME:
            fields.append(reader.field())
        return cls(
            reader.since(start),
            options.get("action") == "remove",
            options.get("param", 2.5),
            options.get("uselower", False),
            options.get("mark", False),
            tuple(fields),
        )

    def resolve(self, names: Names) -> None:
        """Compute the bounds, and remove the rows beyond them or replace numbers by the bounds."""
        sources = [names.column(field) for field in self.fields]
        highs = {names.new_column(): (source, True) for source in sources}
        lows = {names.new_column(): (source, False) for source in sources if self.lower}
        names.step(Fences({**highs, **lows}, self.factor))
        beyond = [_beyond(self.span, fence, *side) for fence, side in (highs | lows).items()]
        is_outlier = Operation(self.span, tuple(beyond), "or")
        if self.mark:
            names.define(_MARK, names.column(is_outlier))
            names.selection.show([_MARK])
        if self.remove:
            names.step(Keep(Operation(self.span, (is_outlier,), "not")))
            return
        for field, source in zip(self.fields, sources, strict=True):
            names.define(field.name, names.column(_within(self.span, source, highs | lows)))

    def __str__(self) -> str:
        factor = printing.expression(Number(self.span, self.factor))
        flags = f"uselower={str(self.lower).lower()} mark={str(self.mark).lower()}"
        action = "remove" if self.remove else "transform"
        fields = " ".join(printing.name(field.name) for field in self.fields)
        return f"outlier action={action} param={factor} {flags} {fields}"


@dataclass(frozen=True)
class Fences(Definition):
    """A step that adds the bounds of columns, over the numbers of all rows.

    ``columns`` gives each bound its source column, and true for an upper bound.
    """

    per_event = False

    columns: Mapping[str, tuple[str, bool]]
    factor: float

    @property
    def selects(self) -> int:
        """One select for the numbers, one for the bounds."""
        return 2

    @property
    def reads(self) -> frozenset[str]:
        """The source columns."""
        return frozenset(source for source, _ in self.columns.values())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write the quartiles of all rows, and the bounds."""
        numbers = {source: writer.temporary() for source in sorted(self.reads)}
        writer.define(
            kept, {column: number(writer.value(source)) for source, column in numbers.items()}
        )
        rows = writer.materialize()
        fences = {}
        for column, (source, upper) in self.columns.items():
            first, third = (
                f"(SELECT quantile_cont({numbers[source]}, {part}) FROM {rows})"  # noqa: S608
                for part in (0.25, 0.75)
            )
            reach = f"{literal(self.factor)} * ({third} - {first})"
            fence = f"{third} + {reach}" if upper else f"{first} - {reach}"
            fences[column] = finite(fence)
        writer.define(kept, fences)


def _beyond(span: Span, fence: str, source: str, upper: bool) -> Expression:
    value = Column(span, source)
    far = Operation(span, (value, Column(span, fence)), ">" if upper else "<")
    return Operation(span, (Call(span, (value,), "isnumeric"), far), "and")


def _within(span: Span, source: str, fences: Mapping[str, tuple[str, bool]]) -> Expression:
    """Return the column, with the bound in place of values beyond it."""
    value: Expression = Column(span, source)
    for fence, (column, upper) in fences.items():
        if column == source:
            bound = Column(span, fence)
            value = Call(span, (_beyond(span, fence, source, upper), bound, value), "if")
    return value
