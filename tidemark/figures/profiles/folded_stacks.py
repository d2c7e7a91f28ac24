"""Folded stacks: the samples of a profile by stack, as one text for each stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

Stacks = Mapping[str, int]
"""Samples by stack: the frames from the root to the leaf, with ``;`` between them.

Source: Brendan Gregg, FlameGraph, stackcollapse.pl.
"""
SEPARATOR = ";"
_REPLACED = str.maketrans({SEPARATOR: ":", "\n": " ", "\r": " ", "\t": " "})


def folded(frames: Iterable[str]) -> str:
    """Return a stack of frames; a ``;`` in a frame is written as ``:``, as stackcollapse-perf does.

    A line end or a tab in a frame is a space, since each stack is a line of text. A frame without a
    name is ``[unknown]``.
    """
    return SEPARATOR.join(frame.translate(_REPLACED) or "[unknown]" for frame in frames)


def merged(profiles: Iterable[Stacks]) -> Stacks:
    """Return the samples of several profiles together."""
    total = Counter[str]()
    for stacks in profiles:
        total.update(stacks)
    return total
