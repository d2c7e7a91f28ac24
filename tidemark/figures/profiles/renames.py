"""Functions with another name in another build, matched by their callers and children.

A compiler numbers closures, so that ``func3`` of one build is ``func4`` of the next.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tidemark.figures.profiles.folded_stacks import SEPARATOR, Stacks

LEAST_SHARE = 0.001
"""The share of all samples that a function has in one of two versions, or it is not compared."""
_LEAST = 0.5
"""The least part of two functions' samples that comes from the same callers or goes to the same
children."""
_ROOT = ""


class _Surroundings(NamedTuple):
    """The samples of a function by the caller, and by the child, each without its numbers."""

    callers: Counter[str]
    children: Counter[str]


class _Match(NamedTuple):
    is_numbered: bool
    likeness: float
    old: str
    new: str


def renames(base: Stacks, new: Stacks, gone: Set[str], come: Set[str]) -> dict[str, str]:
    """Return the functions that are the same, old to new, of those that only one version has.

    Two such functions are the same if most of their samples have the same callers and the same
    children. If their names differ in numbers alone, the callers decide: a leaf has no children.
    """
    if not gone or not come:
        return {}
    olds, news = _surroundings(base, gone), _surroundings(new, come)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for match in sorted(_matches(olds, news), reverse=True):
        if match.old not in found and match.new not in taken:
            found[match.old] = match.new
            taken.add(match.new)
    return found


def _surroundings(stacks: Stacks, functions: Set[str]) -> Mapping[str, _Surroundings]:
    """Return the surroundings of the functions with ``LEAST_SHARE``: each pair is compared."""
    found: dict[str, _Surroundings] = defaultdict(lambda: _Surroundings(Counter(), Counter()))
    for stack, samples in stacks.items():
        names = [_ROOT, *stack.split(SEPARATOR)]
        if functions.isdisjoint(names):
            continue
        for caller, child in pairwise(names):
            if child in functions:
                found[child].callers[unnumbered(caller)] += samples
            if caller in functions:
                found[caller].children[unnumbered(child)] += samples
    least = LEAST_SHARE * sum(stacks.values())
    return {name: each for name, each in found.items() if each.callers.total() >= least}


@lru_cache(maxsize=100_000)
def unnumbered(name: str) -> str:
    """Return a name with ``#`` for each number."""
    return re.sub(r"\d+", "#", name)


def _matches(
    olds: Mapping[str, _Surroundings], news: Mapping[str, _Surroundings]
) -> Iterator[_Match]:
    by_caller: dict[str, set[str]] = defaultdict(set)
    for name, of_new in news.items():
        for caller in of_new.callers:
            by_caller[caller].add(name)
    for old, of_old in olds.items():
        for new in set[str]().union(*(by_caller[caller] for caller in of_old.callers)):
            callers = _likeness(of_old.callers, news[new].callers)
            children = _likeness(of_old.children, news[new].children)
            is_numbered = unnumbered(old) == unnumbered(new)
            if callers >= _LEAST and (is_numbered or children >= _LEAST):
                yield _Match(is_numbered, callers + children, old, new)


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the part of the samples, from 0 to 1, that two distributions have in common."""
    total, total_of_other = one.total(), other.total()
    if not total or not total_of_other:
        return 0.0
    return sum(min(one[name] / total, other[name] / total_of_other) for name in one)
