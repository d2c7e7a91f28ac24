"""The scripts that draw flame graphs, which npm installs into the checkout.

The Lambda asset has a copy at the same place.
"""

from __future__ import annotations

from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.pages.flame_libraries import LIBRARIES, MODULES

_MODULES = ROOT / MODULES


def installed_scripts() -> str:
    """Return D3 and d3-flame-graph as one script, '' if they are not installed.

    The script defines ``d3`` and ``flamegraph``.
    """
    try:
        return "\n".join((_MODULES / name).read_text(encoding="utf-8") for name in LIBRARIES)
    except FileNotFoundError:
        return ""


def flame_graph_scripts() -> str:
    """Return the scripts for a page that a user asked for.

    Raises
    ------
    Refused
        If they are not installed.

    """
    if scripts := installed_scripts():
        return scripts
    raise Refused(
        "--output: d3-flame-graph is not installed; `make node_modules/.ready` installs it"
    )
