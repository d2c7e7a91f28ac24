"""The equilibrium of a number of users over time: they neither grow nor swing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.figures.summary import mean
from tidemark.model.numerals import figure
from tidemark.model.user_search import Feedback

Users = tuple[float, float]
"""A time [s] and the users that were connected then."""


class Window(NamedTuple):
    """The users over some time."""

    since: float
    until: float
    """The first and the last time [s]."""
    users: float
    """The mean."""
    slope: float
    """The slope of the line of least squares [users/s]."""
    scatter: float
    """The standard deviation [users]."""

    def unsteady(self, rule: Feedback) -> str:
        """Return why the users are in no equilibrium, '' if they are in one.

        Users that change step by step scatter by two steps at least.
        """
        if self.users < rule.step:
            return "fewer users are connected than a step has"
        if abs(self.slope) >= rule.slope:
            return f"the users change by {figure(self.slope)} a second"
        accepted = max(rule.swing * self.users, 2 * rule.step)
        return f"the users swing by {figure(self.scatter)}" if self.scatter > accepted else ""


def window(points: Sequence[Users]) -> Window:
    """Return the mean, slope and scatter of one point or more, in order of time."""
    times, users = zip(*points, strict=True)
    middle, level = mean(times), mean(users)
    spread = math.fsum((time - middle) ** 2 for time in times)
    along = math.fsum((time - middle) * (count - level) for time, count in points)
    return Window(
        since=times[0],
        until=times[-1],
        users=level,
        slope=along / spread if spread else 0.0,
        scatter=math.sqrt(math.fsum((count - level) ** 2 for count in users) / len(users)),
    )


def last_equilibrium(points: Sequence[Users], rule: Feedback) -> Window | None:
    """Return the last whole window of a recorded series in which the users are in equilibrium.

    ``points`` are in order of time. A coordinator ends its test in equilibrium, so this is the
    window that it reports: the users who leave after it, and those who come before, are not level.
    Return None if there is no such window.
    """
    for end in range(len(points), 0, -1):
        latest = last_window(points[:end], rule.window_seconds)
        if latest is None:
            return None
        found = window(latest)
        if not found.unsteady(rule):
            return found
    return None


def last_window(points: Sequence[Users], seconds: float) -> Sequence[Users] | None:
    """Return the points of the last so many seconds; None if the series is not longer."""
    begin = points[-1][0] - seconds
    first = len(points)
    while first and points[first - 1][0] > begin:
        first -= 1
    return points[first:] if first else None
