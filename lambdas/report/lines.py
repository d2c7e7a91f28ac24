"""A chart of lines over the seconds of a test, in one or two groups, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lambdas.report.blocks import Chart, Mark, Table
from lambdas.report.vega import CONFIG, SCHEMA, Json, layer

# More than a chart can show; a page stays small, however long a test was.
_MOST_POINTS = 200
# By group: the colour, the page's class of it, and the dashes that tell them apart in print.
_STYLES = (
    ("var(--base)", "base", [6, 3]),
    ("var(--new)", "new", [1, 0]),
)


@dataclass(frozen=True)
class Line:
    """What was seen of one thing over time."""

    of: str
    group: str
    points: Sequence[tuple[float, float]]
    """Seconds since the test began, and a value; in order of time."""


def lines(
    caption: str, groups: Sequence[str], drawn: Sequence[Line], value: str, table: Table
) -> Chart:
    """Return the chart of lines, from the beginning to the end of the longest.

    ``groups`` names one or two, in the order of the legend; ``value`` is what the lines show,
    with its unit.
    """
    longest = max(second for line in drawn for second, _ in line.points)
    styles = dict(zip(groups, _STYLES, strict=False))
    return Chart(
        caption=caption,
        spec={
            "$schema": SCHEMA,
            "width": "container",
            "height": 240,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "config": CONFIG,
            "encoding": {
                "x": {
                    "field": "s",
                    "type": "quantitative",
                    "title": "seconds since the test began",
                    "scale": {"domain": [0, longest], "nice": False},
                    "axis": {"grid": False, "tickCount": 8},
                },
                "y": {
                    "field": "value",
                    "type": "quantitative",
                    "title": value,
                    "axis": {"tickCount": 5, "domain": False},
                },
                "detail": {"field": "of"},
                "tooltip": [{"field": "of"}, {"field": "s"}, {"field": "value"}],
            },
            "layer": [
                _layer(group, [line for line in drawn if line.group == group], *styles[group])
                for group in groups
            ],
        },
        width=24,
        table=table,
        legend=tuple(
            Mark(kind, "━" if dash[1] == 0 else "╍", group)
            for group, (_, kind, dash) in styles.items()
        ),
    )


def _layer(group: str, drawn: Sequence[Line], color: str, kind: str, dash: list[int]) -> Json:
    points = [
        {"s": round(second, 3), "value": value, "of": line.of}
        for line in drawn
        for second, value in _thinned(line.points)
    ]
    mark = {
        "type": "line", "interpolate": "step-after", "color": color, "strokeDash": dash,
        "strokeWidth": 1.8, "opacity": 0.85,
    }  # fmt: skip
    return layer(kind, points, mark, {})


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points, or of many an even choice with the first and the last."""
    if len(points) <= _MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (_MOST_POINTS - 1)
    return [points[round(number * step)] for number in range(_MOST_POINTS)]
