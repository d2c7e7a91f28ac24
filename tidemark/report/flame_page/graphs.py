"""Call trees as the data of flame graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

from tidemark.figures.profiles.call_tree import MOST_FRAMES_DEEP, Frame
from tidemark.model.numerals import bound

LEAST_SHARE = 0.0002
"""The share of all samples that a frame has, or it is not drawn: less than half a pixel."""
NOT_DRAWN = (
    f"Frames with less than {bound(LEAST_SHARE)} of the samples, and those above "
    f"{MOST_FRAMES_DEEP} others, are not drawn."
)
_ALL = "all"


class Graph(NamedTuple):
    """One flame graph: the width of a frame is its share of the tree's samples."""

    name: str
    """The version."""
    heading: str
    note: str
    tree: Frame
    other: Frame | None = None
    """The tree of the version that the colour compares with, None if colours say nothing."""
    sign: int = 1
    """-1 if the tree is the base and ``other`` the new version."""


def graph_data(graph: Graph) -> dict[str, Any]:
    """Return a graph as d3-flame-graph takes it: name ``n``, samples ``v`` and children ``c``.

    In a differential graph ``d`` is the inclusive change, new - base, in points of the share of all
    samples at this call path.
    """
    tree, other = graph.tree, graph.other
    data = _Data(tree.samples, other.samples if other else 1, graph.sign, other is not None)
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

    def node(self, name: str, frame: Frame, same: Frame | None) -> dict[str, Any]:
        node: dict[str, Any] = {"n": name, "v": frame.samples}
        if self.is_differential:
            share, before = frame.samples / self.total, (same.samples if same else 0)
            node["d"] = round(100 * self.sign * (share - before / self.total_of_other), 4)
        return node
