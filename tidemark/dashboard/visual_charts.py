"""Charts of the dashboard as Vega-Lite."""

from __future__ import annotations

from tidemark.dashboard.model import Chart
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, as_it_is, figures

_AXIS = {"labelPadding": 6, "titleColor": "var(--quiet)"}
_TICKS = 5
_BAR = 22  # from the middle of a bar to its label
# The data hold the colours themselves.
_COLOR = as_it_is("color")
_TOOLTIP = {"field": "tooltip", "type": "nominal"}


def specification(chart: Chart) -> Json:
    """Return the specification of a chart; the page adds its height and two data sets.

    A row of ``points`` has ``category``, ``value``, ``series``, ``color``, ``fill`` (transparent if
    hollow), ``shape`` (null for none), ``line`` (false for none) and ``dash``; with an interval it
    has ``low`` and ``high``. A row of ``changes`` has ``category`` and ``color``. A row of
    ``beyond`` is an arrow, with ``category``, ``at``, ``shape``, ``color`` and ``fill``. A row of
    ``tooltips`` has ``category``, ``tooltip`` and ``href``, the address of what the category leads
    to, null for none. The page sets the parameter ``categories``, all in order, and with an
    interval ``far``, at which the axis ends on both sides. It leaves out the layers ``whiskers``,
    ``beyond`` and ``changes`` without rows, because Vega warns of them.
    """
    layers = _bars(chart) if chart.mark == "bar" else _lines(chart)
    return vega_lite.chart(
        axis=_AXIS, data={"name": "points"}, layer=[*layers, _pointer_layer(chart)]
    )


def _lines(chart: Chart) -> list[Json]:
    position = {"x": _category(chart), "y": _value(chart)}
    series = {"color": _COLOR, "detail": {"field": "series", "type": "nominal"}}
    lines: Json = {
        "transform": [{"filter": "datum.line"}],
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {**position, **series, "strokeDash": as_it_is("dash")},
    }
    points: Json = {
        "transform": [{"filter": "datum.shape"}],
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {**position, **series, "shape": as_it_is("shape")},
    }
    # Vega warns of a layer without rows.
    no_lines = chart.styles and not any(style.line for style in chart.styles.values())
    # The first layer with a category has the order of all.
    return [points, _changes(chart)] if no_lines else [lines, points, _changes(chart)]


def _changes(chart: Chart) -> Json:
    """Return the layer of the categories from which on the level is another."""
    return {
        "name": "changes",
        "data": {"name": "changes"},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3]},
        "encoding": {"x": _category(chart), "color": _COLOR},
    }


def _pointer_layer(chart: Chart) -> Json:
    """Return the layer for the pointer: the whole place of each category, above all marks."""
    select = {"type": "point", "on": "pointerover", "clear": "pointerout"}
    opacity = {"condition": {"param": "pointed", "empty": False, "value": 0.1}, "value": 0}
    return {
        "data": {"name": "tooltips"},
        "params": [{"name": "pointed", "select": select}],
        "mark": {"type": "rect", "color": "var(--ink)"},
        "encoding": {
            _along(chart): _category(chart),
            "tooltip": _TOOLTIP,
            "opacity": opacity,
            "href": {"field": "href", "type": "nominal"},
        },
    }


def _along(chart: Chart) -> str:
    return "y" if chart.horizontal else "x"


def _bars(chart: Chart) -> list[Json]:
    along, across = _along(chart), "x" if chart.horizontal else "y"
    offset = {} if chart.stacked else {f"{along}Offset": {"field": "series", "type": "nominal"}}
    value = {**_value(chart), "stack": "zero" if chart.stacked else None}
    bars: Json = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2, "strokeWidth": 1.5},
        "encoding": {
            along: _category(chart),
            across: value,
            "fill": as_it_is("fill"),
            "stroke": _COLOR,
            **offset,
        },
    }
    return [bars, _whiskers(chart, across), _beyond(chart, across)] if chart.interval else [bars]


def _whiskers(chart: Chart, across: str) -> Json:
    return {
        "name": "whiskers",
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2, "color": "var(--ink)"},
        "encoding": {
            _along(chart): _category(chart),
            across: {**_value(chart), "field": "low"},
            f"{across}2": {"field": "high"},
        },
    }


def _beyond(chart: Chart, across: str) -> Json:
    """Return the layer of the arrows of bars and whiskers that go on where the axis ends."""
    return {
        "name": "beyond",
        "data": {"name": "beyond"},
        "mark": {"type": "point", "size": 80, "opacity": 1, "strokeWidth": 1.5},
        "encoding": {
            _along(chart): _category(chart),
            across: {**_value(chart), "field": "at"},
            "shape": as_it_is("shape"),
            "fill": as_it_is("fill"),
            "stroke": _COLOR,
        },
    }


def _category(chart: Chart) -> Json:
    axis: Json = {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4}
    if chart.horizontal:
        # A label above its bar leaves the whole width of a phone to the bars.
        axis = {"labelAlign": "left", "labelOffset": -_BAR, "labelPadding": -6, "labelLimit": 0}
    return {
        "field": "category",
        "type": "ordinal",
        "sort": None,
        "title": chart.axes.category or None,
        "scale": {
            "type": "band",
            # By itself, Vega puts a category without a value behind all others.
            "domain": {"expr": "categories"},
            **({"paddingInner": 0.5} if chart.mark == "bar" else {}),
        },
        "axis": axis,
    }


def _value(chart: Chart) -> Json:
    format_ = chart.values[0].format
    whole = format_.kind == "number" and format_.places == 0
    axis = {
        "tickCount": {"expr": _whole_steps(chart)} if whole else _TICKS,
        "domain": False,
        # Specifiers of d3-format.
        "format": "~%" if format_.kind == "percentage" else ",~r",
        # Around zero, the title says which side is worse.
        **({"labelExpr": "replace(datum.label, '\\u2212', '')"} if chart.interval else {}),
    }
    scale: Json = {"zero": chart.axes.from_zero, "nice": True}
    if chart.interval:  # around zero
        scale = {"domainMin": {"expr": "-far"}, "domainMax": {"expr": "far"}, "nice": False}
    return figures(chart.axes.value or None, axis, field="value", scale=scale)


def _whole_steps(chart: Chart) -> str:
    """Return the number of ticks at whole numbers, as an expression of Vega.

    Up to two, Vega draws halves in spite of a tickMinStep of one.
    """
    scale = "x" if chart.horizontal else "y"
    return f"max(1, min({_TICKS}, span(domain('{scale}'))))"
