"""A flame graph as an SVG, of flamegraph.pl or inferno, gives its frames back.

Source: FlameGraph, flamegraph.pl; inferno, src/flamegraph. Both draw a frame as a group with a
title, ``name (1,234 samples, 5.67%)``, and a rectangle. Other groups of the picture have no title.
The first flamegraph.pl of 2011 has the title in the ``onmouseover`` of the rectangle.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.parsers import expat

from tidemark.figures.profiles.folded_stacks import folded
from tidemark.model.sentences import shown
from tidemark.store.folded_file import Content, Tally, Unreadable, unreadable_at

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
    """Return the frames of a row, each on its frame of the row below."""
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
        raise Unreadable(f"no frame below {shown(frame.name)} has room for it")
    parent = max(fitting, key=lambda each: _overlap(each.drawn, frame))
    parent.room -= frame.samples
    return parent


def _overlap(one: Drawn, other: Drawn) -> float:
    """Return the common width, and below zero the distance."""
    return min(one.x + one.width, other.x + other.width) - max(one.x, other.x)


_TITLE = re.compile(
    r"(?P<name>.*) \((?P<samples>\d[\d,]{0,24}) (?P<unit>[^(),]+), [\d.]+%(?:; [-+]?[\d.]+%)?\)",
    re.DOTALL,
)
_HOVERED = re.compile(r"s\('(.*)'\);?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_MOST_FRAMES = 500_000
_LONGEST_TITLE = 1 << 16


class _Reader:
    """The frames of a picture while it is parsed."""

    def __init__(self) -> None:
        self.frames: list[Drawn] = []
        self.units: dict[str, None] = {}
        self.root = ""
        # Profilers write UTF-8. A declared encoding is a name for Python, which may have none of
        # that name, or one that is not of texts.
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        # A picture has no entities of its own, and their expansion takes any amount of memory.
        parser.EntityDeclHandler = self._refuse_entity
        self._title: str | None = None
        self._is_title = False

    def read(self, content: Content) -> None:
        try:
            for part in content.chunks():
                self._parser.Parse(part, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            words = expat.ErrorString(error.code)
            raise unreadable_at(
                error.lineno, f"the SVG is cut off or is not XML: {words}"
            ) from None

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.root:
            self.root = name
        if name in {"g", "a"}:
            self._title = None
        elif name == "title":
            self._title, self._is_title = "", True
        elif name == "rect":
            title = self._title or _hovered(attributes)
            self._title = None
            if title is not None:
                self._draw(title, attributes)

    def _end(self, name: str) -> None:
        if name == "title":
            self._is_title = False
        elif name in {"g", "a"}:
            self._title = None

    def _text(self, text: str) -> None:
        if self._is_title and self._title is not None:
            self._title += text
            if len(self._title) > _LONGEST_TITLE:
                raise self._unreadable(f"a title has more than {_LONGEST_TITLE:,} characters")

    def _refuse_entity(self, *_: object) -> None:
        raise self._unreadable("it declares an entity, which no flame graph has")

    def _draw(self, title: str, attributes: Mapping[str, str]) -> None:
        found = _TITLE.fullmatch(title)
        if found is None:
            raise self._unreadable(f"the frame {shown(title)} has no samples in its title")
        if len(self.frames) == _MOST_FRAMES:
            raise Unreadable(f"the SVG has more than {_MOST_FRAMES:,} frames")
        try:
            x, width, y = (float(attributes[key].rstrip("%")) for key in ("x", "width", "y"))
        except (KeyError, ValueError):
            raise self._unreadable(f"the frame {shown(title)} has no position") from None
        samples = int(found["samples"].replace(",", ""))
        self.units[found["unit"]] = None
        self.frames.append(Drawn(found["name"], samples, x, width, y))

    def _unreadable(self, sentence: str) -> Unreadable:
        return unreadable_at(self._parser.CurrentLineNumber, sentence)


def _hovered(attributes: Mapping[str, str]) -> str | None:
    """Return the title in the script of a rectangle, None for one without."""
    found = _HOVERED.fullmatch(attributes.get("onmouseover", ""))
    return found and _ESCAPED.sub(r"\1", found[1]).replace("all samples (", "all (", 1)


def drawn_frames(content: Content) -> tuple[list[Drawn], str]:
    """Return the frames of a flame graph, and the unit of their numbers.

    Raises
    ------
    Unreadable
        If the file is not a whole SVG, or no flame graph.

    """
    reader = _Reader()
    reader.read(content)
    if reader.root != "svg" or not reader.frames:
        raise Unreadable("it has no frames with samples; expected a flame graph as an SVG")
    if len(reader.units) > 1:
        raise Unreadable(f"its frames count {' and '.join(reader.units)}; expected one unit")
    return reader.frames, next(iter(reader.units))
