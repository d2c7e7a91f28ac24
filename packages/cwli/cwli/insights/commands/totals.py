"""Command ``addtotals``: the sum of the fields of each row, and of each field over the rows.

Source: AWS documentation, CloudWatch Logs Insights query syntax: addtotals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.lexer import Kind
from cwli.insights.names import Names
from cwli.insights.plan import Definition, Step
from cwli.insights.sql import Writer
from cwli.insights.syntax import Command, Field, QueryError, Span
from cwli.insights.values import Type, Value, finite, number, text


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
            {
                "fieldname": lambda: reader.name().value,
                "row": reader.flag,
                "col": reader.flag,
            }
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
            names.step(ColumnTotals(columns, last))
            names.put_last(last)
        if self.of_rows:
            (column,) = names.define_captures([self.name])
            names.step(RowTotal({column: tuple(terms.values())}))

    def __str__(self) -> str:
        command = f"addtotals fieldname={printing.name(self.name)}"
        options = f"row={str(self.of_rows).lower()} col={str(self.of_columns).lower()}"
        fields = printing.fields(self.fields)
        return f"{command} {options} {fields}".rstrip()


@dataclass(frozen=True)
class RowTotal(Definition):
    """A step that adds a column with the sum of the numbers in other columns."""

    columns: Mapping[str, tuple[str, ...]]

    @property
    def reads(self) -> frozenset[str]:
        """The columns to sum."""
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
class ColumnTotals(Step):
    """A step that adds a row with the sums of columns; the column ``last`` marks this row.

    ``columns`` maps new columns to old ones. A column of texts holds the sum as text.
    """

    columns: Mapping[str, str]
    last: str

    @property
    def defines(self) -> frozenset[str]:
        """The new columns, and the column that marks the row of sums."""
        return frozenset((*self.columns, self.last))

    @property
    def reads(self) -> frozenset[str]:
        """The columns to sum."""
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
