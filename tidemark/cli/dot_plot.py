"""Figures as points with their spread, in characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FEWEST = 20
"""The fewest characters between the ends of an axis."""


class Point(NamedTuple):
    """One figure."""

    name: str
    text: str
    """The figure as text."""
    low: float
    value: float
    high: float


def dot_plot(points: Sequence[Point], width: int) -> Iterator[str]:
    """Yield a line for each point: its name, its text and ``├──●──┤`` on a common axis.

    The axis goes from the least to the highest end of all points, and not from zero. The lines have
    ``width`` characters, or more if texts need them.
    """
    names, texts = (max(map(len, column)) for column in list(zip(*points, strict=True))[:2])
    room = max(_FEWEST, width - names - texts - 4)
    least = min(point.low for point in points)
    span = max(point.high for point in points) - least or 1.0
    for point in points:
        ends = (round((room - 1) * (end - least) / span) for end in point[2:])
        yield f"{point.name:<{names}}  {point.text:>{texts}}  {_drawn(*ends)}"


def _drawn(low: int, middle: int, high: int) -> str:
    """Return a point and its spread from their places; one that has no width is a point alone."""
    line = f"├{'─' * (high - low - 1)}┤" if high > low else "●"
    cells = [*(" " * low), *line]
    cells[middle] = "●"
    return "".join(cells)
