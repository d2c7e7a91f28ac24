"""Commands that compare a row with earlier rows, or with all rows.

``accum``, ``autoregress``, ``filldown``, ``sessionize`` and ``outlier``.

Source: AWS documentation, CloudWatch Logs Insights query syntax: sessionize, outlier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import Definition, Keep, Order, Step, ordering
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Operation,
    Period,
    QueryError,
    Span,
)
from cwli.insights.times import milliseconds
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, finite, literal, number, time

# The most rows that autoregress looks back; AWS documents no limit.
MOST_LAGS = 50


@dataclass(frozen=True)
class Accum(Command):
    """``accum bytes as total``: the sum of a field from the first row to each row."""

    field: Field
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Accum:
        """Read the arguments of ``accum``."""
        field = reader.field()
        return cls(reader.since(start), field, reader.alias() or field.name)

    def resolve(self, names: Names) -> None:
        """Add the sums."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.name])
        names.step(_WindowColumns({column: ("sum", source, 0)}, names.order))


@dataclass(frozen=True)
class Autoregress(Command):
    """``autoregress bytes p=1-4``: the values of a field in earlier rows, as ``bytes_p1`` …"""

    field: Field
    alias: str | None
    first: int
    last: int

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Autoregress:
        """Read the arguments of ``autoregress``."""
        field = reader.field()
        alias = reader.alias()
        first = last = 1
        if reader.take_word("p"):
            reader.need("=", "'='")
            rows = f"a number of rows from 1 to {MOST_LAGS}"
            first = last = reader.whole_number(rows)
            if reader.take("-"):
                last = reader.whole_number(rows)
        if not 1 <= first <= last <= MOST_LAGS:
            raise QueryError(
                f"p takes a number or a range such as 1-4, from 1 to {MOST_LAGS}", field.span
            )
        return cls(reader.since(start), field, alias, first, last)

    def resolve(self, names: Names) -> None:
        """Add the earlier values."""
        source = names.column(self.field)
        lags = range(self.first, self.last + 1)
        stem = self.alias or self.field.name
        single = self.alias is not None and len(lags) == 1
        columns = names.define_captures([stem] if single else [f"{stem}_p{lag}" for lag in lags])
        earlier = {column: ("lag", source, lag) for column, lag in zip(columns, lags, strict=True)}
        names.step(_WindowColumns(earlier, names.order))


@dataclass(frozen=True)
class Filldown(Command):
    """``filldown a b*``: the last value of earlier rows in place of missing values."""

    patterns: tuple[str, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Filldown:
        """Read the arguments of ``filldown``: names, with * for any part; by default all."""
        patterns: list[str] = []
        end = -1
        while reader.token.kind is Kind.NAME or reader.at("*"):
            part = reader.advance()
            if patterns and part.span.start == end:
                patterns[-1] += part.value
            else:
                patterns.append(part.value)
            end = part.span.end
            reader.take(",")
        return cls(reader.since(start), tuple(patterns))

    def resolve(self, names: Names) -> None:
        """Fill the fields of the result so far."""
        shown = [
            name
            for name in names.plan().outputs
            if not self.patterns or any(_fits(name, each) for each in self.patterns)
        ]
        shown = [name for name in shown if name != "@ptr"]
        if not shown:
            raise QueryError("filldown finds none of these fields in the result so far", self.span)
        sources = [names.scope.fields[name] for name in shown]
        columns = names.define_captures(shown)
        values = {
            column: ("last_value", source, 0)
            for column, source in zip(columns, sources, strict=True)
        }
        names.step(_WindowColumns(values, names.order))


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


@dataclass(frozen=True)
class _WindowColumns(Definition):
    """A step that adds columns, each a function of one column in the rows up to this one.

    The functions are ``sum``, ``lag`` by a number of rows, and ``last_value`` of those present.
    """

    per_event = False

    columns: Mapping[str, tuple[str, str, int]]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(source for _, source, _ in self.columns.values()) | ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write window functions."""
        window = f"({writer.order_by(self.order)} ROWS UNBOUNDED PRECEDING)"
        values = {}
        for column, (function, source, rows) in self.columns.items():
            value = writer.value(source)
            match function:
                case "sum":
                    values[column] = finite(f"sum({number(value)}) OVER {window}")
                case "lag":
                    values[column] = Value(f"lag({value}, {rows}) OVER {window}", value.type)
                case _:
                    last = f"last_value({value} IGNORE NULLS) OVER {window}"
                    values[column] = Value(last, value.type)
        writer.define(kept, values)


@dataclass(frozen=True)
class Sessionize(Command):
    """``sessionize user, device maxspan 1h as visit``: number the sessions, the earliest first."""

    fields: tuple[Field, ...]
    pause: Period
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Sessionize:
        """Read the arguments of ``sessionize``."""
        fields = reader.list_of(reader.field)
        pause = reader.period() if reader.take_word("maxspan") else Period(start, 30, "m")
        if milliseconds(pause) is None:
            raise QueryError("maxspan takes days or shorter", pause.span)
        return cls(reader.since(start), fields, pause, reader.alias() or "session_id")

    def resolve(self, names: Names) -> None:
        """Add the session numbers."""
        if "@timestamp" not in names.scope.fields:
            raise QueryError(
                "sessionize needs @timestamp, which is not a result of stats", self.span
            )
        keys = tuple(names.column(field) for field in self.fields)
        when = names.column(Field(self.span, "@timestamp"))
        (column,) = names.define_captures([self.name])
        pause = milliseconds(self.pause) or 0
        names.step(_Sessions(column, keys, when, pause, ((when, False), *names.order)))


@dataclass(frozen=True)
class _Sessions(Step):
    """A step that numbers sessions: rows with equal ``keys``, at most ``pause`` [ms] apart."""

    column: str
    keys: tuple[str, ...]
    time: str
    pause: int
    order: Order

    selects = 3  # one for the first rows of sessions, one for their numbers, one for all rows

    @property
    def defines(self) -> frozenset[str]:
        return frozenset({self.column})

    @property
    def reads(self) -> frozenset[str]:
        return frozenset((*self.keys, self.time)) | ordering(self.order)

    def narrow(self, live: frozenset[str]) -> Step | None:
        """Return the step, None if no later step needs the number."""
        return self if self.column in live else None

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write window functions, first over the rows of the same keys, then over all rows."""
        start, start_number = writer.temporary(), writer.temporary()
        needed = kept | self.reads
        when = time(writer.value(self.time))
        same = f"(PARTITION BY {', '.join(self.keys)}{writer.order_by(self.order)})"
        pause = f"{when} - lag({when}) OVER {same} > {self.pause}"
        is_start = f"coalesce({pause}, {when} IS NOT NULL)"
        writer.define(needed, {start: Value(is_start, Type.BOOLEAN)})
        count = f"count(*) FILTER (WHERE {start}) OVER ({writer.order_by(self.order)})"
        first = f"CASE WHEN {start} THEN CAST({count} AS DOUBLE) END"
        writer.define(needed, {start_number: Value(first, Type.NUMBER)})
        latest = f"last_value({start_number} IGNORE NULLS) OVER {same}"
        last = f"CASE WHEN {when} IS NOT NULL THEN {latest} END"
        writer.define(kept, {self.column: Value(last, Type.NUMBER)})


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
        names.step(_Fences({**highs, **lows}, self.factor))
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
class _Fences(Definition):
    """A step that adds the bounds of columns, over the numbers of all rows.

    ``columns`` gives each bound its source column, and true for an upper bound.
    """

    per_event = False

    columns: Mapping[str, tuple[str, bool]]
    factor: float

    selects = 2  # one for the numbers, one for the bounds

    @property
    def reads(self) -> frozenset[str]:
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
    """Return the value of the column, or the bound if the value lies beyond it."""
    value: Expression = Column(span, source)
    for fence, (column, upper) in fences.items():
        if column == source:
            bound = Column(span, fence)
            value = Call(span, (_beyond(span, fence, source, upper), bound, value), "if")
    return value
