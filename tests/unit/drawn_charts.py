"""The content of a chart, from the SVG that Vega draws: its marks, and the figures of its axes.

A mark's figure is read off the labels of the axes, as people read it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_SVG = "{http://www.w3.org/2000/svg}"
_MOVED = re.compile(r"translate\(([^,)]+),([^)]+)\)")
_POINT = re.compile(r"[ML]([^,]+),([^MLZ]+)")
_TURNED = "rotate("
# From a place to that of its label: axes stand half a pixel beside their places, and a line of text
# on its baseline.
_BESIDE, _BELOW = 0.5, 4.5


class Place(NamedTuple):
    """A place in a chart [pixels]."""

    x: float
    y: float


class Drawn(NamedTuple):
    """A mark: a point, a line from the first place to the last, or a text."""

    places: Sequence[Place]
    color: str
    filled: bool
    text: str = ""
    shape: str = ""

    @property
    def at(self) -> Place:
        """The first place."""
        return self.places[0]


class Axis(NamedTuple):
    """The labels of an axis with their places [pixels], and its title."""

    title: str
    labels: Sequence[tuple[str, float]]

    def value(self, pixel: float) -> float:
        """Return the figure at a place, between the figures of the labels.

        An axis with one label has this figure everywhere.
        """
        (first, start), (last, end) = self.numbers[0], self.numbers[-1]
        if start == end:
            return first
        return first + (last - first) * (pixel - start) / (end - start)

    @property
    def unit(self) -> float:
        """The figure that a pixel stands for."""
        return abs(self.value(1) - self.value(0))

    @property
    def numbers(self) -> list[tuple[float, float]]:
        """The figures of the labels with their places."""
        return [(number(text), at) for text, at in self.labels]

    def nearest(self, pixel: float) -> str:
        """Return the label next to a place."""
        return min(self.labels, key=lambda label: abs(label[1] - pixel))[0]


class Plot(NamedTuple):
    """One chart."""

    x: Axis
    y: Axis
    width: float
    height: float
    marks: Mapping[str, Sequence[Drawn]]
    """The marks by the name of their layer; a joined chart's names end in its number."""

    def named(self, name: str) -> Sequence[Drawn]:
        """Return the marks of the layer of this name, none if nothing of it is drawn."""
        return [mark for each, marks in self.marks.items() for mark in marks
                if re.fullmatch(rf"(layer_\d+_)*{name}(_\d+)?(_layer_\d+)*", each)]  # fmt: skip

    def in_row(self, row: int, name: str) -> Sequence[Drawn]:
        """Return the marks of a layer in a row, the first being 0; rows are equally high.

        On a narrow screen labels stand above the marks of their rows.
        """
        high = self.height / len(self.y.labels)
        return [mark for mark in self.named(name) if mark.at.y // high == row]


def number(text: str) -> float:
    """Return the number of a label or cell: ``1.2 M`` is 1,200,000, ``−3 %`` is -0.03."""
    found = re.fullmatch(r"([+\-\N{MINUS SIGN}]?)([\d,.]+)\s?([GMk%]?)", text.strip())
    assert found, f"{text!r} is not a number"
    sign, digits, unit = found.groups()
    factor = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "%": 0.01}[unit]
    return float(digits.replace(",", "")) * factor * (1 if sign in {"", "+"} else -1)


def reading(text: str) -> tuple[float, float]:
    """Return the number of a cell, and half a unit of its last digit.

    A change of ``2.6 times as long`` is 1.6.
    """
    times = re.fullmatch(r"([\d.,]+)(?: times(?: as \w+)?)?", text)
    if times and "times" in text:
        value, half = reading(times[1])
        return value - 1, half
    digits = re.search(r"[\d,]+(?:\.(\d+))?", text)
    assert digits, f"{text!r} is not a number"
    places = len(digits[1] or "")
    unit = number("1" + text[digits.end() :])
    return number(text), 0.51 * unit / 10**places


def interval(text: str) -> list[tuple[float, float]]:
    """Return both ends of an interval as ``reading`` does."""
    low, high = text.split(" to ")
    ending = " times" if high.endswith("times") else ""
    return [reading(low + ending), reading(high)]


def plots(svg: str) -> list[Plot]:
    """Return the charts of an SVG, from top to bottom."""
    root = ElementTree.fromstring(svg)
    groups = [each for each in root.iter(f"{_SVG}g") if _is_plot(each)]
    return [_plot(each) for each in groups]


def _is_plot(group: Element) -> bool:
    return any("role-axis" in _roles(each) for each, _ in _inner(group, Place(0, 0)))


def _roles(group: Element) -> list[str]:
    return group.get("class", "").split()


def _inner(group: Element, at: Place) -> Iterator[tuple[Element, Place]]:
    """Yield the groups of marks that a group of Vega has, with their origin."""
    for item in group.findall(f"{_SVG}g[@transform]"):
        for content in item.findall(f"{_SVG}g"):
            yield from ((each, _moved(item, at)) for each in content)


def _plot(group: Element) -> Plot:
    at = _origin(group)
    axes = [each for each, _ in _inner(group, at) if "role-axis" in _roles(each)]
    labelled = [_axis(each) for each in axes]
    background = group.find(f"{_SVG}g/{_SVG}path[@class='background']")
    assert background is not None
    width, height = re.match(r"M[\d.]+,[\d.]+h([\d.]+)v([\d.]+)", background.get("d", "")).groups()
    marks: defaultdict[str, list[Drawn]] = defaultdict(list)
    for name, mark in _marks(group, at):
        marks[name].append(mark)
    x, y = (next(axis for is_x, axis in labelled if axis and is_x == wanted)
            for wanted in (True, False))  # fmt: skip
    return Plot(x, y, float(width), float(height), marks)


def _origin(group: Element) -> Place:
    """Return the place at which a plot's own places are zero."""
    item = group.find(f"{_SVG}g[@transform]")
    assert item is not None
    moved = _moved(item, Place(0, 0))
    return Place(-moved.x, -moved.y)


def _axis(group: Element) -> tuple[bool, Axis | None]:
    """Return whether an axis is horizontal, and its labels; None for a grid."""
    labels: list[tuple[Element, Place]] = []
    title = ""
    for kind, element, place in _texts(group, Place(0, 0)):
        if kind == "role-axis-label" and element.get("opacity") != "0":
            labels.append((element, place))
        elif kind == "role-axis-title":
            title = element.text or ""
    if not labels:
        return True, None
    is_x = len({place.y for _, place in labels}) == 1
    if len(labels) == 1:
        is_x = labels[0][0].get("text-anchor") == "middle"
    ends = [
        (_text(element), place.x - _BESIDE if is_x else place.y - _BELOW)
        for element, place in labels
    ]
    return is_x, Axis(title, ends)


def _text(element: Element) -> str:
    """Return a text, whose lines are parts of their own."""
    return element.text or " ".join(line.text or "" for line in element)


def _texts(group: Element, at: Place) -> Iterator[tuple[str, Element, Place]]:
    kind = group.get("class", "").rpartition(" ")[2]
    for each in group:
        place = _moved(each, at)
        if each.tag == f"{_SVG}text":
            yield kind, each, place
        yield from _texts(each, place)


def _moved(element: Element, at: Place) -> Place:
    text = element.get("transform", "").partition(_TURNED)[0]
    found = _MOVED.match(text)
    return Place(at.x + float(found[1]), at.y + float(found[2])) if found else at


def _marks(group: Element, at: Place) -> Iterator[tuple[str, Drawn]]:
    """Yield the marks below a group of content with the names of their layers."""
    for each, origin in _inner(group, at):
        kind = _roles(each)
        if "role-axis" in kind or "role-title" in kind:
            continue
        if "mark-group" in kind:
            yield from _marks(each, origin)
            continue
        for mark in each:
            yield kind[-1].removesuffix("_marks"), _drawn(mark, origin)


def _drawn(mark: Element, at: Place) -> Drawn:
    place = _moved(mark, at)
    fill, stroke = (mark.get(name, "none") for name in ("fill", "stroke"))
    color = stroke if stroke != "none" else fill
    filled = fill == color
    if mark.tag == f"{_SVG}line":
        x, y = float(mark.get("x2", 0)), float(mark.get("y2", 0))
        return Drawn([place, Place(place.x + x, place.y + y)], color, filled)
    if mark.tag == f"{_SVG}text":
        return Drawn([place], color, filled, mark.text or "")
    path = mark.get("d", "")
    if mark.get("transform"):
        return Drawn([place], color, filled, shape=path)
    return Drawn([Place(float(x), float(y)) for x, y in _POINT.findall(path)], color, filled)
