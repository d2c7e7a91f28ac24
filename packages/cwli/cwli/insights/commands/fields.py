"""Commands ``fields`` and ``display``: computed fields, and the fields of the result."""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.syntax import Command, Item, Span


@dataclass(frozen=True)
class Fields(Command):
    """``fields a, b + c as d``: show these fields and those of other ``fields``."""

    items: tuple[Item, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Fields:
        """Read the arguments of ``fields``."""
        items = reader.items()
        return cls(reader.since(start), items)

    def resolve(self, names: Names) -> None:
        """Compute and show the items."""
        names.selection.show(names.define_items(self.items), alone=True)

    def __str__(self) -> str:
        return f"fields {printing.items(self.items)}"


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

    def __str__(self) -> str:
        return f"display {printing.items(self.items)}"
