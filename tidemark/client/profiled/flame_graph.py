"""A flame graph as an SVG, of flamegraph.pl or inferno, gives its frames back.

Source: FlameGraph, flamegraph.pl; inferno, src/flamegraph. Both draw a frame as a group with a
title, ``name (1,234 samples, 5.67%)``, and a rectangle. Other groups of the picture have no title.
The first flamegraph.pl of 2011 has the title in the ``onmouseover`` of the rectangle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.parsers import expat

from tidemark.client.profiled.towers import Drawn
from tidemark.model.sentences import shown
from tidemark.store.profiles.file_content import Content, Unreadable, unreadable_at

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
            raise unreadable_at(error.lineno, f"the SVG is cut off or no XML: {words}") from None

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
        If the file is no whole SVG, or no flame graph.

    """
    reader = _Reader()
    reader.read(content)
    if reader.root != "svg" or not reader.frames:
        raise Unreadable("it has no frames with samples; expected a flame graph as an SVG")
    if len(reader.units) > 1:
        raise Unreadable(f"its frames count {' and '.join(reader.units)}; expected one unit")
    return reader.frames, next(iter(reader.units))
