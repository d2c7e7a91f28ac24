"""Commands that look at earlier rows: ``accum``, ``autoregress`` and ``filldown``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.lexer import Kind
from cwli.insights.names import Names
from cwli.insights.plan import Definition, Order, ordering
from cwli.insights.sql import Writer
from cwli.insights.syntax import Command, Field, QueryError, Span
from cwli.insights.values import Value, finite, number

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
        names.step(WindowColumns({column: ("sum", source, 0)}, names.order))

    def __str__(self) -> str:
        return f"accum {printing.name(self.field.name)} as {printing.name(self.name)}"


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
        names.step(WindowColumns(earlier, names.order))

    def __str__(self) -> str:
        alias = f" as {printing.name(self.alias)}" if self.alias else ""
        return f"autoregress {printing.name(self.field.name)}{alias} p={self.first}-{self.last}"


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
        names.step(WindowColumns(values, names.order))

    def __str__(self) -> str:
        patterns = (
            "*".join(printing.name(part) if part else "" for part in pattern.split("*"))
            for pattern in self.patterns
        )
        return " ".join(("filldown", *patterns))


def _fits(name: str, pattern: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


@dataclass(frozen=True)
class WindowColumns(Definition):
    """A step that adds columns, each a function of one column in the rows up to this one.

    The functions are ``sum``, ``lag`` by a number of rows, and ``last_value`` of those present.
    """

    per_event = False

    columns: Mapping[str, tuple[str, str, int]]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """The source columns and the columns of the sort order."""
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
