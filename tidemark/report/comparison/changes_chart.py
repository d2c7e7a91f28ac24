"""The chart of changes: for each metric a point with its interval, and worse to the left of zero.

Points of undecided metrics, and of those that unlike machines measured, are hollow.
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
_CAPTION = "Δ of each metric with its 95 % interval; worse is left of zero for every metric."
_AT_EDGE = " What worsened by 100 % or more is at the edge."
# The points of other verdicts are hollow.
_COLORS = {"slower": "var(--worse)", "faster": "var(--better)", "same": "var(--ink)"}
_UNCLEAR = "var(--unclear)"
_LEAST, _FARTHEST = 0.05, 1.0  # the ends of the axis, as shares
_ROW, _ABOVE = 28, 11  # pixels: of a metric, and from its point to a label above it
# A phone has no room for names beside the points.
_NARROW = "containerSize()[0] < 480"


class Change(NamedTuple):
    """The change of one metric, as it is drawn."""

    title: str
    unit: str
    direction: str
    """The better direction."""
    verdict: str
    effect: float
    """The change that the verdict judges, to which the interval belongs: 0.1 is 10 % more."""
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
        width=20,
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
    is_far = any(each.direction == "lower" and each.effect >= _FARTHEST for each in drawn)
    left_out = metrics - len(drawn)
    more = f" The table has {left_out} more." if left_out else ""
    return f"{_CAPTION}{_AT_EDGE if is_far else ''}{more}"


def _point(of: Change) -> Json:
    """Return the point of a metric, with gains above zero; without an interval it has no length."""
    sign = 1 if of.direction == "higher" else -1
    low, high = (of.effect if end is None else end for end in (of.low, of.high))
    return {
        "metric": of.title,
        "gain": min(_FARTHEST, max(-_FARTHEST, sign * of.effect)),
        "low": sign * low,
        "high": sign * high,
        "color": _COLORS.get(of.verdict, _UNCLEAR),
        "verdict": of.verdict,
        "change": change(of.effect, of),
        "interval": interval(of, of),
    }


def _by_metric(points: Sequence[Json]) -> Json:
    return {
        "field": "metric",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"domain": [point["metric"] for point in points]},
        "axis": {
            "labelAlign": {"expr": f"{_NARROW} ? 'left' : 'right'"},
            "labelOffset": {"expr": f"{_NARROW} ? -{_ABOVE} : 0"},
            "labelPadding": {"expr": f"{_NARROW} ? 0 : 12"},
            "labelLimit": 340,
            "domain": False,
        },
    }


def _by_gain(far: float) -> Json:
    return {
        "type": "quantitative",
        "title": "← worse\N{EM SPACE}\N{EM SPACE}\N{EM SPACE}better →",
        "scale": {"domain": [-far, far], "nice": False},
        # Above the points it is on the first screen, however many metrics there are.
        "axis": {
            "orient": "top",
            # Which side is worse is said above: the figure of a slower latency itself rises.
            "format": "~p",
            "labelExpr": "replace(datum.label, '\\u2212', '')",
            "tickCount": 5,
            "labelPadding": 6,
            "domain": False,
        },
    }


def _layers(points: Sequence[Json]) -> list[Json]:
    decided = [point for point in points if point["verdict"] in _COLORS]
    undecided = [point for point in points if point["verdict"] not in _COLORS]
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
        symbol = "●" if word in _COLORS else "○"
        yield Mark(_COLORS.get(word, _UNCLEAR), symbol, word)
