"""The end of a search for the supported users: by its rule, by a bound, or without users.

The rule of plateaus has steps that double until a level fails, then the bracket is halved. This is
a galloping search (Bentley and Yao, 1976). The first search steps up from few users. Each later
search steps up or down from the users that the search before it found: this takes fewer levels and
overloads the service less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from tidemark.model.load import Bounds, Equilibrium, Feedback, Plateaus
from tidemark.model.numerals import decimal, figure
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


def _in_words(level: Level) -> str:
    """Return a level with the limits that it hit, such as ``64 users hit p99``."""
    users = plural(level.users, "user")
    return f"{users} hit {listed(level.hit)}" if level.hit else f"{users} hit no limit"


def _users_in_words(found: Sequence[float]) -> str:
    """Return the supported users of searches, such as ``51.5, 1,020 users``."""
    return f"{listed(decimal(users, 0 if users == int(users) else 1) for users in found)} users"


At = tuple[float, float]
"""A time [s] and the value then."""


class Window(NamedTuple):
    """The values over some time."""

    since: float
    until: float
    """The first and the last time [s]."""
    mean: float
    slope: float
    """The slope of the line of least squares [1/s]."""
    scatter: float
    """The standard deviation."""

    def unsteady(self, rule: Equilibrium, step: int = 0) -> str:
        """Return why the values are in no equilibrium, '' if they are in one.

        Values that change by a ``step`` at a time scatter by two steps.
        """
        if self.mean <= 0 or self.mean < step:
            return "there are fewer than a step has"
        if abs(self.slope) >= rule.slope:
            return f"they change by {figure(self.slope)} a second"
        accepted = max(rule.swing * self.mean, 2 * step)
        return f"they swing by {figure(self.scatter)}" if self.scatter > accepted else ""


def window(points: Sequence[At]) -> Window:
    """Return the mean, slope and scatter of one point or more, in order of time."""
    count = len(points)
    middle = math.fsum(time for time, _ in points) / count
    level = math.fsum(value for _, value in points) / count
    spread = math.fsum((time - middle) ** 2 for time, _ in points)
    along = math.fsum((time - middle) * (value - level) for time, value in points)
    return Window(
        since=points[0][0],
        until=points[-1][0],
        mean=level,
        slope=along / spread if spread else 0.0,
        scatter=math.sqrt(math.fsum((value - level) ** 2 for _, value in points) / count),
    )


def last_window(points: Sequence[At], seconds: float) -> Sequence[At] | None:
    """Return the points of the last ``seconds``; None if the series is not longer."""
    begin = points[-1][0] - seconds
    first = len(points)
    while first and points[first - 1][0] > begin:
        first -= 1
    return points[first:] if first else None


def _after_feedback(rule: Feedback, most: int, levels: Sequence[Level]) -> Decision:
    """Return the level that follows after some levels, or the end.

    ``most`` is the greatest accepted number of users. The window begins after the first level that
    hit a limit. The result is the mean of the connected users over the window.
    """
    if not levels:
        return Decision(min(rule.step, most), reason="the first level")
    last = levels[-1]
    since = _since_first_hit(levels)
    if not since and last.users == most:
        return ended("no limit", f"{_in_words(last)}, and the search has no more")
    points = [(level.ended, level.counted) for level in since]
    latest = last_window(points, rule.window_seconds) if points else None
    if latest is None:
        reason = "no whole window yet" if since else "no limit is hit yet"
        return Decision(_next(rule, most, last), reason=reason)
    found = window(latest)
    if reason := found.unsteady(rule, rule.step):
        return Decision(_next(rule, most, last), reason=f"no equilibrium of users: {reason}")
    return _end(since[-len(latest) :], found.mean)


def _since_first_hit(levels: Sequence[Level]) -> Sequence[Level]:
    first = next((place for place, level in enumerate(levels) if level.hit), len(levels))
    return levels[first:]


def _next(rule: Feedback, most: int, last: Level) -> int:
    if last.hit:
        return max(min(rule.step, most), last.users - rule.step)
    return min(most, last.users + rule.step)


def _end(levels: Sequence[Level], users: float) -> Decision:
    """Return the end in equilibrium: one without a limit, or with limits alone, has no figure."""
    if all(level.hit for level in levels):
        return ended("none supported", _in_words(levels[-1]))
    if not any(level.hit for level in levels):
        return ended("no limit", f"{_in_words(levels[-1])}, and the search has no more")
    return ended("found", f"{_users_in_words([users])} are supported", [users])


class _Bracket(NamedTuple):
    """The state of one search."""

    users: int
    """The users of the next level."""
    step: int
    """The users from that level to the one after it, until one was held and one failed."""
    held: int = 0
    """The most users that were held."""
    failed: int | None = None
    """The fewest users that failed twice."""
    is_repeated: bool = False
    """Whether the next level failed once: chance alone makes one level of many fail."""

    @property
    def middle(self) -> float:
        """The middle of the bracket."""
        return (self.held + (self.failed or self.held)) / 2

    def after(self, level: Level, most: int) -> _Bracket:
        """Return the bracket after the level that it asked for."""
        if level.hit and not self.is_repeated:
            return self._replace(is_repeated=True)
        held, failed = (self.held, self.users) if level.hit else (self.users, self.failed)
        if failed is None:
            users = min(most, held + self.step)
        else:
            users = max((held + failed) // 2, 0 if held else failed - self.step)
        return _Bracket(users, 2 * self.step, held, failed)

    def is_closed(self, share: float) -> bool:
        """Tell whether the bracket is narrower than a share of its upper end, or than two users."""
        return self.failed is not None and self.failed - self.held <= max(1, share * self.failed)

    def in_words(self) -> str:
        """Return the bracket for a sentence."""
        if self.failed is None:
            return f"{self.held:,} users hit no limit, more were not tried"
        return f"the limit lies between {self.held:,} and {self.failed:,} users"


def _after_plateaus(rule: Plateaus, most: int, levels: Sequence[Level]) -> Decision:
    """Return the level that follows after some levels, or the end.

    ``most`` is the greatest accepted number of users. The first step of each search but the first
    is the accepted width of a bracket. The result of a search is the middle of its bracket.
    """
    bracket, found = _Bracket(min(rule.first, most), rule.first), list[float]()
    for level in levels:
        bracket = bracket.after(level, most)
        if bracket.held == most:
            return ended("no limit", f"{_in_words(level)}, and the search has no more", found)
        if bracket.failed == 1:
            return ended("none supported", _in_words(level), found)
        if bracket.is_closed(rule.bracket):
            found.append(bracket.middle)
            if len(found) == rule.searches:
                return ended("found", f"{_users_in_words(found)} are supported", found)
            users = max(1, round(bracket.middle))
            bracket = _Bracket(users, max(1, int(rule.bracket * users)))
    search = f"search {len(found) + 1} of {rule.searches}"
    return Decision(bracket.users, tuple(found), reason=f"{search}: {bracket.in_words()}")


def decide(
    rule: Plateaus | Feedback,
    bounds: Bounds,
    levels: Sequence[Level],
    usd_per_second: float = 0.0,
) -> Decision:
    """Return the level that follows after all levels of a search so far, or its end.

    A search always ends: it has at most ``bounds.levels`` levels. It costs ``usd_per_second``.
    """
    for end, why in _without_service(levels):
        return ended(end, why, _by_rule(rule, bounds.users, levels[:-1]).found)
    decision = _by_rule(rule, bounds.users, levels)
    if decision.end is None:
        for end, bound in _reached(bounds, levels, usd_per_second):
            why = f"the bound of {bound} is reached; {decision.reason}"
            return ended(end, why, decision.found)
    return decision


def _by_rule(rule: Plateaus | Feedback, most: int, levels: Sequence[Level]) -> Decision:
    if isinstance(rule, Plateaus):
        return _after_plateaus(rule, most, levels)
    return _after_feedback(rule, most, levels)


def _without_service(levels: Sequence[Level]) -> Iterator[tuple[End, str]]:
    """Yield why the last level says nothing of the service, with the kind of end."""
    for level in levels[-1:]:
        users = plural(level.users, "user")
        if level.counted == 0:
            yield "dropped", f"none of {users} is connected: the service or the load is gone"
        if level.agents_hit:
            limits = listed(level.agents_hit)
            yield "agents", f"the agents are the limit, not the service: {users} hit {limits}"


def _reached(
    bounds: Bounds, levels: Sequence[Level], usd_per_second: float
) -> Iterator[tuple[End, str]]:
    """Yield the bounds that are reached, with their kind of end."""
    seconds = levels[-1].ended if levels else 0.0
    if seconds >= bounds.seconds:
        yield "too long", f"{bounds.seconds:,} s"
    if bounds.usd is not None and seconds * usd_per_second >= bounds.usd:
        yield "too dear", f"{bounds.usd:g} USD"
    if len(levels) >= bounds.levels:
        yield "too many levels", f"{bounds.levels:,} levels"
