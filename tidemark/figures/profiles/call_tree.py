"""The call tree of a profile: a flame graph as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidemark.figures.profiles.folded_stacks import SEPARATOR, Stacks

MOST_FRAMES_DEEP = 200
"""The frames of a stack that tables and flame graphs have: a path for each takes their square."""


class Frame:
    """One frame at one call path; the root of a tree has the name ''."""

    __slots__ = ("children", "name", "own", "samples")

    def __init__(self, name: str) -> None:
        self.name = name
        self.samples = 0
        """The samples of the frame and of all above it."""
        self.own = 0
        """The samples in which the frame is the leaf."""
        self.children: dict[str, Frame] = {}

    def child(self, name: str) -> Frame:
        """Return the frame of this name above this one; it is new if there is none."""
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = Frame(name)
        return found


def call_tree(stacks: Stacks) -> Frame:
    """Return the root of the call tree of some stacks."""
    root = Frame("")
    for stack, samples in stacks.items():
        _add(root, stack.split(SEPARATOR), samples)
    return root


def _add(root: Frame, names: Iterable[str], samples: int) -> None:
    frame = root
    frame.samples += samples
    for name in names:
        frame = frame.child(name)
        frame.samples += samples
    frame.own += samples


def walked(root: Frame, least: float) -> Iterator[tuple[tuple[str, ...], Frame]]:
    """Yield each frame with ``least`` samples or more and the path to it, parents first.

    The root is not a frame of its own; of two children the larger one comes first. The walk ends
    ``MOST_FRAMES_DEEP`` frames above the root.
    """
    waiting: list[tuple[tuple[str, ...], Frame]] = [((), root)]
    while waiting:
        path, frame = waiting.pop()
        if path:
            yield path, frame
        if len(path) == MOST_FRAMES_DEEP:
            continue
        children = [each for each in frame.children.values() if each.samples >= least]
        children.sort(key=lambda each: (each.samples, each.name))
        waiting += [((*path, each.name), each) for each in children]
