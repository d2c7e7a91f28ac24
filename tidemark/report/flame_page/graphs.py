"""Call trees as the data of flame graphs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tidemark.figures.profiles.call_tree import MOST_FRAMES_DEEP, Frame
from tidemark.model.numerals import bound

LEAST_SHARE = 0.0002
"""The share of all samples that a frame has, or it is not drawn: less than half a pixel."""
NOT_DRAWN = (
    f"Frames with less than {bound(LEAST_SHARE)} of the samples, and those above "
    f"{MOST_FRAMES_DEEP} others, are not drawn."
)
GREW, SHRANK, ONLY = "grew", "shrank", "only"
UNTOLD = "untold"
WORDS = {
    GREW: "grew",
    SHRANK: "shrank",
    ONLY: "only in this version",
    UNTOLD: "cannot tell",
}
"""The words of the legend, by what the profiles tell of a function."""
_ALL = "all"


class Graph(NamedTuple):
    """One flame graph: the width of a frame is its share of the tree's samples."""

    name: str
    """The version."""
    heading: str
    note: str
    tree: Frame
    other: Frame | None = None
    """The tree of the version that the graph compares with, None without one."""
    sign: int = 1
    """-1 if the tree is the base and ``other`` the new version."""
    told: Mapping[str, str] = MappingProxyType({})
    """A word of ``WORDS`` for each function that the profiles tell something of."""


def graph_data(graph: Graph) -> dict[str, Any]:
    """Return a graph as d3-flame-graph takes it: name ``n``, samples ``v`` and children ``c``.

    In a differential graph ``d`` is the inclusive change, new - base, in points of the share of all
    samples at this call path, and ``w`` what the profiles tell of the function.
    """
    tree, other = graph.tree, graph.other
    total_of_other = other.samples if other else 1
    data = _Data(tree.samples, total_of_other, graph.sign, other is not None, graph.told)
    root = data.node(_ALL, tree, other)
    waiting = [(root, tree, other, 0)]
    while waiting:
        node, frame, counterpart, depth = waiting.pop()
        if depth == MOST_FRAMES_DEEP:
            continue
        for child in frame.children.values():
            if child.samples >= LEAST_SHARE * tree.samples:
                same = counterpart.children.get(child.name) if counterpart else None
                drawn = data.node(child.name, child, same)
                node.setdefault("c", []).append(drawn)
                waiting.append((drawn, child, same, depth + 1))
    return root


class _Data(NamedTuple):
    total: int
    total_of_other: int
    sign: int
    is_differential: bool
    told: Mapping[str, str]

    def node(self, name: str, frame: Frame, same: Frame | None) -> dict[str, Any]:
        node: dict[str, Any] = {"n": name, "v": frame.samples}
        if self.is_differential:
            share, before = frame.samples / self.total, (same.samples if same else 0)
            node["d"] = round(100 * self.sign * (share - before / self.total_of_other), 4)
            node["w"] = self.told.get(name, UNTOLD)
        return node
