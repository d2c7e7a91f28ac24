"""The parts of charts in Vega-Lite: the chart itself, layers, axes of figures and tooltips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

# The page's style sheet defines these colours, in light and in dark.
_AXIS: Json = {
    "domainColor": "var(--line)",
    "gridColor": "var(--line)",
    "labelColor": "var(--ink)",
    "labelFontSize": 12,
    "titleColor": "var(--ink)",
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 10,
    "ticks": False,
}
# A locale of d3-format, which writes figures as the texts of a page have them.
_NUMBERS: Json = {
    "decimal": ".",
    "thousands": ",",
    "grouping": [3],
    "currency": ["", ""],
    "percent": "\N{NO-BREAK SPACE}%",
}
_TOLD = ",.6~r"  # of d3-format: six significant digits, without needless zeros


def chart(*, axis: Json | None = None, **content: object) -> Json:
    """Return a chart as wide as its container; ``axis`` overrides the style of axes."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": {
            # The element of a chart is an image with a name; its marks need none.
            "aria": False,
            "locale": {"number": _NUMBERS},
            "mark": {"aria": False},
            "background": "transparent",
            "font": "system-ui, sans-serif",
            "view": {"stroke": None},
            "axis": {**_AXIS, **(axis or {})},
        },
        **content,
    }


def layer(name: str, values: Sequence[Json], mark: Json, encoding: Json) -> Json:
    """Return a layer of a chart: marks of one kind with their data."""
    return {"name": name, "data": {"values": list(values)}, "mark": mark, "encoding": encoding}


def figures(title: str | None, axis: Json, *, field: str = "", scale: Json | None = None) -> Json:
    """Return an axis of figures with its title, of the field of all layers if they share one."""
    return {
        **({"field": field} if field else {}),
        "type": "quantitative",
        "title": title,
        **({"scale": scale} if scale else {}),
        "axis": axis,
    }


def as_it_is(field: str) -> Json:
    """Return the encoding of a field that has colours, shapes or dashes themselves."""
    return {"field": field, "type": "nominal", "scale": None}


def tooltip(*fields: str, numbers: Sequence[str] = ()) -> list[Json]:
    """Return a tooltip with the names and the values of fields, the fields ``numbers`` last."""
    written = {"type": "quantitative", "format": _TOLD}
    return [{"field": each} for each in fields] + [{"field": each, **written} for each in numbers]
