"""Commands that add fields or take them apart.

``fields``, ``display``, ``json``, ``unnest`` and ``expand``.
"""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.plan import Extend, Step
from cwli.insights.sql import Writer
from cwli.insights.syntax import Attribute, Command, Field, Item, Span, Text
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
        """Make the rows."""
        unnest(names, self.field, self.name)


@dataclass(frozen=True)
class Expand(Command):
    """``expand list``: like ``unnest``, but the element has the name of the list."""

    field: Field

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Expand:
        """Read the arguments of ``expand``."""
        field = reader.field()
        return cls(reader.since(start), field)

    def resolve(self, names: Names) -> None:
        """Make the rows."""
        unnest(names, self.field, self.field.name)


def unnest(names: Names, list_: Field, element: str) -> None:
    """Make a row of each element of a list; their order decides between equal sort keys."""
    source = names.column(list_)
    (column,) = names.define_captures([element])
    place = names.new_column()
    names.step(Elements(column, place, source))
    names.put_after(place)


@dataclass(frozen=True)
class Elements(Step):
    """A step that makes a row of each element of a JSON array; ``place`` numbers the elements."""

    column: str
    place: str
    source: str

    @property
    def defines(self) -> frozenset[str]:
        """The columns of the element and of its place."""
        return frozenset({self.column, self.place})

    @property
    def reads(self) -> frozenset[str]:
        """The column of the list."""
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
