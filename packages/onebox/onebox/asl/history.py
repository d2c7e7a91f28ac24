"""The events of an execution, in the shape of the GetExecutionHistory API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from onebox.asl.errors import RUNTIME, StateError
from onebox.asl.payload import Json, dump

MAX_EVENTS = 25_000

Details = Mapping[str, Any]


class History:
    """The events of an execution, at most 25,000, numbered from 1 in the order of creation."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.events: list[dict[str, Any]] = []
        self._clock = clock

    def add(self, kind: str, previous: int, details: Details | None = None) -> int:
        """
        Append an event and return its number.

        Raises
        ------
        StateError
            States.Runtime, if there is room only for the event that ends the execution.
        """
        if len(self.events) >= MAX_EVENTS - 1:
            raise StateError(
                RUNTIME, f"The execution reached the maximum of {MAX_EVENTS} history events."
            )
        return self._append(kind, previous, details)

    def end(self, kind: str, previous: int, details: Details) -> None:
        """Append the event that ends the execution."""
        self._append(kind, previous, details)

    def _append(self, kind: str, previous: int, details: Details | None) -> int:
        event = {
            "timestamp": self._clock(),
            "type": kind,
            "id": len(self.events) + 1,
            "previousEventId": previous,
        }
        if details is not None:
            event[_details_name(kind)] = details
        self.events.append(event)
        return len(self.events)


class Trail:
    """One thread of a history, in which each event names its predecessor."""

    def __init__(self, history: History, last: int = 0) -> None:
        self._history = history
        self.last = last

    def add(self, kind: str, details: Details | None = None) -> None:
        """Append an event to the history after the last event of this trail."""
        self.last = self._history.add(kind, self.last, details)

    def branch(self) -> Trail:
        """Return a new trail that begins after the last event of this trail."""
        return Trail(self._history, self.last)


def data(name: str, value: Json) -> dict[str, Any]:
    """Return the members of an event for an input or output, which is never truncated here."""
    return {name: dump(value), f"{name}Details": {"truncated": False}}


def _details_name(kind: str) -> str:
    for common in ("StateEntered", "StateExited"):
        if kind.endswith(common):
            kind = common
    return f"{kind[0].lower()}{kind[1:]}EventDetails"
