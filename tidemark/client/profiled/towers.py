"""Stacks from the places of a flame graph's frames."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from tidemark.figures.profiles.folded_stacks import folded
from tidemark.model.sentences import shown
from tidemark.store.profiles.file_content import Unreadable
from tidemark.store.profiles.folded import Tally

_ALL = "all"
_ROUNDING = 0.2
"""The most that rounding moves a frame from the one below it, in pixels or per cent."""
NOT_DRAWN = "[not drawn]"
"""The frame of samples that belong to towers too narrow to be drawn."""


class Drawn(NamedTuple):
    """One rectangle of a flame graph; the unit of its place is pixels or per cent."""

    name: str
    samples: int
    """With all frames above it."""
    x: float
    width: float
    y: float


class _Placed:
    """A frame on its parent."""

    __slots__ = ("drawn", "parent", "room")

    def __init__(self, drawn: Drawn, parent: _Placed | None) -> None:
        self.drawn, self.parent = drawn, parent
        self.room = drawn.samples
        """The samples that are not of a frame above it."""

    def stack(self) -> str:
        """Return the stack that ends in this frame, without the root."""
        names, placed = list[str](), self
        while placed.parent is not None:
            names.append(placed.drawn.name)
            placed = placed.parent
        return folded(reversed(names)) or NOT_DRAWN


def add_drawn(frames: Iterable[Drawn], tally: Tally) -> None:
    """Add the samples of a flame graph.

    The parent of a frame is the one below it that it overlaps most. Frames under 0.1 pixels were
    never drawn: their samples are their parent's.

    Raises
    ------
    Unreadable
        If the frames do not stand on one root, or one has more samples than that below it.

    """
    rows = _rows(frames)
    (root,), placed = rows[0], list[_Placed]()
    below = [_Placed(root, None)]
    for row in rows[1:]:
        placed += below
        below = _on(below, row)
    # A stack takes as long as it is deep, and a chain of equal frames has samples at its end alone.
    for frame in placed + below:
        if frame.room:
            tally.add(frame.stack(), frame.room)


def _rows(frames: Iterable[Drawn]) -> list[list[Drawn]]:
    """Return the frames by their height, from the root on, whichever way the picture stands."""
    ordered = sorted(frames, key=lambda frame: frame.y)
    rows = [list(row) for _, row in groupby(ordered, key=lambda frame: frame.y)]
    most = max(frame.samples for frame in ordered)
    ends = [row for row in (rows[-1], rows[0]) if [each.samples for each in row] == [most]]
    if not ends:
        raise Unreadable("its frames do not stand on one root; expected a flame graph as an SVG")
    named = [row for row in ends if row[0].name == _ALL]
    return rows if (named or ends)[0] is rows[0] else rows[::-1]


def _on(below: Sequence[_Placed], row: Iterable[Drawn]) -> list[_Placed]:
    """Return the frames of a row on those of the row below it."""
    parents = sorted(below, key=lambda each: each.drawn.x)
    starts = [each.drawn.x for each in parents]
    # The largest first: in a narrow place there is room for a narrow frame alone.
    ordered = sorted(row, key=lambda frame: frame.samples, reverse=True)
    return sorted(
        (_Placed(frame, _parent(frame, parents, starts)) for frame in ordered),
        key=lambda each: each.drawn.x,
    )


def _parent(frame: Drawn, parents: Sequence[_Placed], starts: Sequence[float]) -> _Placed:
    # Neighbours of no width have one place.
    first = bisect_left(starts, starts[max(0, bisect_right(starts, frame.x) - 1)]) - 1
    last = bisect_right(starts, frame.x + frame.width) + 1
    near = [
        each for each in parents[max(0, first) : last] if _overlap(each.drawn, frame) > -_ROUNDING
    ]
    fitting = [each for each in near if each.room >= frame.samples]
    if not fitting:
        raise Unreadable(f"the frame {shown(frame.name)} has no frame of its size below it")
    parent = max(fitting, key=lambda each: _overlap(each.drawn, frame))
    parent.room -= frame.samples
    return parent


def _overlap(one: Drawn, other: Drawn) -> float:
    """Return the common width, and below zero the distance."""
    return min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
