"""Commands that choose and sort rows, and show their fields or take them apart.

``fields``, ``display``, ``json``, ``unnest``, ``expand``, ``filter``, ``sort``, ``limit``, ``tail``
and ``dedup``; ``filterIndex`` and ``unmask`` do more on AWS only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import MOST_ROWS, Extend, Keep, Order, Step, ordering
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Attribute,
    Call,
    Command,
    Expression,
    Field,
    Item,
    Operation,
    QueryError,
    SortKey,
    Span,
    Text,
    source_name,
)
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, text


@dataclass(frozen=True)
class Fields(Command):
    """``fields a, b + c as d``: show these fields beside the fields of other ``fields``."""

    items: tuple[Item, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Fields:
        """Read the arguments of ``fields``."""
        items = reader.items()
        return cls(reader.since(start), items)

    def resolve(self, names: Names) -> None:
        """Compute and show the items."""
        names.selection.show(names.define_items(self.items), alone=True)


@dataclass(frozen=True)
class Display(Command):
    """``display a, b``: show only these fields; the last ``display`` wins."""

    items: tuple[Item, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Display:
        """Read the arguments of ``display``."""
        items = reader.items()
        return cls(reader.since(start), items)

    def resolve(self, names: Names) -> None:
        """Compute the items, and show only them."""
        names.selection.display(names.define_items(self.items))


@dataclass(frozen=True)
class Filter(Command):
    """``filter a = 1``: keep the rows for which a condition holds."""

    condition: Expression

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Filter:
        """Read the arguments of ``filter``."""
        condition = reader.expression()
        return cls(reader.since(start), condition)

    def resolve(self, names: Names) -> None:
        """Add the filter, and after stats its conditions on the grouped rows before the stats."""
        for condition in _conditions(self.condition):
            _keep(condition, names)


def _conditions(expression: Expression) -> tuple[Expression, ...]:
    """Return the conditions that must all hold."""
    if isinstance(expression, Operation) and expression.operator == "and":
        return tuple(part for each in expression.arguments for part in _conditions(each))
    return (expression,)


def _keep(condition: Expression, names: Names) -> None:
    """Add a filter; one on fields that stats does not return filters the rows before it.

    AWS's sample queries for Container Insights filter by the type of the event after stats.
    """
    fields = list(_fields(condition, names))
    missing = [field for field in fields if names.lacks(field)]
    if not missing:
        names.step(Keep(names.resolve(condition)))
        return
    field, hint = missing[0], names.scope.hint(missing[0])
    if len(missing) < len(fields):
        raise QueryError(
            f"{field.name!r} is not a result of stats, but other fields of this condition are; "
            f"filter by it before stats; {hint}",
            field.span,
        )
    names.warn(
        field.span,
        f"{field.name!r} is not a result of stats, so this filter works before stats; {hint}",
    )
    with names.rows_of_stats():
        _keep(condition, names)


def _fields(expression: Expression, names: Names) -> Iterator[Field]:
    """Yield the fields of an expression; a result of stats without an alias is one, too."""
    if isinstance(expression, Field):
        yield expression
    elif source_name(expression) in names.scope.fields:
        yield Field(expression.span, source_name(expression))
    elif isinstance(expression, Call | Operation):
        for argument in expression.arguments:
            yield from _fields(argument, names)


@dataclass(frozen=True)
class FilterIndex(Filter):
    """``filterIndex a = 1`` or ``a in [1, 2]``: a filter for which AWS uses an index."""

    @classmethod
    def read(cls, reader: Reader, start: Span) -> FilterIndex:
        """Read the arguments of ``filterIndex``."""
        condition = reader.expression()
        indexed = isinstance(condition, Operation) and condition.operator in ("=", "in")
        if not indexed:
            raise QueryError(
                "filterIndex takes a field with = or in; an index finds nothing else",
                condition.span,
            )
        return cls(reader.since(start), condition)

    def resolve(self, names: Names) -> None:
        """Add the filter, and note the field of the index."""
        names.indexed |= {field.name for field in _fields(self.condition, names)}
        super().resolve(names)


def read_unmask(reader: Reader, start: Span) -> Fields:
    """Read ``unmask a``: show masked data, as ``fields`` does; nothing is masked on one machine."""
    fields = reader.list_of(reader.field)
    items = tuple(Item(field.span, field, field.name) for field in fields)
    return Fields(reader.since(start), items)


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
        names.limits.append(self.count)
        names.step(Cut(self.count, names.order))


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
        names.step(_Distinct(keys, names.order))


@dataclass(frozen=True)
class JsonField(Command):
    """``json field=payload "user.name" as name``."""

    field: Field
    path: Text
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> JsonField:
        """Read the arguments of ``json``."""
        reader.need_word("field")
        reader.need("=", "'='")
        field = reader.field()
        path = reader.text()
        reader.need_word("as")
        name = reader.name().value
        return cls(reader.since(start), field, path, name)

    def resolve(self, names: Names) -> None:
        """Add the field."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.name])
        names.step(Extend({column: Attribute(self.path.span, source, self.path.value)}))


@dataclass(frozen=True)
class Unnest(Command):
    """``unnest list into element``; any other value counts as a list of itself."""

    field: Field
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Unnest:
        """Read the arguments of ``unnest``."""
        field = reader.field()
        reader.need_word("into")
        name = reader.name().value
        return cls(reader.since(start), field, name)

    def resolve(self, names: Names) -> None:
        """Make the rows; their order decides between equal sort keys."""
        source = names.column(self.field)
        (column,) = names.define_captures([self.name])
        place = names.new_column()
        names.step(_Elements(column, place, source))
        names.put_after(place)


def read_expand(reader: Reader, start: Span) -> Unnest:
    """Read ``expand list``: like ``unnest``, but the element has the name of the list."""
    field = reader.field()
    return Unnest(reader.since(start), field, field.name)


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
        among = writer.among_first(self.order, self.count) if self.order else ""
        writer.define(kept, {}, f"{among}{writer.order_by(self.order)} LIMIT {self.count}")


@dataclass(frozen=True)
class _Distinct(Step):
    """A step that keeps the first row of equal ``keys``, and every row without one of the keys."""

    keys: tuple[str, ...]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(self.keys) | ordering(self.order)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write an aggregate of whole rows, which keeps one row of each group in memory."""
        missing = " OR ".join(f"{key} IS NULL" for key in self.keys)
        row, values = writer.temporary(), {column: writer.value(column) for column in sorted(kept)}
        members = ", ".join(f"'{column}': {column}" for column in values) or "'row': TRUE"
        rows = f"arg_min({{{members}}}, {writer.sort_key(self.order)})"
        first = Value(rows, Type.STRUCTURE)
        groups = f"GROUP BY {', '.join(self.keys)}, CASE WHEN {missing} THEN uuid() END"
        writer.define(frozenset(), {row: first}, groups)
        writer.define(
            frozenset(),
            {column: Value(f"{row}.{column}", value.type) for column, value in values.items()},
        )


@dataclass(frozen=True)
class _Elements(Step):
    """A step that makes a row of each element of a JSON array; ``place`` numbers the elements."""

    column: str
    place: str
    source: str

    @property
    def defines(self) -> frozenset[str]:
        return frozenset({self.column, self.place})

    @property
    def reads(self) -> frozenset[str]:
        return frozenset({self.source})

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write an unnest."""
        array = text(writer.value(self.source))
        is_array = f"CASE WHEN json_valid({array}) THEN json_type({array}) = 'ARRAY' END"
        each = (
            f"list_transform(json_extract({array}, '$[*]'), lambda v: CASE CAST(v AS VARCHAR) "
            "WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE json_extract_string(v, '$') END)"
        )
        elements = f"CASE WHEN {is_array} THEN {each} ELSE [{array}] END"
        writer.define(
            kept,
            {
                self.column: Value(f"unnest({elements})", Type.TEXT),
                self.place: Value(f"generate_subscripts({elements}, 1)", Type.NUMBER),
            },
        )
