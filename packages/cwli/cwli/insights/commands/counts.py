"""Commands that compare rows with all others: ``countFrequent``, ``fillmissing``, ``outlier``.

Source: AWS documentation, CloudWatch Logs Insights query syntax: outlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights.commands.stats import Aggregate
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.plan import Definition, Keep, Step
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Number,
    Operation,
    QueryError,
    Span,
    Text,
)
from cwli.insights.times import milliseconds
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, finite, literal, number, text


@dataclass(frozen=True)
class CountFrequent(Command):
    """``countFrequent a, b``: the count of each combination, most frequent first.

    AWS counts approximately, this command exactly.
    """

    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> CountFrequent:
        """Read the arguments of ``countFrequent``."""
        fields = reader.list_of(reader.field)
        return cls(reader.since(start), fields)

    def resolve(self, names: Names) -> None:
        """Replace the rows by the counts."""
        keys = {field.name: names.column(field) for field in self.fields}
        count = names.new_column()
        names.step(Aggregate(tuple(keys.values()), {count: Call(self.span, (), "count")}))
        order = tuple((key, False) for key in keys.values())
        names.begin_results({**keys, "_approxcount": count}, order)
        names.sort(((count, True),))


@dataclass(frozen=True)
class Fillmissing(Command):
    """``fillmissing with 0 for n, 'none' for m``: a row for each bin without events."""

    filled: tuple[tuple[Number | Text, str], ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Fillmissing:
        """Read the arguments of ``fillmissing``."""

        def pair() -> tuple[Number | Text, str]:
            value = reader.constant()
            reader.need_word("for")
            return value, reader.name().value

        filled = reader.list_of(pair) if reader.take_word("with") else ()
        return cls(reader.since(start), filled)

    def resolve(self, names: Names) -> None:
        """Add the rows."""
        if names.bins is None:
            raise QueryError(
                "fillmissing must follow stats … by bin(…), without another key", self.span
            )
        key, period = names.bins
        length = milliseconds(period)
        if length is None:
            raise QueryError("fillmissing needs bins of days or shorter", period.span)
        fields = names.scope.fields
        for _, name in self.filled:
            if name not in fields:
                raise QueryError(
                    f"{name!r} is not a result of stats; the results are {', '.join(fields)}",
                    self.span,
                )
        filled = {fields[name]: value for value, name in self.filled}
        names.step(EveryBin(key, length, filled))


@dataclass(frozen=True)
class EveryBin(Step):
    """A step that adds rows until ``key`` has a value every ``period`` [ms] from first to last.

    The new rows hold the values of ``filled``; their other columns are missing.
    """

    key: str
    period: int
    filled: Mapping[str, Number | Text]

    @property
    def reads(self) -> frozenset[str]:
        """The column of the key."""
        return frozenset({self.key})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a union with the missing bins."""
        source = writer.materialize()
        first, last = (f"(SELECT {end}({self.key}) FROM {source})" for end in ("min", "max"))  # noqa: S608
        bins = f"SELECT unnest(generate_series({first}, {last}, {self.period})) AS {self.key}"
        columns = ", ".join(self._value(writer, column) for column in sorted(kept)) or "TRUE"
        present = f"SELECT {self.key} FROM {source} WHERE {self.key} IS NOT NULL"  # noqa: S608
        missing = f"SELECT {columns} FROM ({bins}) WHERE {self.key} NOT IN ({present})"  # noqa: S608
        writer.define(kept, {}, f"UNION ALL {missing}")

    def _value(self, writer: Writer, column: str) -> str:
        constant = self.filled.get(column)
        if constant is None:
            return column if column == self.key else "NULL"
        value = literal(constant.value)
        is_number = writer.value(column).type is Type.NUMBER
        return str(number(value) if is_number else text(value))


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
