"""The chart of changes: for each metric a point with its interval, and worse to the left of zero.

Points of undecided metrics, and of those that unlike machines measured, are hollow. An arrow at the
edge is a change, or an end of its interval, beyond the axis, with its figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidemark.model.numerals import change, interval, percent_places
from tidemark.model.sentences import middle
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, as_it_is, figures, layer, tooltip
from tidemark.report.blocks import Block, Chart, Mark, Table
from tidemark.report.marks import COLORS, DECIDED, UNCLEAR

MOST = 20
"""The most metrics of the chart; more would be taller than a screen."""
_CAPTION = "Δ of each metric with its 95 % interval; worse is left of zero for every metric."
_BEYOND = " An arrow at the edge is a change, or an end of its interval, of more than 100 %."
_LEAST, _FARTHEST = 0.05, 1.0  # shares: the least of an axis, and the farthest that is drawn
_ROW, _ABOVE = 28, 11  # pixels: of a metric, and from its point to a label above it
_FIGURE = 12  # pixels: of the figure below an arrow
_LINE = 14  # pixels: of the labels of a metric, which are a line of their own
_LABELS = " {"  # the start of the labels in the name of a metric
_LONGEST_LINE, _LONGEST_NARROW = 76, 47  # letters of a name, and on a phone
_TICKS, _PADDING = 5, 6
_ARROWS = {-_FARTHEST: "triangle-left", _FARTHEST: "triangle-right"}
# A phone has no room for names beside the points.
_LONGEST, _EDGE = 460, 32  # pixels: of a name, and from the edge of a phone to its points
_NARROW = "containerSize()[0] < 480"


class DrawnChange(NamedTuple):
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


def chart(changes: Sequence[DrawnChange], metrics: int, table: Table) -> Block:
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


def specification(changes: Sequence[DrawnChange]) -> Json:
    """Return the chart of one change or more in Vega-Lite."""
    points = [_point(each) for each in changes]
    arrows = [arrow for each in changes for arrow in _arrows(each)]
    far = max(abs(point[end]) for point in points for end in ("gain", "low", "high"))
    further = _LINE if any(_LABELS in each.title for each in changes) else 0
    row = _ROW + further + (_FIGURE if arrows else 0)
    return vega_lite.chart(
        height=row * len(points) + _ROW,
        encoding={"y": _by_metric(points, further), "x": _by_gain(max(_LEAST, far), further)},
        layer=[*_layers(points), *(_beyond(arrows) if arrows else [])],
    )


def _caption(drawn: Sequence[DrawnChange], metrics: int) -> str:
    is_beyond = any(True for each in drawn for _ in _arrows(each))
    left_out = metrics - len(drawn)
    more = f" The table has {left_out} more." if left_out else ""
    return f"{_CAPTION}{_BEYOND if is_beyond else ''}{more}"


def _ends(of: DrawnChange) -> tuple[float, float]:
    """Return the ends of the interval, which without one has no length."""
    low, high = (of.effect if end is None else end for end in (of.low, of.high))
    return low, high


def _gain(of: DrawnChange, share: float) -> float:
    """Return a change with gains above zero."""
    return share if of.direction == "higher" else -share


def _text(of: DrawnChange, share: float) -> str:
    return change(share, of, percent_places(of.low, of.high))


def _point(of: DrawnChange) -> Json:
    """Return the point of a metric and its interval; what is beyond the axis is at its edge."""
    gain, low, high = (
        min(_FARTHEST, max(-_FARTHEST, _gain(of, share))) for share in (of.effect, *_ends(of))
    )
    return {
        "metric": of.title,
        "gain": gain,
        "low": low,
        "high": high,
        "color": COLORS.get(of.verdict, UNCLEAR),
        "verdict": of.verdict,
        "change": _text(of, of.effect),
        "interval": interval(of, of, percent_places(of.low, of.high)),
        "beyond": abs(of.effect) > _FARTHEST,
    }


def _arrows(of: DrawnChange) -> Iterator[Json]:
    """Yield an arrow for each edge that the change, or an end of its interval, is beyond."""
    point = _point(of)
    hollow = "var(--page)" if of.verdict not in DECIDED else point["color"]
    for edge, shape in _ARROWS.items():
        beyond = [share for share in (of.effect, *_ends(of)) if _gain(of, share) / edge > 1]
        if not beyond:
            continue
        is_point = of.effect in beyond
        within = f", {point['interval']}" if is_point and of.low is not None else ""
        yield {
            **point,
            "edge": edge,
            "shape": shape,
            "fill": hollow if is_point else point["color"],
            "figure": f"{_text(of, beyond[0])}{within}",
        }


def _by_metric(points: Sequence[Json], further: int) -> Json:
    """Return the axis of names, with ``further`` pixels for lines of labels."""
    wide, narrow = (
        json.dumps({point["metric"]: _lines(point["metric"], most) for point in points})
        for most in (_LONGEST_LINE, _LONGEST_NARROW)
    )
    return {
        "field": "metric",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"domain": [point["metric"] for point in points]},
        "axis": {
            "labelAlign": {"expr": f"{_NARROW} ? 'left' : 'right'"},
            "labelOffset": {"expr": f"{_NARROW} ? -{_ABOVE + further} : 0"},
            "labelPadding": {"expr": f"{_NARROW} ? 0 : 12"},
            "labelExpr": f"({_NARROW} ? {narrow} : {wide})[datum.value]",
            "labelLineHeight": _LINE,
            "labelLimit": {"expr": f"{_NARROW} ? containerSize()[0] - {_EDGE} : {_LONGEST}"},
            "domain": False,
        },
    }


def _lines(title: str, most: int) -> list[str]:
    """Return the lines of a metric's name, with its labels below it; a long one has no middle."""
    name, _, labels = title.partition(_LABELS)
    return [middle(each, most) for each in (name, labels and f"{{{labels}") if each]


def _by_gain(far: float, further: int) -> Json:
    """Return the axis of changes, ``further`` pixels above the first name on a phone."""
    axis = {
        # Above the points it is on the first screen, however many metrics there are.
        "orient": "top",
        # Which side is worse is said above: the figure of a slower latency itself rises.
        "format": "~p",
        "labelExpr": "replace(datum.label, '\\u2212', '')",
        "tickCount": _TICKS,
        # The label of an end stands at its place, and not within it.
        "labelFlush": False,
        "labelPadding": {"expr": f"{_NARROW} ? {_PADDING + further} : {_PADDING}"},
        "domain": False,
    }
    title = "← worse\N{EM SPACE}\N{EM SPACE}\N{EM SPACE}better →"
    # The axis ends at a label, and no mark is beyond it.
    return figures(title, axis, scale={"domain": [-far, far], "nice": _TICKS})


_TOOLTIP = tooltip("metric", "change", "interval", "verdict")


def _layers(points: Sequence[Json]) -> list[Json]:
    within = [point for point in points if not point["beyond"]]
    decided = [point for point in within if point["verdict"] in DECIDED]
    undecided = [point for point in within if point["verdict"] not in DECIDED]
    color = as_it_is("color")
    of_gain = {"x": {"field": "gain"}, "color": color, "tooltip": _TOOLTIP}
    point: Json = {"type": "point", "shape": "circle", "size": 90, "opacity": 1, "strokeWidth": 2}
    return [
        layer(
            "zero", [{}], {"type": "rule", "color": "var(--quiet)"}, {"x": {"datum": 0}, "y": None}
        ),
        layer(
            "intervals",
            points,
            {"type": "rule", "strokeWidth": 2},
            {"x": {"field": "low"}, "x2": {"field": "high"}, "color": color, "tooltip": _TOOLTIP},
        ),
        layer("decided", decided, {**point, "filled": True}, of_gain),
        layer("undecided", undecided, {**point, "fill": "var(--page)"}, of_gain),
    ]


def _beyond(arrows: Sequence[Json]) -> list[Json]:
    """Return the layers of arrows, each with its figure below it."""
    mark: Json = {"type": "point", "size": 130, "opacity": 1, "strokeWidth": 2}
    at_edge = {"x": {"field": "edge"}, "tooltip": _TOOLTIP}
    look = {"shape": as_it_is("shape"), "fill": as_it_is("fill"), "stroke": as_it_is("color")}
    texts = [
        layer(
            f"figures_{align}",
            [arrow for arrow in arrows if arrow["edge"] == edge],
            {"type": "text", "align": align, "baseline": "top", "dy": 7, "fontSize": 11,
             "color": "var(--ink)"},
            {**at_edge, "text": {"field": "figure"}},
        )
        for edge, align in zip(_ARROWS, ("left", "right"), strict=True)
    ]  # fmt: skip
    return [layer("beyond", arrows, mark, {**at_edge, **look}), *texts]


def _legend(words: Iterable[str]) -> Iterable[Mark]:
    for word in dict.fromkeys(words):
        symbol = "●" if word in DECIDED else "○"
        yield Mark(COLORS.get(word, UNCLEAR), symbol, word)
