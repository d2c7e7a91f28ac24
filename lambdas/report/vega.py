"""What all charts of a page share, as Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

# The page that shows a chart says what these colours are, in light and in dark.
CONFIG: Json = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "titleColor": "var(--ink)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "ticks": False,
    },
}


def layer(name: str, values: Sequence[Json], mark: Json, encoding: Json) -> Json:
    """Return the marks of one kind with their data."""
    return {"name": name, "data": {"values": list(values)}, "mark": mark, "encoding": encoding}
