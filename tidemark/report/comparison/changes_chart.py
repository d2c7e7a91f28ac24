"""The chart of changes: for each metric a point with its interval, and worse to the left of zero.

Points of undecided metrics are hollow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, layer
from tidemark.report.blocks import Block, Chart, Mark, Table
from tidemark.report.comparison.sides import Pair
from tidemark.report.numbers import change, interval

MOST = 40
"""The most metrics of the chart; more would be taller than a screen."""
_CAPTION = (
    "Changes with their 95 % intervals. Left of zero is worse, for every metric: a rise of 5 % is "
    "at −5 % if lower is better, and one of 100 % or more is at the edge."
)
_COLORS = {"slower": "var(--worse)", "faster": "var(--better)", "cannot tell": "var(--unclear)"}
_SAME = "var(--ink)"
_LEAST, _FARTHEST = 0.05, 1.0  # the ends of the axis, as shares
_ROW = 24  # pixels


def chart(pairs: Sequence[Pair], table: Table) -> Block:
    """Return the chart above the table of results, or the table if no metric has a change."""
    points = [
        _point(pair, pair.verdict)
        for pair in pairs[:MOST]
        if pair.verdict and pair.verdict.change is not None
    ]
    if not points:
        return table
    far = max(abs(point[end]) for point in points for end in ("gain", "low", "high"))
    far = min(_FARTHEST, max(_LEAST, 1.05 * far))
    return Chart(
        caption=_caption(len(points), len(pairs)),
        spec=vega_lite.chart(
            height=_ROW * len(points) + _ROW,
            encoding={"y": _by_metric(points), "x": _by_gain(far)},
            layer=_layers(points),
        ),
        width=24,
        table=table,
        legend=tuple(_legend(point["verdict"] for point in points)),
        with_table=True,
    )


def _caption(drawn: int, metrics: int) -> str:
    return f"{_CAPTION} The table has {metrics - drawn} more." if drawn < metrics else _CAPTION


def _point(pair: Pair, verdict: Verdict) -> Json:
    """Return the point of a metric, with gains above zero; without an interval it has no length."""
    judgement, metric = verdict.judgement, pair.metric
    sign = 1 if metric.direction == "higher" else -1
    middle = verdict.change if judgement.effect is None else judgement.effect
    ends = [middle if end is None else end for end in (judgement.low, judgement.high)]
    return {
        "metric": pair.title,
        "gain": min(_FARTHEST, max(-_FARTHEST, sign * (middle or 0.0))),
        "low": sign * (ends[0] or 0.0),
        "high": sign * (ends[1] or 0.0),
        "color": _COLORS.get(judgement.word, _SAME),
        "verdict": judgement.word,
        "change": change(verdict.change, metric),
        "interval": interval(judgement, metric),
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
        "axis": {"format": "+~p", "tickCount": 5, "domain": False},
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
