"""Selection: the fields that a query's result shows, in their order."""

from __future__ import annotations

from collections.abc import Iterable


class Selection:
    """The fields that commands show, and those that a result has without any."""

    def __init__(self, default: Iterable[str] = (), shown: Iterable[str] = ()) -> None:
        # Names in the order of the result; dictionaries, since a set has no order.
        self._default = dict.fromkeys(default)
        self._shown = dict.fromkeys(shown)
        self._last = dict.fromkeys(shown)
        self._displayed: dict[str, None] = {}

    def show(self, names: Iterable[str], *, alone: bool = False) -> None:
        """Add fields to the result; with ``alone``, remove the default fields from it."""
        shown = dict.fromkeys(names)
        self._shown |= shown
        if alone:
            self._default = {}
            self._last = shown

    def display(self, names: Iterable[str]) -> None:
        """Show only these fields, unless a later command shows others."""
        self._displayed = self._last = dict.fromkeys(names)

    def outputs(self) -> tuple[str, ...]:
        """Return the fields of the result."""
        return tuple(self._displayed or self._default | self._shown)

    def chosen(self) -> tuple[str, ...]:
        """Return the fields that commands show, without the default ones."""
        return tuple(self._displayed or self._shown)

    def last(self) -> list[str]:
        """Return the fields of the last ``fields``, ``display`` or ``stats``."""
        return list(self._last)
