"""A reader of QuickSight definitions that overlooks no field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown


class Node:
    """A structure of a definition with named fields.

    After all supported fields have been read, ``refuse_unread`` refuses the rest: an unread field
    would make the page differ from QuickSight's.
    """

    def __init__(self, place: str, fields: object) -> None:
        if not isinstance(fields, Mapping):
            raise Refused(f"{place}: {shown(fields)} is not a structure")
        self.place = place
        self._fields = fields
        self._read: dict[str, list[Node]] = {}

    def __contains__(self, name: str) -> bool:
        """Tell whether the field exists; the test counts as reading it."""
        self._read.setdefault(name, [])
        return name in self._fields

    def node(self, name: str) -> Node:
        """Return an inner structure, an empty one if it does not exist."""
        return self._inner(name, self._fields.get(name, {}), self._at(name))

    def nodes(self, name: str) -> list[Node]:
        """Return the structures of a list, none if the list does not exist."""
        values = self._value(name, list, [])
        return [
            self._inner(name, each, f"{self._at(name)}[{number}]")
            for number, each in enumerate(values)
        ]

    def first(self, name: str) -> Node | None:
        """Return the only structure of a list, None for an empty list; refuse a longer list."""
        nodes = self.nodes(name)
        if len(nodes) > 1:
            raise Refused(f"{self._at(name)}: has {len(nodes)} structures; one is supported")
        return nodes[0] if nodes else None

    def only(self, name: str) -> Node:
        """Return the only structure of a list; refuse an empty or longer list."""
        if node := self.first(name):
            return node
        raise Refused(f"{self._at(name)}: has no structure; one is expected")

    def kind(self, *names: str) -> tuple[str, Node]:
        """Return the name of the only field, which is one of ``names``, and its structure."""
        present = [name for name in names if name in self]
        self.refuse_unread()
        if len(present) != 1:
            raise Refused(f"{self.place}: expected exactly one of {listed(names)}")
        return present[0], self.node(present[0])

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it must exist."""
        return str(self._value(name, str, default))

    def number(self, name: str) -> int:
        """Return a whole number."""
        return int(self._value(name, int))

    def choice(self, name: str, *words: str) -> str:
        """Return one of the supported words, by default the first."""
        word = self.text(name, words[0])
        if word not in words:
            raise Refused(f"{self._at(name)}: {word} is not supported; expected {listed(words)}")
        return word

    def visible(self, name: str = "Visibility") -> bool:
        """Tell whether an element is visible, which is the default."""
        return self.choice(name, "VISIBLE", "HIDDEN") == "VISIBLE"

    def must_be(self, name: str, *values: object) -> None:
        """Accept a field that must have one of these values if it exists."""
        if name in self and self._fields[name] not in values:
            raise Refused(
                f"{self._at(name)}: {shown(self._fields[name])} is not supported; "
                f"expected {listed(map(shown, values))}"
            )

    def skip(self, *names: str) -> None:
        """Accept fields with any value, because they do not change the page."""
        for name in names:
            self._read.setdefault(name, [])

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, an empty one if it does not exist."""
        return [str(each) for each in self._value(name, list, [])]

    def refuse_unread(self) -> None:
        """Refuse the first unread field, here or further inside."""
        for name in self._fields:
            if name not in self._read:
                known = listed(sorted(self._read)) or "none"
                raise Refused(f"{self._at(name)}: is not supported; expected {known}")
        for inner in self._read.values():
            for node in inner:
                node.refuse_unread()

    def _inner(self, name: str, fields: object, place: str) -> Node:
        node = Node(place, fields)
        self._read.setdefault(name, []).append(node)
        return node

    def _value(self, name: str, kind: type, default: object = None) -> Any:  # noqa: ANN401
        self._read.setdefault(name, [])
        value = self._fields.get(name, default)
        if not isinstance(value, kind):
            raise Refused(f"{self._at(name)}: {shown(value)} is not accepted")
        return value

    def _at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name
