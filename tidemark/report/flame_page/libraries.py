"""The scripts that draw flame graphs, which npm installs into the checkout."""

from __future__ import annotations

from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused

_MODULES = ROOT / "node_modules"
_FILES = ("d3/dist/d3.min.js", "d3-flame-graph/dist/d3-flamegraph.umd.min.js")


def flame_graph_scripts() -> str:
    """Return D3 and d3-flame-graph as one script, which defines ``d3`` and ``flamegraph``.

    Raises
    ------
    Refused
        If they are not installed.

    """
    try:
        return "\n".join((_MODULES / name).read_text(encoding="utf-8") for name in _FILES)
    except FileNotFoundError:
        raise Refused(
            "--output: d3-flame-graph is not installed; `make node_modules/.ready` installs it"
        ) from None
