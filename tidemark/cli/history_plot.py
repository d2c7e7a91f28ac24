"""The history of a suite as plots: in characters, and as charts in Vega-Lite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tidemark.client.history import BETTER, VersionHistory
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, figures, layer

_ROW = 24  # pixels


def plots(
    versions: Sequence[VersionHistory], headings: Mapping[str, str], width: int, *, exact: bool
) -> Iterator[str]:
    """Yield the lines of a plot for each figure, under its heading."""
    for name, heading in headings.items():
        points = list(_points(versions, name, exact=exact))
        if points:
            yield _title(versions, name, heading)
            yield from dot_plot(points, width)
            yield ""


def charts(versions: Sequence[VersionHistory], headings: Mapping[str, str]) -> list[Json]:
    """Return a chart for each figure: a point for each version, its spread and its text."""
    return [
        _chart(list(_points(versions, name, exact=False)), _title(versions, name, heading))
        for name, heading in headings.items()
    ]


def _points(versions: Sequence[VersionHistory], name: str, *, exact: bool) -> Iterator[Point]:
    several = len({version.sizes for version in versions}) > 1
    for version in versions:
        if figure := version.figures.get(name):
            spread = figure.spread or 0.0
            yield Point(
                f"{version.version}, {version.sizes}" if several else version.version,
                figure.text(exact=exact),
                figure.value - spread,
                figure.value,
                figure.value + spread,
            )


def _title(versions: Sequence[VersionHistory], name: str, heading: str) -> str:
    direction = next(each.figures[name].direction for each in versions if name in each.figures)
    return heading if heading.endswith(BETTER) else f"{heading}, {direction} is better"


def _chart(points: Sequence[Point], title: str) -> Json:
    rows = [point._asdict() | {"label": f"{point.name}   {point.text}"} for point in points]
    by_version = {"field": "label", "type": "nominal", "sort": None, "title": None}
    axis = {"labelLimit": 0, "domain": False}
    scale = {"zero": False, "nice": True}
    return vega_lite.chart(
        height=_ROW * len(points) + _ROW,
        encoding={
            "y": {**by_version, "axis": axis},
            "x": figures(title, {"tickCount": 8, "labelFlush": False}, scale=scale),
        },
        layer=[
            layer(
                "spreads",
                rows,
                {"type": "rule", "strokeWidth": 2, "color": "var(--quiet)"},
                {"x": {"field": "low"}, "x2": {"field": "high"}},
            ),
            layer(
                "figures",
                rows,
                {"type": "point", "filled": True, "size": 80, "opacity": 1},
                {"x": {"field": "value"}, "color": {"value": "var(--series-1)"}},
            ),
        ],
    )


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
