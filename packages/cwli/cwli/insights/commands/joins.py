"""Commands ``join`` and ``appendcols``: the columns of another query.

Source: AWS documentation, CloudWatch Logs Insights query syntax: join, appendcols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cwli.insights.commands.rows import Cut
from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import MOST_ROWS, Definition, Order, Step, ordering
from cwli.insights.scopes import Scope
from cwli.insights.sql import Writer
from cwli.insights.syntax import Column, Command, Expression, Field, QueryError, Span, Subquery
from cwli.insights.values import Type, Value, text

# AWS documentation, CloudWatch Logs Insights query syntax: appendcols (max).
_APPENDED_ROWS = 10_000


@dataclass(frozen=True)
class Join(Command):
    """``join type=left left=a right=b where a.id=b.id (SOURCE 'group')``.

    In later commands, ``a.name`` is a field of the earlier rows, ``b.name`` one of the subquery.
    """

    outer: bool
    left: Field
    right: Field
    rows: Subquery

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Join:
        """Read the arguments of ``join``."""
        options = reader.options(
            {
                "type": lambda: reader.one_of("inner", "left"),
                "left": lambda: reader.name().value,
                "right": lambda: reader.name().value,
            }
        )
        left, right = options.get("left"), options.get("right")
        if not left or not right or left == right or "." in left + right:
            raise QueryError("join takes two names: left=a right=b", reader.since(start))
        reader.need_word("where")
        left_key = _key(reader, left)
        reader.need("=", "'='")
        right_key = _key(reader, right)
        rows = reader.subquery()
        outer = options.get("type") == "left"
        return cls(reader.since(start), outer, left_key, right_key, rows)

    def resolve(self, names: Names) -> None:
        """Join the rows, and define the fields of either side by the name of the side."""
        (left, left_key), (right, right_key) = map(_side_and_field, (self.left, self.right))
        inner = names.enter(self.rows)
        place = _row_number(inner)
        join = _JoinRows(names.column(left_key), inner.column(right_key), inner, self.outer, {})
        names.step(join)
        names.put_after(join.column(place, names))
        names.scope = _JoinScope(names, left, right, join)
        fields = [f"{right}.{name}" for name in inner.selection.chosen()]
        for name in fields:
            names.define(name, names.column(Field(self.span, name)))
        names.selection.show(fields)


@dataclass(frozen=True)
class AppendCols(Command):
    """``appendcols override=true max=100 (SOURCE 'group' | stats …)``.

    The first row gets the columns of the subquery's first row, and so on. Further rows of the
    subquery are left out.
    """

    override: bool
    most: int
    rows: Subquery

    @classmethod
    def read(cls, reader: Reader, start: Span) -> AppendCols:
        """Read the arguments of ``appendcols``."""
        rows = f"a whole number of rows from 1 to {MOST_ROWS}"
        options = reader.options(
            {"override": reader.flag, "max": lambda: reader.whole_number(rows)}
        )
        most = options.get("max", _APPENDED_ROWS)
        if not 1 <= most <= MOST_ROWS:
            raise QueryError(f"max takes {rows}", reader.since(start))
        inner = reader.subquery()
        return cls(reader.since(start), options.get("override", False), most, inner)

    def resolve(self, names: Names) -> None:
        """Add the columns of the subquery."""
        inner = names.enter(self.rows)
        inner.step(Cut(self.most, inner.order))
        places = _row_number(names), _row_number(inner)
        join = _JoinRows(*places, inner, outer=True, columns={})
        names.step(join)
        fields = [
            name
            for name in inner.plan().outputs
            if name != "@ptr" and (self.override or name not in names.scope.fields)
        ]
        for name in fields:
            names.define(name, join.column(inner.scope.fields[name], names))
        names.selection.show(fields)


class _JoinScope(Scope):
    """The fields of the rows before a join, and the fields of either side by its name."""

    def __init__(self, names: Names, left: str, right: str, join: _JoinRows) -> None:
        super().__init__(names.scope.fields)
        self._names = names
        self._before = names.scope
        self._left = left
        self._right = right
        self._join = join

    def find(self, field: Field) -> Expression:
        """Return the expression of a field; without a side it is a field of the earlier rows."""
        side, _, name = field.name.partition(".")
        if name and field.name not in self.fields:
            side_field = replace(field, name=name)
            if side == self._left:
                return self._before.find(side_field)
            if side == self._right:
                inner = self._join.rows
                return Column(field.span, self._join.column(inner.column(side_field), self._names))
        return self._before.find(field)


@dataclass(frozen=True)
class _RowNumbers(Definition):
    """A step that adds the number of each row, from 1."""

    per_event = False

    columns: Mapping[str, None]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        return ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a window function."""
        number = f"CAST(row_number() OVER ({writer.order_by(self.order)}) AS DOUBLE)"
        writer.define(kept, {column: Value(number, Type.NUMBER) for column in self.columns})


@dataclass(frozen=True)
class _JoinRows(Step):
    """A step that joins each row with the rows of another query that have an equal text.

    ``left`` and ``right`` are the columns to compare; ``outer`` keeps rows without a match.
    ``columns`` maps columns here to columns of the other query; it grows while names are resolved.
    """

    left: str
    right: str
    rows: Names
    outer: bool
    columns: dict[str, str]

    def column(self, inner: str, names: Names) -> str:
        """Return the column here for a column of the other query."""
        for column, source in self.columns.items():
            if source == inner:
                return column
        column = names.new_column()
        self.columns[column] = inner
        return column

    @property
    def selects(self) -> int:
        """One select for the join, and the selects of the other query."""
        return 1 + sum(step.selects for step in self.rows.plan().steps)

    @property
    def defines(self) -> frozenset[str]:
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({self.left})

    def narrow(self, live: frozenset[str]) -> Step:
        """Return the step with the live columns only; the step makes rows in any case."""
        return replace(self, columns={k: v for k, v in self.columns.items() if k in live})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a join with the other query."""
        inner = Writer()
        inner.write(self.rows.plan().steps, frozenset((*self.columns.values(), self.right)))
        key = writer.temporary()
        columns = {key: text(inner.value(self.right))}
        columns |= {column: inner.value(source) for column, source in self.columns.items()}
        rows = inner.select(", ".join(f"{value} AS {name}" for name, value in columns.items()))
        on = f"{text(writer.value(self.left))} = {key}"
        writer.define(
            kept,
            {column: Value(column, columns[column].type) for column in self.columns},
            f"{'LEFT' if self.outer else 'INNER'} JOIN ({rows}) ON {on}",
        )


def _key(reader: Reader, side: str) -> Field:
    field = reader.field()
    if not field.name.startswith(f"{side}."):
        raise QueryError(f"expected a field of {side}: {side}.{field.name}", field.span)
    return field


def _side_and_field(key: Field) -> tuple[str, Field]:
    """Return the name of a side of a join, and the field without that name."""
    side, _, name = key.name.partition(".")
    return side, replace(key, name=name)


def _row_number(names: Names) -> str:
    column = names.new_column()
    names.step(_RowNumbers({column: None}, names.order))
    return column
