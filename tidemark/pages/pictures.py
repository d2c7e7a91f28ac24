"""Charts of pages as pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import vl_convert

from tidemark.pages.vega_lite import Json

_STYLE = Path(__file__).parent / "page.css"
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_WIDTH = 640  # pixels, without labels
# A part of a picture has the settings of the whole.
_OF_A_PAGE = {"$schema", "autosize", "config"}
_SCALE = 2  # of PNG, for screens with small pixels


def picture(charts: Sequence[Json], title: str, form: str) -> bytes:
    """Return charts of a page, below each other, on white: ``.svg`` or ``.png``."""
    drawn = {
        "title": {"text": title, "anchor": "start", "fontSize": 15, "offset": 12},
        "background": "#fff",
        "padding": 16,
        "config": {**charts[0]["config"], "font": "sans-serif"},
        "vconcat": [_part(chart, number) for number, chart in enumerate(charts, start=1)],
    }
    text = _with_colors(json.dumps(drawn))
    if form == ".svg":
        return vl_convert.vegalite_to_svg(text).encode()
    return vl_convert.vegalite_to_png(text, scale=_SCALE)


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
