"""Commands ``countFrequent`` and ``fillmissing``: counts of values, and rows for empty bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.commands.stats import Aggregate
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.periods import milliseconds
from cwli.insights.plan import Step
from cwli.insights.sql import Writer
from cwli.insights.syntax import Call, Command, Field, Number, QueryError, Span, Text
from cwli.insights.values import Type, literal, number, text


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

    def __str__(self) -> str:
        return f"countFrequent {printing.fields(self.fields)}"


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

    def __str__(self) -> str:
        pairs = (
            f"{printing.expression(value)} for {printing.name(name)}" for value, name in self.filled
        )
        return f"fillmissing with {', '.join(pairs)}" if self.filled else "fillmissing"


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
