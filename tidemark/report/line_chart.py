"""A chart of lines over the seconds of a test, in groups, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from tidemark.figures.series_points import thinned
from tidemark.model.results import TestResult, TrialResult
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, layer
from tidemark.report.blocks import Chart, Mark, Row, Table
from tidemark.report.numbers import figure

# More points than a chart can show; the limit keeps the page of a long test small.
_MOST_POINTS = 200
# The dashes of each group, which tell groups apart in print, too; the page has as many colours.
_DASHES = ([6, 3], [1, 0], [2, 2], [10, 3, 2, 3], [1, 0], [4, 2], [1, 0], [8, 2])
MOST_GROUPS = len(_DASHES)

Points = Sequence[tuple[float, float]]


class Group(NamedTuple):
    """The results of a test in the trials of a version, or of a side of a comparison."""

    name: str
    results: Sequence[tuple[TrialResult, TestResult]]


class Line(NamedTuple):
    """A value of one trial over time."""

    group: str
    trial: int
    points: Points
    """Seconds since the start of the test with the value, in order of time."""


def lines(
    caption: str,
    groups: Sequence[Group],
    series: Sequence[Line],
    value: str,
    table: Table,
    *,
    steps: bool = False,
) -> Chart:
    """Return the chart of lines, from the start of the test to the end of the longest line.

    There are at most ``MOST_GROUPS`` groups; the caption names groups without a line. ``value`` is
    the quantity on the axis, with its unit. Lines are straight between points, or ``steps``.
    """
    names = [group.name for group in groups]
    measured = {line.group for line in series}
    if missing := [name for name in names if name not in measured]:
        caption += f" Not measured: {', '.join(missing)}."
    longest = max(second for line in series for second, _ in line.points)
    return Chart(
        caption=caption,
        spec=vega_lite.chart(
            height=220,
            encoding={
                "x": {
                    "field": "second",
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
                "detail": {"field": "trial"},
                "tooltip": [{"field": each} for each in ("version", "trial", "second", "value")],
            },
            layer=[
                _layer(place, [line for line in series if line.group == name], steps=steps)
                for place, name in enumerate(names)
                # Vega warns of a layer without points.
                if any(line.group == name for line in series)
            ],
        ),
        width=24,
        table=table,
        legend=tuple(
            Mark(_color(place), "╍" if _DASHES[place][1] else "━", name)
            for place, name in enumerate(names)
        ),
    )


def by_trial(
    caption: str,
    columns: Sequence[str],
    series: Sequence[Line],
    figures: Callable[[Points], Iterable[str]],
) -> Table:
    """Return the table of lines, with the ``figures`` of each line's points by column."""
    return Table(
        caption=caption,
        columns=("Version", "Trial", *columns),
        rows=tuple(Row((line.group, str(line.trial), *figures(line.points))) for line in series),
        numbers=frozenset(columns),
    )


def means_and_largest(caption: str, series: Sequence[Line]) -> Table:
    """Return the table of lines, with the mean and the largest value of each line."""
    return by_trial(
        caption,
        ("Mean", "Largest", "Points"),
        series,
        lambda points: (
            figure(fmean(value for _, value in points)),
            figure(max(value for _, value in points)),
            str(len(points)),
        ),
    )


def _layer(place: int, series: Sequence[Line], *, steps: bool) -> Json:
    color = _color(place)
    mark = {
        "type": "line",
        "strokeWidth": 1.8,
        "opacity": 0.85,
        "interpolate": "step-after" if steps else "linear",
        "color": color,
        "strokeDash": _DASHES[place],
        # A step is a piece of work; its end is the logged point.
        "point": {"color": color, "size": 30} if steps else False,
    }
    points = [point for line in series for point in _points(line)]
    return layer(f"series_{place + 1}", points, mark, {})


def _color(place: int) -> str:
    return f"var(--series-{place + 1})"


def _points(line: Line) -> list[Json]:
    return [
        {"second": round(second, 3), "value": value, "version": line.group, "trial": line.trial}
        for second, value in thinned(line.points, _MOST_POINTS)
    ]
