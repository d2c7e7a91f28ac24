"""Charts of the dashboard as Vega-Lite."""

from __future__ import annotations

from typing import Any

from local.dashboard.formats import Format
from local.dashboard.visuals import Chart

Json = dict[str, Any]

# The page that shows a chart says what these colours are, in light and in dark.
_CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "labelPadding": 6,
        "ticks": False,
        "titleColor": "var(--quiet)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
}
# What the points of the data say of themselves, as it is.
_COLOR = {"field": "color", "type": "nominal", "scale": None}
_TOLD = {"field": "told", "type": "nominal"}


def specification(chart: Chart) -> Json:
    """Return a chart to which the page adds its height and two data sets.

    A point of ``points`` has ``category``, ``value``, ``series``, ``color``, ``shape`` (null for
    none), ``dash``, and ``alone`` if there is no other category. One of ``told`` has ``category``,
    and in ``told`` what the pointer is told there.
    """
    layers = [_bars(chart)] if chart.mark == "bar" else _lines(chart)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": _CONFIG,
        "data": {"name": "points"},
        "layer": layers,
    }


def _lines(chart: Chart) -> list[Json]:
    position = {"x": _category(chart), "y": _value(chart)}
    series = {"color": _COLOR, "detail": {"field": "series", "type": "nominal"}}
    dash = {"field": "dash", "type": "nominal", "scale": None}
    shape = {"field": "shape", "type": "nominal", "scale": None}
    return [
        {
            # As wide as the way to the next category: the pointer need not be exact.
            "data": {"name": "told"},
            "params": [
                {
                    "name": "pointed",
                    "select": {"type": "point", "on": "pointerover", "clear": "pointerout"},
                }
            ],
            "mark": {"type": "rect", "color": "var(--line)"},
            "encoding": {
                "x": _category(chart),
                "tooltip": _TOLD,
                "opacity": {
                    "condition": {"param": "pointed", "empty": False, "value": 0.6},
                    "value": 0,
                },
            },
        },
        {
            "mark": {"type": "line", "strokeWidth": 2, "tooltip": None},
            "encoding": {**position, **series, "strokeDash": dash},
        },
        {
            "transform": [{"filter": "datum.shape || datum.alone"}],
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "tooltip": None},
            "encoding": {**position, **series, "shape": shape},
        },
    ]


def _bars(chart: Chart) -> Json:
    category, value = ("y", "x") if chart.horizontal else ("x", "y")
    offset = {} if chart.stacked else {f"{category}Offset": {"field": "series", "type": "nominal"}}
    return {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            category: _category(chart),
            value: {**_value(chart), "stack": "zero" if chart.stacked else None},
            "color": _COLOR,
            "tooltip": _TOLD,
            **offset,
        },
    }


def _category(chart: Chart) -> Json:
    return {
        "field": "category",
        "type": "ordinal",
        "sort": None,
        "title": chart.axes.category or None,
        "scale": {"type": "band"},
        "axis": {"labelAngle": 0, "labelLimit": 320, "labelOverlap": True},
    }


def _value(chart: Chart) -> Json:
    return {
        "field": "value",
        "type": "quantitative",
        "title": chart.axes.value or None,
        "scale": {"zero": chart.axes.from_zero, "nice": True},
        "axis": {"tickCount": 5, "domain": False, "format": _axis_format(chart.values[0].format)},
    }


def _axis_format(format_: Format) -> str:
    """Return how the axis writes its numbers, in the words of d3-format."""
    return "~%" if format_.times == 100 else f"{format_.prefix},~r"
