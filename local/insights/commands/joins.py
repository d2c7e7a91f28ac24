"""``join`` and ``appendcols``: the rows of another query beside these.

Source: AWS documentation, CloudWatch Logs Insights query syntax: join, appendcols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from local.insights import printing
from local.insights.commands.order import Cut
from local.insights.expressions import Reader
from local.insights.names import Names, Scope
from local.insights.plan import MOST_ROWS, Definition, Order, Step, ordering
from local.insights.sql import Writer
from local.insights.syntax import Column, Command, Expression, Field, QueryError, Span, Subquery
from local.insights.values import Type, Value, text

# AWS documentation, CloudWatch Logs Insights query syntax: appendcols (max).
_APPENDED_ROWS = 10_000


@dataclass(frozen=True)
class Join(Command):
    """``join type=left left=a right=b where a.id=b.id (SOURCE 'group')``.

    After it ``a.name`` is a field of the rows before, ``b.name`` one of the subquery's rows.
    """

    outer: bool
    left: Field
    right: Field
    rows: Subquery

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Join:
        """Read what follows the word ``join``."""
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
        """Join the rows, and let the fields of either side be told by its name."""
        (left, left_key), (right, right_key) = map(_parted, (self.left, self.right))
        inner = names.inside(self.rows)
        place = _numbered(inner)
        beside = Beside(names.column(left_key), inner.column(right_key), inner, self.outer, {})
        names.step(beside)
        names.put_after(beside.column(place, names))
        names.scope = _JoinedScope(names, left, right, beside)
        chosen = [f"{right}.{name}" for name in inner.chosen()]
        for name in chosen:
            names.define(name, names.column(Field(self.span, name)))
        names.show(chosen)

    def __str__(self) -> str:
        kind = "left" if self.outer else "inner"
        sides = (printing.name(_parted(key)[0]) for key in (self.left, self.right))
        named = "left={} right={}".format(*sides)
        keys = "=".join(printing.name(key.name) for key in (self.left, self.right))
        return f"join type={kind} {named} where {keys} {printing.expression(self.rows)}"


@dataclass(frozen=True)
class AppendCols(Command):
    """``appendcols override=true max=100 (SOURCE 'group' | stats …)``.

    The first row of the subquery is put beside the first row, and so on; rows that the subquery
    has more of are left out.
    """

    override: bool
    most: int
    rows: Subquery

    @classmethod
    def read(cls, reader: Reader, start: Span) -> AppendCols:
        """Read what follows the word ``appendcols``."""
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
        inner = names.inside(self.rows)
        inner.step(Cut(self.most, inner.order))
        beside = Beside(_numbered(names), _numbered(inner), inner, outer=True, columns={})
        names.step(beside)
        added = [
            name
            for name in inner.plan().outputs
            if name != "@ptr" and (self.override or name not in names.scope.fields)
        ]
        for name in added:
            names.define(name, beside.column(inner.scope.fields[name], names))
        names.show(added)

    def __str__(self) -> str:
        options = f"override={str(self.override).lower()} max={self.most}"
        return f"appendcols {options} {printing.expression(self.rows)}"


class _JoinedScope(Scope):
    """The fields of the rows before a join, and those of either side by its name."""

    def __init__(self, names: Names, left: str, right: str, beside: Beside) -> None:
        super().__init__(names.scope.fields)
        self._names = names
        self._before = names.scope
        self._left = left
        self._right = right
        self._beside = beside

    def find(self, used: Field) -> Expression:
        """Return what a field means; without the name of a side it is one of the rows before."""
        side, _, name = used.name.partition(".")
        if name and used.name not in self.fields:
            field = replace(used, name=name)
            if side == self._left:
                return self._before.find(field)
            if side == self._right:
                inner = self._beside.rows
                return Column(used.span, self._beside.column(inner.column(field), self._names))
        return self._before.find(used)


@dataclass(frozen=True)
class Numbered(Definition):
    """Add the number of each row, from 1, to the columns."""

    per_event = False

    columns: Mapping[str, None]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """What is sorted by."""
        return ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a window function."""
        number = f"CAST(row_number() OVER ({writer.order_by(self.order)}) AS DOUBLE)"
        writer.define(kept, {column: Value(number, Type.NUMBER) for column in self.columns})


@dataclass(frozen=True)
class Beside(Step):
    """Put beside each row those of another query that have the same text in another column.

    ``outer`` keeps the rows that have none beside them. ``columns`` are the other query's that are
    asked for, by their names here; more may be asked for as long as names are resolved.
    """

    left: str
    right: str
    rows: Names
    outer: bool
    columns: dict[str, str]

    def column(self, inner: str, names: Names) -> str:
        """Return the column here that holds a column of the other query."""
        for column, asked in self.columns.items():
            if asked == inner:
                return column
        column = names.new_column()
        self.columns[column] = inner
        return column

    @property
    def selects(self) -> int:
        """One for the join, and those of the other query."""
        return 1 + sum(step.selects for step in self.rows.plan().steps)

    @property
    def defines(self) -> frozenset[str]:
        """The columns of the other query."""
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        """What is compared."""
        return frozenset({self.left})

    def narrowed(self, live: frozenset[str]) -> Step:
        """Return the step with the live columns only; it makes rows in any case."""
        return replace(self, columns={k: v for k, v in self.columns.items() if k in live})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a join with the other query."""
        inner = Writer()
        inner.write(self.rows.plan().steps, frozenset((*self.columns.values(), self.right)))
        key = writer.temporary()
        columns = {key: text(inner.value(self.right))}
        columns |= {column: inner.value(asked) for column, asked in self.columns.items()}
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


def _parted(key: Field) -> tuple[str, Field]:
    """Return the name of the side of a join, and the field without it."""
    side, _, name = key.name.partition(".")
    return side, replace(key, name=name)


def _numbered(names: Names) -> str:
    column = names.new_column()
    names.step(Numbered({column: None}, names.order))
    return column
