"""The call tree of a profile, a flame graph as data, and the shares of functions in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.profiles.folded_stacks import (
    SEPARATOR,
    Stacks,
    is_interpreter,
    is_library,
    is_start,
    named,
    plain_name,
)

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


def own_tree(root: Frame) -> Frame:
    """Return a call tree without frames of a program's start; their callers have the samples.

    In a process of Python these are all frames below the first one of a library or package, since
    the interpreter's own functions have no mark. A tree without any frame of a system stays whole.
    """
    in_python = any(is_interpreter(each.name) for each in _frames(root))
    found = Frame("")
    found.samples = root.samples
    waiting = [(root, found, False)]
    while waiting:
        frame, kept, is_above = waiting.pop()
        kept.own += frame.own
        for child in frame.children.values():
            is_own = is_above or is_library(child.name) if in_python else not is_start(child.name)
            own = kept.child(child.name) if is_own else kept
            own.samples += child.samples if is_own else 0
            waiting.append((child, own, is_own))
    return found if found.children else root


def _frames(root: Frame) -> Iterator[Frame]:
    waiting = [*root.children.values()]
    while waiting:
        frame = waiting.pop()
        yield frame
        waiting += frame.children.values()


_Named = Callable[[str], bool]


class Place(NamedTuple):
    """The part of a call tree in which frames are looked up."""

    under: Sequence[str] = ()
    """The names of ancestors, the outermost first."""
    outside: Sequence[str] = ()
    """The names of functions whose towers do not count."""


def towers(root: Frame, function: str, place: Place) -> list[Frame]:
    """Return the frames of a function at a place, the largest first.

    A frame that a function has above itself, by recursion, is a part of the lower one.
    """
    under = tuple(map(named, place.under))
    outside = tuple(map(named, place.outside))
    found = _found(root, named(function), under, outside)
    return sorted(found, key=lambda frame: frame.samples, reverse=True)


def _found(
    root: Frame, function: _Named, under: Sequence[_Named], outside: Sequence[_Named]
) -> Iterator[Frame]:
    waiting = [(child, 0) for child in root.children.values()]
    while waiting:
        frame, passed = waiting.pop()
        if any(name(frame.name) for name in outside):
            continue
        if passed == len(under) and function(frame.name):
            yield frame
            continue
        if passed < len(under) and under[passed](frame.name):
            passed += 1
        waiting += [(child, passed) for child in frame.children.values()]


def share(root: Frame, function: str, place: Place, *, summed: bool = False) -> float | None:
    """Return the share [%] of a function in all samples, None if it has no frame at the place.

    The share is the largest frame's, or with ``summed`` the share of all its frames together.
    """
    found = [frame.samples for frame in towers(root, function, place)]
    return _percent(root, sum(found) if summed else found[0]) if found else None


def child_shares(root: Frame, function: str | None, place: Place) -> dict[str, float]:
    """Return the shares [%] of what a function calls, by plain name; without one, of the towers.

    They are the frames right above the function's largest one.
    """
    bases = [root] if function is None else towers(root, function, place)[:1]
    found: dict[str, float] = {}
    for child in (child for base in bases for child in base.children.values()):
        name = plain_name(child.name)
        found[name] = max(_percent(root, child.samples), found.get(name, 0.0))
    return found


def _percent(root: Frame, samples: int) -> float:
    return 100 * samples / root.samples
