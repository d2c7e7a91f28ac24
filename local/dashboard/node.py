"""Reading a QuickSight definition so that nothing of it is passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suites.refusal import Refused, listed, shown


class Node:
    """A structure of a definition, whose fields are read by name.

    What is read is drawn. Once all has been read, ``refuse_unread`` refuses the rest: a field that
    nobody asked for would make the page another than QuickSight's.
    """

    def __init__(self, place: str, fields: object) -> None:
        if not isinstance(fields, Mapping):
            raise Refused(f"{place}: {shown(fields)} is no structure")
        self.place = place
        self._fields = fields
        self._read: dict[str, list[Node]] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether there is such a field; asking for it reads it."""
        self._read.setdefault(name, [])
        return name in self._fields

    def node(self, name: str) -> Node:
        """Return an inner structure; an empty one if there is none."""
        return self._inner(name, self._fields.get(name, {}), self._at(name))

    def nodes(self, name: str) -> list[Node]:
        """Return the structures of a list; none if there is no such list."""
        given = self._value(name, list, [])
        return [
            self._inner(name, each, f"{self._at(name)}[{number}]")
            for number, each in enumerate(given)
        ]

    def first(self, name: str) -> Node | None:
        """Return the one structure of a list, None if it is empty; more are refused."""
        found = self.nodes(name)
        if len(found) > 1:
            raise Refused(f"{self._at(name)}: {len(found)} are given; one is drawn")
        return found[0] if found else None

    def only(self, name: str) -> Node:
        """Return the one structure of a list; none, and more, are refused."""
        if found := self.first(name):
            return found
        raise Refused(f"{self._at(name)}: none is given; one is drawn")

    def kind(self, *names: str) -> tuple[str, Node]:
        """Return the name of the one field that there is, one of ``names``, and what it holds."""
        found = [name for name in names if name in self]
        self.refuse_unread()
        if len(found) != 1:
            raise Refused(f"{self.place}: there has to be exactly one of {listed(names)}")
        return found[0], self.node(found[0])

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default there has to be one."""
        return str(self._value(name, str, default))

    def number(self, name: str) -> int:
        """Return a whole number."""
        return int(self._value(name, int))

    def choice(self, name: str, *drawn: str) -> str:
        """Return a word of those that are drawn; the first one if there is none."""
        word = self.text(name, drawn[0])
        if word not in drawn:
            raise Refused(f"{self._at(name)}: {word} is not drawn here; drawn are {listed(drawn)}")
        return word

    def visible(self, name: str = "Visibility") -> bool:
        """Return whether something is shown, as it is if nothing is said."""
        return self.choice(name, "VISIBLE", "HIDDEN") == "VISIBLE"

    def must_be(self, name: str, *values: object) -> None:
        """Accept a field that changes nothing of what is drawn; any other value is refused."""
        if name in self and self._fields[name] not in values:
            raise Refused(
                f"{self._at(name)}: {shown(self._fields[name])} is not drawn here; "
                f"drawn is {listed(map(shown, values))}"
            )

    def skip(self, *names: str) -> None:
        """Accept fields, whatever they hold, without which the page is the same."""
        for name in names:
            self._read.setdefault(name, [])

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; an empty one if there is none."""
        return [str(each) for each in self._value(name, list, [])]

    def refuse_unread(self) -> None:
        """Refuse, by their names, fields that nobody has asked for, here and further inside."""
        for name in self._fields:
            if name not in self._read:
                known = listed(sorted(self._read)) or "none"
                raise Refused(f"{self._at(name)}: is not drawn here; drawn are {known}")
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
