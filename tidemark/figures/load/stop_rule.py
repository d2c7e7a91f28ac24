"""The end of a search for the supported users: by its rule, by a bound, or without users.

The rule of plateaus has steps that double until a level fails, then the bracket is halved. This is
a galloping search (Bentley and Yao, 1976). The first one steps up from few users; each that follows
steps up or down from the users that the one before found, which takes fewer levels and overloads
the service less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.load.feedback import after_feedback
from tidemark.figures.load.next_level import Decision, End, Level, ended, in_words, users_in_words
from tidemark.model.load import Bounds, Feedback, Plateaus
from tidemark.model.sentences import listed, plural


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


def after_plateaus(rule: Plateaus, most: int, levels: Sequence[Level]) -> Decision:
    """Return the level that follows after some levels, or the end.

    ``most`` is the greatest accepted number of users. The first step of each search but the first
    is the accepted width of a bracket. The result of a search is the middle of its bracket.
    """
    bracket, found = _Bracket(min(rule.first, most), rule.first), list[float]()
    for level in levels:
        bracket = bracket.after(level, most)
        if bracket.held == most:
            return ended("no limit", f"{in_words(level)}, and the search has no more", found)
        if bracket.failed == 1:
            return ended("none supported", in_words(level), found)
        if bracket.is_closed(rule.bracket):
            found.append(bracket.middle)
            if len(found) == rule.searches:
                return ended("found", f"{users_in_words(found)} are supported", found)
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
        return after_plateaus(rule, most, levels)
    return after_feedback(rule, most, levels)


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
