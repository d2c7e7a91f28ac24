"""The picture of docs/verdicts.md: right verdicts by the machine time that they take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import vl_convert

from tests.checks.bench.real_tables import Cell
from tidemark.model.checkout import ROOT
from tidemark.pages.vega_lite import Json

PICTURE = ROOT / "docs" / "verdicts.png"
# The colours of the pages, in light.
_COLOURS = ["#0072b2", "#00785a", "#5b5b5b", "#d55e00"]


def chart(cells: Sequence[Cell]) -> Json:
    """Return a chart with a panel for each slowdown, as Vega-Lite."""
    values = [
        {
            "slowdown": f"{cell.loss} % slower",
            "order": cell.loss,
            "rule": cell.rule,
            "records": f"{cell.records:,}",
            "minutes": cell.minutes,
            "right": cell.shares.right,
        }
        for cell in cells
    ]
    rules, lengths = (
        list(dict.fromkeys(each[key] for each in values)) for key in ("rule", "records")
    )
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 0.85},
        "width": 190,
        "height": 220,
        "encoding": {
            "column": {
                "field": "slowdown",
                "title": None,
                "sort": {"field": "order"},
                "header": {"labelFontSize": 13},
            },
            "x": {
                "field": "minutes",
                "type": "quantitative",
                "scale": {"type": "log", "nice": False, "padding": 12},
                "title": "minutes of a run",
                "axis": {"values": [0.1, 0.3, 1, 3, 10, 30, 100, 300], "format": "~g"},
            },
            "y": {
                "field": "right",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "title": "right verdicts",
                "axis": {"format": ".0%", "tickCount": 5},
            },
            "color": {
                "field": "rule",
                "sort": rules,
                "scale": {"domain": rules, "range": _COLOURS},
                "title": "rule",
            },
            "shape": {"field": "records", "sort": lengths, "title": "records"},
        },
        "config": {"background": "white", "font": "sans-serif", "view": {"stroke": "#d8dee4"}},
    }


def draw(cells: Sequence[Cell], file: Path = PICTURE) -> None:
    """Write the picture of some figures."""
    file.write_bytes(vl_convert.vegalite_to_png(chart(cells), scale=1))
