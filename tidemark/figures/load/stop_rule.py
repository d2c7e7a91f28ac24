"""The end of a search for the supported users: by its rule, by a bound, or without users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.figures.load.feedback import after_feedback
from tidemark.figures.load.next_level import Decision, End, Level, ended
from tidemark.figures.load.plateaus import after_plateaus
from tidemark.model.load import Bounds, Feedback, Plateaus
from tidemark.model.sentences import listed, plural


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
