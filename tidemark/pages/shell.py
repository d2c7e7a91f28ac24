"""The shell of an HTML page that needs no network, and the libraries of flame graphs."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


def page(title: str, style: str, body: str, *scripts: str) -> str:
    """Return a page; ``title`` is plain text, ``body`` HTML.

    ``style`` extends the style sheet of all pages. The page's policy allows ``scripts`` only, by
    their digest: a script in a text of the body would not run even if the text were not escaped.
    """
    joined = "\n".join(scripts)
    return Template(_file("page.html")).substitute(
        title=escape(title),
        digest=base64.b64encode(hashlib.sha256(joined.encode()).digest()).decode(),
        style=_file("page.css") + style,
        body=body,
        script=joined,
    )


def drawing(script: str) -> str:
    """Return a script that can call ``embed`` to draw a chart.

    ``vega.js`` is Vega, Vega-Lite and Vega-Embed, as vl-convert bundles them: making it takes 1 s.
    """
    return "\n".join([_file("vega.js"), _file("page.js"), script])


def words(text: str) -> str:
    """Return plain text as HTML in which no percent sign begins a line."""
    return escape(text).replace(" %", "&nbsp;%")


def json_for_script(value: object) -> str:
    """Return a value as JSON that may stand within a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Only the less-than sign can end or alter a script element.
    return text.replace("<", "\\u003c")


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


MODULES = "node_modules"
LIBRARIES = ("d3/dist/d3.min.js", "d3-flame-graph/dist/d3-flamegraph.umd.min.js")
"""The files of D3 and d3-flame-graph below ``MODULES``."""
