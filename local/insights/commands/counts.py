"""``countFrequent`` and ``fillmissing``: rows of counts, and those that counting left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local.insights import printing
from local.insights.commands.stats import Aggregate
from local.insights.expressions import Reader
from local.insights.names import Names
from local.insights.periods import milliseconds
from local.insights.plan import Step
from local.insights.sql import Writer
from local.insights.syntax import Call, Command, Field, Number, QueryError, Span, Text
from local.insights.values import Type, literal, number, text


@dataclass(frozen=True)
class CountFrequent(Command):
    """``countFrequent a, b``: how often each combination occurs, most frequent first.

    AWS counts approximately, this exactly.
    """

    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> CountFrequent:
        """Read what follows the word ``countFrequent``."""
        fields = reader.listed(reader.field)
        return cls(reader.since(start), fields)

    def resolve(self, names: Names) -> None:
        """Count."""
        keys = {field.name: names.column(field) for field in self.fields}
        counted = names.new_column()
        names.step(Aggregate(tuple(keys.values()), {counted: Call(self.span, (), "count")}))
        order = tuple((key, False) for key in keys.values())
        names.begin_results({**keys, "_approxcount": counted}, order)
        names.sort(((counted, True),))

    def __str__(self) -> str:
        return f"countFrequent {printing.fields(self.fields)}"


@dataclass(frozen=True)
class Fillmissing(Command):
    """``fillmissing with 0 for n, 'none' for m``: a row for each bin that ``stats`` left out."""

    filled: tuple[tuple[Number | Text, str], ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Fillmissing:
        """Read what follows the word ``fillmissing``."""

        def pair() -> tuple[Number | Text, str]:
            value = reader.constant()
            reader.need_word("for")
            return value, reader.name().value

        filled = reader.listed(pair) if reader.take_word("with") else ()
        return cls(reader.since(start), filled)

    def resolve(self, names: Names) -> None:
        """Add the rows."""
        if names.bins is None:
            raise QueryError("fillmissing follows stats with one key, by bin(…)", self.span)
        key, period = names.bins
        length = milliseconds(period)
        if length is None:
            raise QueryError("fillmissing takes bins of days or shorter", period.span)
        fields = names.scope.fields
        for _, name in self.filled:
            if name not in fields:
                raise QueryError(f"{name!r} is no result of stats: {', '.join(fields)}", self.span)
        filled = {fields[name]: value for value, name in self.filled}
        names.step(EveryBin(key, length, filled))

    def __str__(self) -> str:
        pairs = (
            f"{printing.expression(value)} for {printing.name(name)}" for value, name in self.filled
        )
        return f"fillmissing with {', '.join(pairs)}" if self.filled else "fillmissing"


@dataclass(frozen=True)
class EveryBin(Step):
    """Add rows so that ``key`` goes from its first to its last value by ``period`` [ms].

    What ``filled`` says is in the rows that are added; the other columns are missing in them.
    """

    key: str
    period: int
    filled: Mapping[str, Number | Text]

    @property
    def reads(self) -> frozenset[str]:
        """The key."""
        return frozenset({self.key})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a union with the bins that are not there."""
        source = writer.materialized()
        first, last = (f"(SELECT {end}({self.key}) FROM {source})" for end in ("min", "max"))  # noqa: S608
        bins = f"SELECT unnest(generate_series({first}, {last}, {self.period})) AS {self.key}"
        columns = ", ".join(self._added(writer, column) for column in sorted(kept)) or "TRUE"
        there = f"SELECT {self.key} FROM {source} WHERE {self.key} IS NOT NULL"  # noqa: S608
        missing = f"SELECT {columns} FROM ({bins}) WHERE {self.key} NOT IN ({there})"  # noqa: S608
        writer.define(kept, {}, f"UNION ALL {missing}")

    def _added(self, writer: Writer, column: str) -> str:
        constant = self.filled.get(column)
        if constant is None:
            return column if column == self.key else "NULL"
        value = literal(constant.value)
        number_wanted = writer.value(column).type is Type.NUMBER
        return str(number(value) if number_wanted else text(value))
