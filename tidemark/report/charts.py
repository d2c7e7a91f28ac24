"""Charts of lines over the seconds of a test, and of levels over the versions of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from tidemark.figures.version_rates import Quantity, VersionRate, mean
from tidemark.model.numerals import MISSING, figure, supported
from tidemark.model.results import TestResult, TrialResult
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, as_it_is, figures, layer, tooltip
from tidemark.report.blocks import Chart, Mark, Row, Table
from tidemark.report.marks import COLORS, MARKS, marked

# More points than a chart can show; the limit keeps the page of a long test small.
_MOST_POINTS = 200
_PARTS = _MOST_POINTS // 2 - 1
# The dashes of each group, which tell groups apart in print, too; the page has as many colours.
_DASHES = ([6, 3], [1, 0], [2, 2], [10, 3, 2, 3], [1, 0], [4, 2], [1, 0], [8, 2])
MOST_GROUPS = len(_DASHES)
CROSS: Json = {
    "type": "point", "shape": "cross", "angle": 45, "filled": True, "opacity": 1, "size": 90
}  # fmt: skip
HIT = Mark("var(--ink)", "✕", "a limit was hit")
"""The mark of a level of users that hit a limit, and its entry in a legend."""
LIMIT = Mark("var(--worse)", "┅", "limit")
"""The line of a limit, and its entry in a legend."""
# A limit that is farther above all values would press their lines together.
_NEAR = 2.0

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
    failed: Sequence[Line] = (),
    limit: float | None = None,
) -> Chart:
    """Return the chart of lines, from the start of the test to the end of the longest line.

    There are at most ``MOST_GROUPS`` groups; the caption names groups without a line. ``value`` is
    the quantity on the axis, with its unit. Lines are straight between points, or ``steps``. The
    points of ``failed`` lines are crosses: a limit was hit there. A ``limit`` is the greatest
    accepted value: it is drawn, or if it lies far above all values the caption has it.
    """
    names = [group.name for group in groups]
    measured = {line.group for line in series}
    if missing := [name for name in names if name not in measured]:
        caption += f" Without a line: {', '.join(missing)}."
    longest = max(second for line in series for second, _ in line.points) or 1.0
    largest = max(number for line in series for _, number in line.points)
    is_near = limit is not None and limit <= _NEAR * largest
    if limit is not None:
        where = "" if is_near else ", far above these values"
        caption += f" The limit is {limit:,.12g}{where}."
    return Chart(
        caption=caption,
        spec=vega_lite.chart(
            height=220,
            encoding={
                "x": figures(
                    "seconds since the test began",
                    # The label of an end stands at its place, and not within it.
                    # The 0 of this axis stands below the 0 of the other axis, and not on it.
                    {"grid": False, "tickCount": 8, "labelFlush": False, "labelPadding": 10},
                    field="second",
                    scale={"domain": [0, longest], "nice": False},
                ),
                "y": figures(value, {"tickCount": 5, "domain": False}, field="value"),
                "detail": {"field": "trial"},
                "tooltip": tooltip("version", "trial", numbers=("second", "value")),
            },
            layer=[
                *(
                    each
                    for place, name in enumerate(names)
                    for each in _layers(
                        place,
                        [line for line in series if line.group == name],
                        [each for line in failed if line.group == name for each in _points([line])],
                        steps=steps,
                    )
                ),
                *([limit_line(limit)] if limit is not None and is_near else []),
            ],
        ),
        width=24,
        table=table,
        legend=(
            *group_marks(names),
            *([HIT] if any(line.points for line in failed) else []),
            *([LIMIT] if is_near else []),
        ),
    )


def limit_line(limit: float) -> Json:
    """Return the line of a limit across a chart, on the axis of its field ``value``."""
    rule = {"type": "rule", "color": LIMIT.color, "strokeWidth": 2, "strokeDash": [6, 4]}
    return layer("limit", [{"value": limit}], rule, {"x": None, "tooltip": None, "detail": None})


def group_marks(names: Sequence[str]) -> Iterator[Mark]:
    """Yield the legend of the lines of groups, in order."""
    for place, name in enumerate(names):
        yield Mark(_color(place), "╍" if _DASHES[place][1] else "━", name)


def line_mark(place: int) -> Json:
    """Return the mark of the line of a group at a place in their order."""
    return {
        "type": "line",
        "strokeWidth": 1.8,
        "opacity": 0.85,
        "color": _color(place),
        "strokeDash": _DASHES[place],
    }


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


def _layers(
    place: int, series: Sequence[Line], failed: Sequence[Json], *, steps: bool
) -> Iterator[Json]:
    """Yield the lines of a group, points for lines without a length, and crosses of failures."""
    # Vega warns of a layer without points.
    if not series:
        return
    color = _color(place)
    mark = {
        **line_mark(place),
        "interpolate": "step-after" if steps else "linear",
        # A step is a piece of work; its end is the logged point.
        "point": {"color": color, "size": 30} if steps else False,
    }
    yield layer(f"series_{place + 1}", _points(series), mark, {})
    if lone := [] if steps else [line for line in series if len({*line.points}) == 1]:
        point = {"type": "point", "filled": True, "opacity": 1, "size": 30, "color": color}
        yield layer(f"points_{place + 1}", _points(lone), point, {})
    if failed:
        yield layer(f"failed_{place + 1}", failed, {**CROSS, "color": color}, {})


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


_NO_VERDICT = "var(--ink)"  # the base
_NONE = "nothing to compare"
_LEVEL_COLUMNS = ("Version", "Rate", "± spread", "Verdict")


class Level(NamedTuple):
    """The rate of one version."""

    rate: VersionRate
    word: str
    """The verdict against the version's base, '' without one; of a search, what it looks like."""
    told: str
    """The words of the verdict."""


def version_levels(quantity: Quantity, levels: Sequence[Level]) -> Chart:
    """Return the chart of the mean of each version ± its spread, in version order.

    At least one version has a rate.
    """
    name, metric = quantity.name, quantity.metric
    points = [_level_point(each) for each in levels if each.rate.value is not None]
    return Chart(
        caption=f"{name} by version, ± its spread over the trials; {metric.direction} is better",
        spec=vega_lite.chart(
            height=200,
            encoding={"x": _by_version(levels), "y": _by_rate(quantity, points)},
            layer=_level_layers(points),
        ),
        width=20,
        table=_level_table(quantity, levels),
        legend=tuple(_level_legend({each.word for each in levels})),
    )


def _level_point(level: Level) -> Json:
    rate = level.rate
    assert rate.value is not None
    spread = rate.spread or 0.0
    return {
        "version": rate.version,
        "rate": rate.value,
        "low": rate.value - spread,
        "high": rate.value + spread,
        "color": COLORS.get(level.word, _NO_VERDICT),
        "verdict": level.told or _NONE,
    }


def _by_version(levels: Sequence[Level]) -> Json:
    return {
        "field": "version",
        "type": "ordinal",
        "title": None,
        "scale": {"domain": [each.rate.version for each in levels]},
        "axis": {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4, "grid": False},
    }


def _by_rate(quantity: Quantity, points: Sequence[Json]) -> Json:
    """Return the axis of rates, on which rates that are the same look the same."""
    middle = mean([point["rate"] for point in points])
    room = 2 * quantity.metric.same_within * abs(middle)
    low = min(middle - room, *(point["low"] for point in points))
    high = max(middle + room, *(point["high"] for point in points))
    return figures(
        f"{quantity.name} [{quantity.metric.unit}]",
        {"tickCount": 5, "domain": False},
        scale={"domain": [low, high], "nice": True},
    )


def _level_layers(points: Sequence[Json]) -> list[Json]:
    color = as_it_is("color")
    of_rate = {"y": {"field": "rate"}}
    spreads = {"y": {"field": "low"}, "y2": {"field": "high"}, "color": color}
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    return [
        layer("levels", points, {"type": "line", "color": "var(--quiet)"}, of_rate),
        layer("spreads", points, {"type": "rule", "strokeWidth": 2}, spreads),
        layer(
            "rates",
            points,
            point,
            {
                **of_rate,
                "color": color,
                "tooltip": tooltip("version", "verdict", numbers=("rate",)),
            },
        ),
    ]


def _level_legend(words: Set[str]) -> Iterator[Mark]:
    for word in (each for each in MARKS if each in words):
        yield Mark(COLORS.get(word, _NO_VERDICT), "●", word)


def _level_table(quantity: Quantity, levels: Sequence[Level]) -> Table:
    return Table(
        caption=f"{quantity.name} by version [{quantity.metric.unit}]",
        columns=_LEVEL_COLUMNS,
        rows=tuple(Row(_level_cells(each)) for each in levels),
        numbers=frozenset(_LEVEL_COLUMNS[1:3]),
    )


def _level_cells(level: Level) -> tuple[str, ...]:
    rate = level.rate
    shown = (MISSING, "") if rate.value is None else supported(rate.value, rate.spread)
    told = marked(level.word) if level.word and level.word == level.told else level.told
    return rate.version, *shown, told or _NONE
