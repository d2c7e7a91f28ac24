"""A chart of lines over the seconds of a test, in groups, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lambdas.report.blocks import Chart, Mark, Row, Table
from lambdas.results import TestResult, TrialResult
from pages import vega_lite
from pages.vega_lite import Json, layer

# More than a chart can show; a page stays small, however long a test was.
_MOST_POINTS = 200
# By group, so that they are told apart in print too; the page has as many colours.
_DASHES = ([6, 3], [1, 0], [2, 2], [10, 3, 2, 3], [1, 0], [4, 2], [1, 0], [8, 2])
MOST_GROUPS = len(_DASHES)

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Group:
    """The trials of a version, or of a side of a comparison, with what a test gave in each."""

    name: str
    results: Sequence[tuple[TrialResult, TestResult]]


@dataclass(frozen=True)
class Line:
    """What was seen of one trial over time."""

    group: str
    trial: int
    points: Points
    """Seconds since the test began, and a value; in order of time."""


def lines(
    caption: str,
    groups: Sequence[Group],
    drawn: Sequence[Line],
    value: str,
    table: Table,
    *,
    steps: bool = False,
) -> Chart:
    """Return the chart of lines, from the beginning to the end of the longest.

    There are ``MOST_GROUPS`` groups at most; those without a line are named in the caption.
    ``value`` is what the lines show, with its unit; between points they are straight, or ``steps``.
    """
    names = [group.name for group in groups]
    known = {line.group for line in drawn}
    if missing := [name for name in names if name not in known]:
        caption += f" Not measured: {', '.join(missing)}."
    longest = max(second for line in drawn for second, _ in line.points)
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
                _layer(place, [line for line in drawn if line.group == name], steps=steps)
                for place, name in enumerate(names)
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
    drawn: Sequence[Line],
    figures: Callable[[Points], Iterable[str]],
) -> Table:
    """Return the table of lines: of each what ``figures`` gives of its points, by column."""
    return Table(
        caption=caption,
        columns=("Version", "Trial", *columns),
        rows=tuple(Row((line.group, str(line.trial), *figures(line.points))) for line in drawn),
        numbers=frozenset(columns),
    )


def _layer(place: int, drawn: Sequence[Line], *, steps: bool) -> Json:
    color = _color(place)
    mark = {
        "type": "line",
        "strokeWidth": 1.8,
        "opacity": 0.85,
        "interpolate": "step-after" if steps else "linear",
        "color": color,
        "strokeDash": _DASHES[place],
        # A step is a piece of work; its end is what was logged.
        "point": {"color": color, "size": 30} if steps else False,
    }
    points = [point for line in drawn for point in _points(line)]
    return layer(f"series_{place + 1}", points, mark, {})


def _color(place: int) -> str:
    return f"var(--series-{place + 1})"


def _points(line: Line) -> list[Json]:
    return [
        {"second": round(second, 3), "value": value, "version": line.group, "trial": line.trial}
        for second, value in _thinned(line.points)
    ]


def _thinned(points: Points) -> Points:
    """Return the points, or of many an even choice with the first and the last."""
    if len(points) <= _MOST_POINTS:
        return points
    step = (len(points) - 1) / (_MOST_POINTS - 1)
    return [points[round(number * step)] for number in range(_MOST_POINTS)]
