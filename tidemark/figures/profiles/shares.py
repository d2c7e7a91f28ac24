"""The share of a function at a place in the call tree, as people read it off a flame graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.profiles.call_tree import Frame
from tidemark.figures.profiles.function_names import named, plain_name

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

    The share is that of the largest frame, and with ``summed`` that of all its frames together.
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
