"""``outlier``: numbers far from the middle half of all.

Source: AWS documentation, CloudWatch Logs Insights query syntax: outlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.lexer import Kind
from local.insights.names import Names
from local.insights.plan import Definition, Keep
from local.insights.sql import Writer
from local.insights.syntax import Column, Command, Field, Number, Operation, Span
from local.insights.values import Type, Value, number, text

_MARK = "outlier"


@dataclass(frozen=True)
class Outlier(Command):
    """``outlier action=remove param=3 uselower=true mark=true a b``.

    A number is an outlier above the third quartile by more than ``factor`` interquartile ranges,
    and with ``lower`` also below the first by as much.
    """

    remove: bool
    factor: float
    lower: bool
    mark: bool
    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Outlier:
        """Read what follows the word ``outlier``: options, then fields."""
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
        """Find the bounds, and remove the rows beyond them or take the bounds instead."""
        sources = [names.column(field) for field in self.fields]
        beyond = [names.new_column() for _ in sources]
        clamped = [names.new_column() for _ in sources]
        names.step(
            Fences(
                {
                    **{name: (each, True) for name, each in zip(beyond, sources, strict=True)},
                    **{name: (each, False) for name, each in zip(clamped, sources, strict=True)},
                },
                self.factor,
                self.lower,
            )
        )
        any_beyond = Operation(self.span, tuple(Column(self.span, each) for each in beyond), "or")
        if self.remove:
            names.step(Keep(Operation(self.span, (any_beyond,), "not")))
        else:
            for field, column in zip(self.fields, clamped, strict=True):
                names.define(field.name, column)
        if self.mark:
            names.define(_MARK, names.column(any_beyond))
            names.show([_MARK])

    def __str__(self) -> str:
        factor = printing.expression(Number(self.span, self.factor))
        flags = f"uselower={str(self.lower).lower()} mark={str(self.mark).lower()}"
        action = "remove" if self.remove else "transform"
        listed = " ".join(printing.name(field.name) for field in self.fields)
        return f"outlier action={action} param={factor} {flags} {listed}"


@dataclass(frozen=True)
class Fences(Definition):
    """Add columns that hold, of another, whether it lies beyond its bounds, or it within them.

    What is no number is within any bounds, and stays as it is.
    """

    per_event = False

    columns: Mapping[str, tuple[str, bool]]
    factor: float
    lower: bool

    @property
    def selects(self) -> int:
        """One for the numbers, one for the bounds, one for the columns."""
        return 3

    @property
    def reads(self) -> frozenset[str]:
        """What is bounded."""
        return frozenset(source for source, _ in self.columns.values())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Take the quartiles of all rows, then compare each row with them."""
        sources = sorted(self.reads)
        numbers = {source: writer.temporary() for source in sources}
        held = kept | self.reads
        writer.define(held, {numbers[each]: number(writer.value(each)) for each in sources})
        rows = writer.materialized()
        bounds = {source: (writer.temporary(), writer.temporary()) for source in sources}
        values = {}
        for source, (low, high) in bounds.items():
            first, third = (
                f"(SELECT quantile_cont({numbers[source]}, {part}) FROM {rows})"  # noqa: S608
                for part in (0.25, 0.75)
            )
            reach = f"{self.factor!r}e0 * ({third} - {first})"
            values[low] = Value(f"{first} - {reach}" if self.lower else "NULL", Type.NUMBER)
            values[high] = Value(f"{third} + {reach}", Type.NUMBER)
        writer.define(held | frozenset(numbers.values()), values)
        writer.define(
            kept,
            {
                column: _beyond(numbers[source], *bounds[source])
                if whether
                else _within(writer.value(source), numbers[source], *bounds[source])
                for column, (source, whether) in self.columns.items()
            },
        )


def _beyond(given: str, low: str, high: str) -> Value:
    return Value(
        f"coalesce({given} > {high}, FALSE) OR coalesce({given} < {low}, FALSE)", Type.BOOLEAN
    )


def _within(value: Value, given: str, low: str, high: str) -> Value:
    shown, bounds = value, [Value(each, Type.NUMBER) for each in (low, high)]
    if value.type is not Type.NUMBER:
        shown, bounds = text(value), [text(each) for each in bounds]
    return Value(
        f"CASE WHEN {given} > {high} THEN {bounds[1]} WHEN {given} < {low} THEN {bounds[0]} "
        f"ELSE {shown} END",
        shown.type,
    )
