"""The rule of feedback: the users follow the limit step by step, until they stay level.

A quantity over time, such as users, is level in an equilibrium: it neither grows nor swings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.load.next_level import Decision, Level, ended, in_words, users_in_words
from tidemark.model.load import Equilibrium, Feedback
from tidemark.model.numerals import figure

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
    """Return the points of the last so many seconds; None if the series is not longer."""
    begin = points[-1][0] - seconds
    first = len(points)
    while first and points[first - 1][0] > begin:
        first -= 1
    return points[first:] if first else None


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
