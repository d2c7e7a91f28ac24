"""The libraries that draw flame graphs."""

from __future__ import annotations

MODULES = "node_modules"
LIBRARIES = ("d3/dist/d3.min.js", "d3-flame-graph/dist/d3-flamegraph.umd.min.js")
"""The files of D3 and d3-flame-graph below ``MODULES``."""
