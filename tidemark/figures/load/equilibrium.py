"""The equilibrium of a quantity over time, such as users: it neither grows nor swings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidemark.model.load import Equilibrium
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


def last_equilibrium(points: Sequence[At], rule: Equilibrium) -> Window | None:
    """Return the last whole window of a recorded series in which its values are in equilibrium.

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


def last_window(points: Sequence[At], seconds: float) -> Sequence[At] | None:
    """Return the points of the last so many seconds; None if the series is not longer."""
    begin = points[-1][0] - seconds
    first = len(points)
    while first and points[first - 1][0] > begin:
        first -= 1
    return points[first:] if first else None
