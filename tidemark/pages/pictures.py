"""Charts of pages as pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import vl_convert

from tidemark.pages.vega_lite import Json, as_it_is, layer

_STYLE = Path(__file__).parent / "page.css"
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_WIDTH = 640  # pixels, without labels
# A part of a picture has the settings of the whole.
_OF_A_PAGE = {"$schema", "autosize", "config"}
_LETTER, _GAP, _LINE = 7, 20, 14  # pixels of a legend: a letter, between marks, and its height


def picture(
    charts: Sequence[Json],
    title: str | Sequence[str],
    form: str,
    legend: Sequence[tuple[str, str]] = (),
    scale: float = 2,
) -> bytes:
    """Return charts of a page, below each other, on white: ``.svg`` or ``.png``.

    ``title`` may have several lines, and each mark of the ``legend`` is a colour and its text. The
    ``scale`` of a PNG is 2 for screens with small pixels.
    """
    parts = [_part(chart, number) for number, chart in enumerate(charts, start=1)]
    drawn = {
        "title": {"text": title, "anchor": "start", "fontSize": 15, "offset": 12},
        "background": "#fff",
        "padding": 16,
        "config": {**charts[0]["config"], "font": "sans-serif"},
        "vconcat": [*([_marks(legend)] if legend else []), *parts],
    }
    text = _with_colors(json.dumps(drawn))
    if form == ".svg":
        return vl_convert.vegalite_to_svg(text).encode()
    return vl_convert.vegalite_to_png(text, scale=scale)


def _marks(legend: Sequence[tuple[str, str]]) -> Json:
    """Return the marks of a legend in one line."""
    places = accumulate((_LETTER * len(text) + _GAP for _, text in legend), initial=0)
    values = [
        {"x": x, "color": color, "text": text}
        for x, (color, text) in zip(places, legend, strict=False)
    ]
    axis = {"scale": {"domain": [0, _WIDTH]}, "axis": None}
    encoding = {
        "x": {"field": "x", "type": "quantitative", **axis},
        "text": {"field": "text", "type": "nominal"},
        "color": as_it_is("color"),
    }
    mark = {"type": "text", "align": "left", "font": "sans-serif", "fontSize": 12}
    return {**layer("legend", values, mark, encoding), "width": _WIDTH, "height": _LINE}


def _part(chart: Json, number: int) -> Json:
    """Return a chart as a part of a picture, with names that no other part has.

    Vega-Lite names the data of a layer after it, and takes equal names for the same data.
    """
    content = {name: value for name, value in chart.items() if name not in _OF_A_PAGE}
    layers = [{**each, "name": f"{each['name']}_{number}"} for each in chart["layer"]]
    return {**content, "layer": layers, "width": _WIDTH}


def _with_colors(text: str) -> str:
    """Return a chart with the colours of the style sheet, in light, in place of their names."""
    light = _STYLE.read_text(encoding="utf-8").partition("@media")[0]
    colors = dict(re.findall(r"(--[\w-]+): ([^;]+);", light))
    while _VARIABLE.search(text):
        text = _VARIABLE.sub(lambda found: colors[found[1]], text)
    return text
