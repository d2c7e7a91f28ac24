"""The levels of a metric over runs, and the causes of their changes.

A canary is a version that every run measures: what shifts the canary, too, is no change of the
system under test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from tidemark.figures.history.change_points import ChangePoint, change_points, judged_points

# Two levels are one if they are nearer to each other than this share of the step between.
_ONE_LEVEL = 0.5
# The runs on either side of a change within which a change of the canary is the same one.
_TOGETHER = 3
# The runs on either side of a change that show its environment, and the share of them that both
# sides may have in common: machines of several kinds take turns where a provider has several.
_NEAR, _MOST_COMMON = 8, 0.25

Cause = Literal["version", "environment", "alternation"]


class RunFigure(NamedTuple):
    """One metric of one run."""

    median: float
    """The median of the trials."""
    canary: float | None = None
    """The median of the canary's trials in the same run; None without a canary."""
    environment: str | None = None
    """A digest of machine type, processor, image and Tidemark's version; None if unknown."""


class LevelChange(NamedTuple):
    """A change of level with its cause."""

    point: ChangePoint
    cause: Cause
    """``alternation`` is a change in a series that flips between two levels."""
    of_canary: bool = False
    """Whether the canary's own level changed."""


class Levels(NamedTuple):
    """The changes of a metric over runs, in order."""

    told: list[LevelChange]
    doubted: list[ChangePoint]
    """Changes of its own level that the runs near them do not confirm."""


def level_changes(runs: Sequence[RunFigure]) -> list[LevelChange]:
    """Return the changes of a metric over runs, in order."""
    return judged_levels(runs).told


def judged_levels(runs: Sequence[RunFigure]) -> Levels:
    """Return the changes of a metric over runs, and those that are doubted.

    If every run has the canary, the figures are shares of the canary's. A change of the canary
    itself, or one that comes with another environment, has the cause ``environment``.
    """
    canaries = [run.canary for run in runs if run.canary]
    if len(canaries) < len(runs):
        points = judged_points([run.median for run in runs])
        return Levels(_with_causes(runs, points.told, []), points.doubted)
    shares = [run.median / canary for run, canary in zip(runs, canaries, strict=True)]
    points, moved = judged_points(shares), change_points(canaries)
    causes = _with_causes(runs, points.told, moved)
    told = sorted(
        [*causes, *(LevelChange(point, "environment", of_canary=True) for point in moved)],
        key=lambda change: change.point.index,
    )
    return Levels(told, points.doubted)


def _with_causes(
    runs: Sequence[RunFigure], points: Sequence[ChangePoint], moved: Sequence[ChangePoint]
) -> list[LevelChange]:
    flips = _alternates(points)

    def cause(point: ChangePoint) -> Cause:
        together = any(abs(point.index - other.index) <= _TOGETHER for other in moved)
        if together or _environment_changes(runs, point.index):
            return "environment"
        return "alternation" if flips else "version"

    return [LevelChange(point, cause(point)) for point in points]


def _environment_changes(runs: Sequence[RunFigure], index: int) -> bool:
    """Tell whether the runs after a change have other environments than those before it."""
    near = runs[max(0, index - _NEAR) : index], runs[index : index + _NEAR]
    before, after = (Counter(run.environment for run in side if run.environment) for side in near)
    fewest = min(before.total(), after.total())
    return fewest > 0 and (before & after).total() <= _MOST_COMMON * fewest


def _alternates(points: Sequence[ChangePoint]) -> bool:
    """Tell whether a series returns to its first level twice or more."""
    levels = [point.before for point in points] + [point.after for point in points[-1:]]
    steps = [abs(after - before) for before, after in pairwise(levels)]
    returns = [
        abs(third - first) < _ONE_LEVEL * step
        for first, third, step in zip(levels, levels[2:], steps, strict=False)
    ]
    return len(returns) >= 2 and all(returns)
