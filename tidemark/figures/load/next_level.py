"""A level of users as it was held, and the decision that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from tidemark.model.numerals import decimal
from tidemark.model.sentences import listed, plural

End = Literal[
    "found",
    "none supported",
    "no limit",
    "dropped",
    "agents",
    "too long",
    "too many levels",
    "too dear",
]


class Level(NamedTuple):
    """A number of users that was held for some time, and the limits that were hit meanwhile."""

    users: int
    ended: float
    """The end of the hold [s], counted from the start of the search."""
    hit: tuple[str, ...] = ()
    """The names of the limits that were hit; empty if the service held the level."""
    connected: float | None = None
    """The mean of the users that were connected; None if nobody counted them."""
    agents_hit: tuple[str, ...] = ()
    """The names of the limits of the agents themselves that were hit."""

    @property
    def counted(self) -> float:
        """The users that were connected, or else those that were asked for."""
        return self.users if self.connected is None else self.connected


class Decision(NamedTuple):
    """The level that follows, or the end of the search."""

    users: int
    """The users of the next level, 0 at the end."""
    found: tuple[float, ...] = ()
    """The supported users of each search that is done."""
    end: End | None = None
    """The kind of end; None if another level follows."""
    reason: str = ""
    """The reason of the end, or the state of a search that goes on, in words."""


def ended(end: End, reason: str, found: Sequence[float] = ()) -> Decision:
    """Return the decision that ends a search."""
    return Decision(0, tuple(found), end, reason)


def in_words(level: Level) -> str:
    """Return a level with the limits that it hit, such as ``64 users hit p99``."""
    users = plural(level.users, "user")
    return f"{users} hit {listed(level.hit)}" if level.hit else f"{users} hit no limit"


def users_in_words(found: Sequence[float]) -> str:
    """Return the supported users of searches, such as ``51.5, 1,020 users``."""
    return f"{listed(decimal(users, 0 if users == int(users) else 1) for users in found)} users"
