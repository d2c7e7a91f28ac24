"""A chart of lines over the seconds of a test, in groups, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from tidemark.model.numerals import figure
from tidemark.model.results import TestResult, TrialResult
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, figures, layer, tooltip
from tidemark.report.blocks import Chart, Mark, Row, Table

# More points than a chart can show; the limit keeps the page of a long test small.
_MOST_POINTS = 200
_PARTS = _MOST_POINTS // 2 - 1
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
        caption += f" Without a line: {', '.join(missing)}."
    longest = max(second for line in series for second, _ in line.points) or 1.0
    return Chart(
        caption=caption,
        spec=vega_lite.chart(
            height=220,
            encoding={
                "x": figures(
                    "seconds since the test began",
                    # The label of an end stands at its place, and not within it.
                    {"grid": False, "tickCount": 8, "labelFlush": False},
                    field="second",
                    scale={"domain": [0, longest], "nice": False},
                ),
                "y": figures(value, {"tickCount": 5, "domain": False}, field="value"),
                "detail": {"field": "trial"},
                "tooltip": tooltip("version", "trial", "second", "value"),
            },
            layer=[
                each
                for place, name in enumerate(names)
                for each in _layers(
                    place, [line for line in series if line.group == name], steps=steps
                )
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
    cells: Callable[[Points], Iterable[str]],
) -> Table:
    """Return the table of lines, with the ``cells`` of each line's points by column."""
    return Table(
        caption=caption,
        columns=("Version", "Trial", *columns),
        rows=tuple(Row((line.group, str(line.trial), *cells(line.points))) for line in series),
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


def _layers(place: int, series: Sequence[Line], *, steps: bool) -> Iterator[Json]:
    """Yield the lines of a group, and points for lines that have no length to be seen."""
    # Vega warns of a layer without points.
    if not series:
        return
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
    yield layer(f"series_{place + 1}", _points(series), mark, {})
    if lone := [] if steps else [line for line in series if len({*line.points}) == 1]:
        point = {"type": "point", "filled": True, "opacity": 1, "size": 30, "color": color}
        yield layer(f"points_{place + 1}", _points(lone), point, {})


def _color(place: int) -> str:
    return f"var(--series-{place + 1})"


def _points(series: Iterable[Line]) -> list[Json]:
    return [
        {"second": round(second, 3), "value": value, "version": line.group, "trial": line.trial}
        for line in series
        for second, value in _drawn(line.points)
    ]


def _drawn(points: Points) -> Points:
    """Return points, or if there are too many the ends and the extremes of equal parts."""
    if len(points) <= _MOST_POINTS:
        return points
    first, *inner, last = points
    ends = [len(inner) * number // _PARTS for number in range(_PARTS + 1)]
    parts = (inner[start:end] for start, end in pairwise(ends))
    return [first, *(each for part in parts for each in _extremes(part)), last]


def _extremes(points: Points) -> Points:
    """Return the points of the least and of the largest value, in order of time."""
    by_value = sorted(enumerate(points), key=lambda each: each[1][1])
    return [point for _, point in sorted((by_value[0], by_value[-1]))]
