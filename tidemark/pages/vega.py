"""The script that draws the charts of pages."""

from __future__ import annotations

from functools import cache

import vl_convert


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which defines ``vegaEmbed``."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
