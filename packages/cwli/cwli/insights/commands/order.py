"""Commands ``sort``, ``limit``, ``tail`` and ``dedup``: the order and the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.lexer import Kind
from cwli.insights.names import Names
from cwli.insights.plan import MOST_ROWS, Order, Step, ordering
from cwli.insights.sql import Writer
from cwli.insights.syntax import Command, Field, QueryError, SortKey, Span


@dataclass(frozen=True)
class Sort(Command):
    """``sort a, b desc``; a later ``sort`` replaces it."""

    keys: tuple[SortKey, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Sort:
        """Read the arguments of ``sort``; ``sort by`` is accepted, too."""
        reader.take_word("by")
        keys = reader.list_of(reader.sort_key)
        return cls(reader.since(start), keys)

    def resolve(self, names: Names) -> None:
        """Sort the rows from here on."""
        names.sort(tuple((names.column(key.expression), key.descending) for key in self.keys))

    def __str__(self) -> str:
        return f"sort {printing.sort_keys(self.keys)}"


@dataclass(frozen=True)
class Limit(Command):
    """``limit 20``: keep the first rows."""

    count: int

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Limit:
        """Read the arguments of ``limit``, or its older name ``head``."""
        # With ``any``, the first rows are as good as any others.
        reader.take_word("any")
        count = _rows(reader)
        return cls(reader.since(start), count)

    def resolve(self, names: Names) -> None:
        """Cut the rows."""
        names.step(Cut(self.count, names.order))

    def __str__(self) -> str:
        return f"limit {self.count}"


@dataclass(frozen=True)
class Tail(Limit):
    """``tail 20``: keep the last rows; an older command."""

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Tail:
        """Read the arguments of ``tail``."""
        count = _rows(reader)
        return cls(reader.since(start), count)

    def resolve(self, names: Names) -> None:
        """Cut the rows in reverse order."""
        order = tuple((column, not descending) for column, descending in names.order)
        names.step(Cut(self.count, order))

    def __str__(self) -> str:
        return f"tail {self.count}"


@dataclass(frozen=True)
class Dedup(Command):
    """``dedup a, b``: keep the first of the rows with equal fields."""

    fields: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Dedup:
        """Read the arguments of ``dedup``."""
        fields = reader.list_of(reader.field)
        return cls(reader.since(start), fields)

    def resolve(self, names: Names) -> None:
        """Keep the first rows."""
        keys = tuple(names.column(field) for field in self.fields)
        names.step(Distinct(keys, names.order))

    def __str__(self) -> str:
        return f"dedup {printing.fields(self.fields)}"


@dataclass(frozen=True)
class Cut(Step):
    """A step that keeps the first rows."""

    cuts = True

    count: int
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the sort order."""
        return ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a LIMIT clause."""
        writer.define(kept, {}, f"{writer.order_by(self.order)} LIMIT {self.count}")


@dataclass(frozen=True)
class Distinct(Step):
    """A step that keeps the first row of equal ``keys``, and every row without one of the keys."""

    keys: tuple[str, ...]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the keys and of the sort order."""
        return frozenset(self.keys) | ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a QUALIFY clause."""
        missing = " OR ".join(f"{key} IS NULL" for key in self.keys)
        window = f"PARTITION BY {', '.join(self.keys)}{writer.order_by(self.order)}"
        writer.define(kept, {}, f"QUALIFY row_number() OVER ({window}) = 1 OR {missing}")


def _rows(reader: Reader) -> int:
    expected = f"a whole number of rows from 1 to {MOST_ROWS}"
    token = reader.token
    if token.kind is not Kind.NUMBER or not token.value.isdigit():
        raise reader.expected(expected)
    if len(token.value) > 9 or not 1 <= int(token.value) <= MOST_ROWS:
        raise QueryError(
            f"limit {token.value} is not accepted; limit takes 1 to {MOST_ROWS} rows", token.span
        )
    return reader.whole_number(expected)
