"""The chart of changes: for each metric a point with its interval, and worse to the left of zero.

Points of undecided metrics are hollow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, layer
from tidemark.report.blocks import Block, Chart, Mark, Table
from tidemark.report.numbers import change, interval

MOST = 40
"""The most metrics of the chart; more would be taller than a screen."""
_CAPTION = (
    "Changes of the pairs of trials with their 95 % intervals, worse to the left of zero. Δ in the "
    "table is the change of the means."
)
_LOWER = " A rise of 5 % is at −5 % if lower is better, and one of 100 % or more is at the edge."
_COLORS = {"slower": "var(--worse)", "faster": "var(--better)", "cannot tell": "var(--unclear)"}
_SAME = "var(--ink)"
_LEAST, _FARTHEST = 0.05, 1.0  # the ends of the axis, as shares
_ROW = 24  # pixels


class Change(NamedTuple):
    """The change of one metric, as it is drawn."""

    title: str
    unit: str
    direction: str
    """The better direction."""
    verdict: str
    change: float
    """(new - base) / base of the means."""
    effect: float | None
    """The same of the pairs, to which the interval belongs; None without pairs."""
    low: float | None
    high: float | None


def chart(changes: Sequence[Change], metrics: int, table: Table) -> Block:
    """Return the chart above the table of results, or the table if no metric has a change.

    ``metrics`` is the number of all metrics, also of those without a change.
    """
    if not changes:
        return table
    drawn = changes[:MOST]
    return Chart(
        caption=_caption(drawn, metrics),
        spec=specification(drawn),
        width=24,
        table=table,
        legend=tuple(_legend(each.verdict for each in drawn)),
        with_table=True,
    )


def specification(changes: Sequence[Change]) -> Json:
    """Return the chart of one change or more in Vega-Lite."""
    points = [_point(each) for each in changes]
    far = max(abs(point[end]) for point in points for end in ("gain", "low", "high"))
    far = min(_FARTHEST, max(_LEAST, 1.05 * far))
    return vega_lite.chart(
        height=_ROW * len(points) + _ROW,
        encoding={"y": _by_metric(points), "x": _by_gain(far)},
        layer=_layers(points),
    )


def _caption(drawn: Sequence[Change], metrics: int) -> str:
    lower = _LOWER if any(each.direction == "lower" for each in drawn) else ""
    left_out = metrics - len(drawn)
    more = f" The table has {left_out} more." if left_out else ""
    return f"{_CAPTION}{lower}{more}"


def _point(of: Change) -> Json:
    """Return the point of a metric, with gains above zero; without an interval it has no length."""
    sign = 1 if of.direction == "higher" else -1
    middle = of.change if of.effect is None else of.effect
    low, high = (middle if end is None else end for end in (of.low, of.high))
    return {
        "metric": of.title,
        "gain": min(_FARTHEST, max(-_FARTHEST, sign * middle)),
        "low": sign * low,
        "high": sign * high,
        "color": _COLORS.get(of.verdict, _SAME),
        "verdict": of.verdict,
        "change": change(of.change, of),
        "interval": interval(of, of),
    }


def _by_metric(points: Sequence[Json]) -> Json:
    return {
        "field": "metric",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"domain": [point["metric"] for point in points]},
        "axis": {"labelLimit": 340, "labelPadding": 12, "domain": False},
    }


def _by_gain(far: float) -> Json:
    return {
        "type": "quantitative",
        "title": "← worse\N{EM SPACE}\N{EM SPACE}\N{EM SPACE}better →",
        "scale": {"domain": [-far, far], "nice": False},
        # Above the points it is on the first screen, however many metrics there are.
        "axis": {
            "orient": "top",
            "format": "+~p",
            "labelExpr": "datum.value ? datum.label : '0\\u00a0%'",
            "tickCount": 5,
            "domain": False,
        },
    }


def _layers(points: Sequence[Json]) -> list[Json]:
    decided = [point for point in points if point["verdict"] != "cannot tell"]
    undecided = [point for point in points if point["verdict"] == "cannot tell"]
    color = {"field": "color", "type": "nominal", "scale": None}
    tooltip = [{"field": each} for each in ("metric", "change", "interval", "verdict")]
    of_gain = {"x": {"field": "gain"}, "color": color, "tooltip": tooltip}
    point: Json = {"type": "point", "shape": "circle", "size": 90, "opacity": 1, "strokeWidth": 2}
    return [
        layer(
            "zero", [{}], {"type": "rule", "color": "var(--quiet)"}, {"x": {"datum": 0}, "y": None}
        ),
        layer(
            "intervals",
            points,
            {"type": "rule", "strokeWidth": 2, "clip": True},
            {"x": {"field": "low"}, "x2": {"field": "high"}, "color": color, "tooltip": tooltip},
        ),
        layer("decided", decided, {**point, "filled": True}, of_gain),
        layer("undecided", undecided, {**point, "fill": "var(--page)"}, of_gain),
    ]


def _legend(words: Iterable[str]) -> Iterable[Mark]:
    for word in dict.fromkeys(words):
        symbol = "○" if word == "cannot tell" else "●"
        yield Mark(_COLORS.get(word, _SAME), symbol, word)
