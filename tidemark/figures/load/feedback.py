"""The rule of feedback: the users follow the limit step by step, until they stay level."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.figures.load.equilibrium import last_window, window
from tidemark.figures.load.next_level import Decision, Level, ended, in_words, users_in_words
from tidemark.model.load import Feedback


def after_feedback(rule: Feedback, most: int, levels: Sequence[Level]) -> Decision:
    """Return the level that follows after some levels, or the end.

    ``most`` is the greatest accepted number of users. The window begins after the first level that
    hit a limit. The result is the mean of the connected users over the window.
    """
    if not levels:
        return Decision(min(rule.step, most), reason="the first level")
    last = levels[-1]
    since = _since_first_hit(levels)
    if not since and last.users == most:
        return ended("no limit", f"{in_words(last)}, and the search has no more")
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
        return ended("none supported", in_words(levels[-1]))
    if not any(level.hit for level in levels):
        return ended("no limit", f"{in_words(levels[-1])}, and the search has no more")
    return ended("found", f"{users_in_words([users])} are supported", [users])
