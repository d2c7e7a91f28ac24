"""The chart of a quantity over the versions of a run: the level, its spread and each verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from tidemark.figures.version_rates import Quantity, VersionRate, mean
from tidemark.model.numerals import MISSING, supported
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, as_it_is, figures, layer, tooltip
from tidemark.report.blocks import Chart, Mark, Row, Table
from tidemark.report.marks import MARKS, marked

_COLORS = {"slower": "var(--worse)", "faster": "var(--better)", "cannot tell": "var(--unclear)"}
_PLAIN = "var(--ink)"  # the base, and versions that are the same
_NONE = "nothing to compare"
_COLUMNS = ("Version", "Rate", "± spread", "Verdict")


class Level(NamedTuple):
    """The rate of one version."""

    rate: VersionRate
    word: str
    """The verdict against the version's base, '' without one; of a search, what it looks like."""
    told: str
    """The words of the verdict."""


def chart(quantity: Quantity, levels: Sequence[Level]) -> Chart:
    """Return the chart of the mean of each version ± its standard deviation, in version order.

    At least one version has a rate.
    """
    name, metric = quantity.name, quantity.metric
    points = [_point(each) for each in levels if each.rate.value is not None]
    return Chart(
        caption=f"{name} by version, ± its spread over the trials; {metric.direction} is better",
        spec=vega_lite.chart(
            height=200,
            encoding={"x": _by_version(levels), "y": _by_rate(quantity, points)},
            layer=_layers(points),
        ),
        width=20,
        table=_table(quantity, levels),
        legend=tuple(_legend({each.word for each in levels})),
    )


def _point(level: Level) -> Json:
    rate = level.rate
    assert rate.value is not None
    spread = rate.spread or 0.0
    return {
        "version": rate.version,
        "rate": rate.value,
        "low": rate.value - spread,
        "high": rate.value + spread,
        "color": _COLORS.get(level.word, _PLAIN),
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


def _layers(points: Sequence[Json]) -> list[Json]:
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
            {**of_rate, "color": color, "tooltip": tooltip("version", "rate", "verdict")},
        ),
    ]


def _legend(words: Set[str]) -> Iterator[Mark]:
    for word in (each for each in MARKS if each in words):
        yield Mark(_COLORS.get(word, _PLAIN), "●", word)


def _table(quantity: Quantity, levels: Sequence[Level]) -> Table:
    return Table(
        caption=f"Rates of {quantity.name} by version [{quantity.metric.unit}]",
        columns=_COLUMNS,
        rows=tuple(Row(_cells(each)) for each in levels),
        numbers=frozenset(_COLUMNS[1:3]),
    )


def _cells(level: Level) -> tuple[str, ...]:
    rate = level.rate
    shown = (MISSING, "") if rate.value is None else supported(rate.value, rate.spread)
    told = marked(level.word) if level.word and level.word == level.told else level.told
    return rate.version, *shown, told or _NONE
