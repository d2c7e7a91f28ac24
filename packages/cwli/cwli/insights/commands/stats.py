"""Commands that make one row from many, and complete such rows.

``stats``, ``countFrequent``, ``fillmissing``, and ``addtotals``, the sums of rows and of fields.

Source: AWS documentation, CloudWatch Logs Insights query syntax: stats, addtotals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cwli.insights.functions import FUNCTIONS
from cwli.insights.names import Names
from cwli.insights.parser import Reader, check_names
from cwli.insights.plan import Definition, Step, columns_of
from cwli.insights.scopes import Group, Scope
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Item,
    Number,
    Operation,
    Period,
    QueryError,
    Span,
    Text,
)
from cwli.insights.times import cap, milliseconds
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, finite, literal, number, text

# The most stats in a query. AWS documents two (CloudWatch Logs Insights query syntax: stats), and
# announced ten later: a query with more than two gets a warning.
MOST_STATS = 10
_LONG_DOCUMENTED = 2


@dataclass(frozen=True)
class Stats(Command):
    """``stats avg(a), count(*) by b``."""

    items: tuple[Item, ...]
    keys: tuple[Item, ...]
    offset: Period | None = None

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Stats:
        """Read the arguments of ``stats``; ``group by`` is accepted in place of ``by``."""
        if reader.at_word("by", "group"):
            raise reader.expected("an aggregate such as count(*) before the groups")
        items = reader.items("by", "group")
        keys: tuple[Item, ...] = ()
        if reader.take_word("group"):
            reader.need_word("by")
            keys = reader.items()
        elif reader.take_word("by"):
            keys = reader.items()
        check_names((*keys, *items))
        offset = reader.period() if reader.take_word("offset") else None
        return cls(reader.since(start), items, keys, offset)

    def resolve(self, names: Names) -> None:
        """Aggregate the rows, then compute the expressions over aggregates.

        An item may use the keys and the items before it (AWS documentation, CloudWatch Logs
        Insights sample queries).
        """
        self._check(names)
        keys = {item.name: names.column(self._shift(item.expression)) for item in self.keys}
        group = Group(Scope(dict(keys)), names.scope, {})
        derived: list[Step] = []
        for item in self.items:
            value = names.resolve(item.expression, group)
            group.scope.fields[item.name] = names.column_of(value, derived)
        if not group.aggregates:
            raise QueryError("stats takes at least one aggregate, such as count(*)", self.span)
        names.group(_Aggregate(tuple(keys.values()), group.aggregates), *derived)
        names.begin_results(group.scope.fields, tuple((key, False) for key in keys.values()))
        names.bins = self._bins(names, tuple(keys.values()))

    def _shift(self, key: Expression) -> Expression:
        """Return a key, with the offset added if it is bin(…)."""
        if self.offset is None or not _is_bin(key):
            return key
        length = Number(self.offset.span, milliseconds(self.offset) or 0)
        later = Operation(key.span, (key, length), "+")
        return Call(key.span, (later,), "frommillis")

    def _bins(self, names: Names, columns: tuple[str, ...]) -> tuple[str, Period] | None:
        """Return the column and the period of a single key bin(…), None for other keys."""
        match [key.expression for key in self.keys]:
            case [Call(function="bin", arguments=[Period() as period])]:
                return columns[0], cap(period)
        return None

    def _check(self, names: Names) -> None:
        if self.offset and not any(_is_bin(key.expression) for key in self.keys):
            raise QueryError("offset needs stats with a key bin(…)", self.offset.span)
        if self.offset and milliseconds(self.offset) is None:
            raise QueryError("offset takes days or shorter", self.offset.span)
        earlier = names.seen.count("Stats")
        if earlier == MOST_STATS:
            raise QueryError(f"a query has at most {MOST_STATS} stats", self.span)
        if earlier == _LONG_DOCUMENTED:
            names.warn(
                self.span,
                f"the query has more than {_LONG_DOCUMENTED} stats, the number that AWS documents",
            )
        if earlier and {"Sort", "Limit", "Tail"} & set(names.seen):
            # AWS documentation, CloudWatch Logs Insights query syntax: stats.
            raise QueryError("sort and limit are accepted only after the last stats", self.span)


def _is_bin(key: Expression) -> bool:
    return isinstance(key, Call) and key.function == "bin"


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
        names.step(_Aggregate(tuple(keys.values()), {count: Call(self.span, (), "count")}))
        order = tuple((key, False) for key in keys.values())
        names.begin_results({**keys, "_approxcount": count}, order)
        names.sort(((count, True),))


@dataclass(frozen=True)
class _Aggregate(Step):
    """A step that makes one row of all rows with the same ``keys``."""

    keys: tuple[str, ...]
    columns: Mapping[str, Call]

    @property
    def defines(self) -> frozenset[str]:
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(self.keys) | columns_of(*self.columns.values())

    @property
    def numbers(self) -> frozenset[str]:
        """The columns whose numbers are aggregated."""
        return frozenset(
            argument.column
            for call in self.columns.values()
            for place, argument in enumerate(call.arguments)
            if isinstance(argument, Column)
            and FUNCTIONS[call.function].reads_as(place) is Type.NUMBER
        )

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a GROUP BY clause."""
        values = {name: writer.value_of(call) for name, call in self.columns.items()}
        # Without input rows the result is empty, not one row of nulls.
        clause = f"GROUP BY {', '.join(self.keys)}" if self.keys else "HAVING count(*) > 0"
        writer.group(frozenset(self.keys), values, clause)


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
        names.step(_EveryBin(key, length, filled))


@dataclass(frozen=True)
class _EveryBin(Step):
    """A step that adds rows until ``key`` has a value every ``period`` [ms] from first to last.

    The new rows hold the values of ``filled``; their other columns are missing.
    """

    key: str
    period: int
    filled: Mapping[str, Number | Text]

    @property
    def reads(self) -> frozenset[str]:
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


@dataclass(frozen=True)
class AddTotals(Command):
    """``addtotals fieldname=total col=true price, tax``: totals, by default of all fields."""

    name: str
    of_rows: bool
    of_columns: bool
    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> AddTotals:
        """Read the arguments of ``addtotals``: options, then fields."""
        options = reader.options(
            {"fieldname": lambda: reader.name().value, "row": reader.flag, "col": reader.flag}
        )
        rows, columns = options.get("row", True), options.get("col", False)
        if not rows and not columns:
            raise QueryError("addtotals with row=false needs col=true", reader.since(start))
        fields = reader.list_of(reader.field) if reader.token.kind is Kind.NAME else ()
        return cls(reader.since(start), options.get("fieldname", "Total"), rows, columns, fields)

    def resolve(self, names: Names) -> None:
        """Add the row of sums, then the sum of each row."""
        if self.fields:
            terms = {field.name: names.column(field) for field in self.fields}
        else:
            outputs = names.plan().outputs
            terms = {name: column for name, column in outputs.items() if not name.startswith("@")}
        if not terms:
            raise QueryError("addtotals finds no fields in the result so far", self.span)
        if self.of_columns:
            columns = dict(zip(names.define_captures(terms), terms.values(), strict=True))
            terms = dict(zip(terms, columns, strict=True))
            last = names.new_column()
            names.step(_ColumnTotals(columns, last))
            names.put_last(last)
        if self.of_rows:
            (column,) = names.define_captures([self.name])
            names.step(_RowTotal({column: tuple(terms.values())}))


@dataclass(frozen=True)
class _RowTotal(Definition):
    """A step that adds a column with the sum of the numbers in other columns."""

    columns: Mapping[str, tuple[str, ...]]

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(source for sources in self.columns.values() for source in sources)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write the sum of a list, null without a number in it."""
        totals = {}
        for column, sources in self.columns.items():
            values = [writer.value(source) for source in sources]
            terms = [str(number(each)) for each in values if each.type is not Type.TIME]
            totals[column] = finite(f"list_sum([{', '.join((*terms, 'NULL::DOUBLE'))}])")
        writer.define(kept, totals)


@dataclass(frozen=True)
class _ColumnTotals(Step):
    """A step that adds a row with the sums of columns; the column ``last`` marks this row.

    ``columns`` maps new columns to old columns. A column of texts holds the sum as text.
    """

    columns: Mapping[str, str]
    last: str

    @property
    def defines(self) -> frozenset[str]:
        return frozenset((*self.columns, self.last))

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(self.columns.values())

    def narrow(self, live: frozenset[str]) -> Step:
        """Return the step with the live columns only; the step adds the row in any case."""
        return replace(
            self, columns={name: each for name, each in self.columns.items() if name in live}
        )

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a union with the row of sums."""
        source = writer.materialize()
        values, totals = {}, []
        for column, term in self.columns.items():
            value = writer.value(term)
            values[column] = number(value) if value.type is Type.BOOLEAN else value
            totals.append(str(_total(value)))
        values[self.last] = Value("FALSE", Type.BOOLEAN)
        columns = ", ".join((*("NULL" for _ in kept), *totals, "TRUE"))
        row = f"SELECT {columns} FROM {source} HAVING count(*) > 0"  # noqa: S608
        writer.define(kept, values, f"UNION ALL {row}")


def _total(value: Value) -> Value:
    """Return the sum of a column, in the type of the column; null for a type without numbers."""
    if value.type not in (Type.TEXT, Type.NUMBER, Type.BOOLEAN):
        return Value("NULL", value.type)
    total = finite(f"fsum({number(value)})")
    return text(total) if value.type is Type.TEXT else total
