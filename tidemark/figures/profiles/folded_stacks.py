"""Folded stacks, the samples of a profile by stack, and the plain names of their functions.

A plain name is the same in builds of several versions. Compilers, demanglers and profilers write
more than the name: template arguments, parameter lists, return types and marks of clones. A
compiler numbers closures, so that ``func3`` of one build is ``func4`` of the next: functions with
another name are matched by their callers and children.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

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


# async-profiler and FlameGraph mark the kind of a frame: _[j] for Java compiled just in time.
_KIND = re.compile(r"_\[[a-z0-9]\]$")
# The address of a class that the JVM made, such as App$$Lambda$469/0x00007fb8a5acdd00.
_ADDRESS = re.compile(r"/0x[0-9a-f]+")
# GCC names parts and copies of a function, demangled or not. Linkers add the version of a symbol,
# as in clock_gettime@@GLIBC_2.17 and memcmp@plt, and Rust a hash.
_MARKS = re.compile(
    r"(?: \[clone [^\]]*\]|\.(?:isra|part|constprop|cold|lto_priv|llvm)(?:\.\d+)*"
    r"|@plt|@@?[A-Z]+_[0-9.]+|::h[0-9a-f]{16})+$"
)
# py-spy writes "name (file.py:12)"; the line is another one in another version.
_PYTHON = re.compile(r"(?P<name>[^\s()]+) \((?P<file>[^()]+?)(?::\d+)?\)")
# One mark a turn: with && as another one, a regular expression tries all ways to divide &&&&&.
_QUALIFIERS = re.compile(r"(?: (?:const|volatile|noexcept)| ?&)+$")
_OPERATOR = re.compile(
    r"\boperator(?:\(\)|\[\]|<=>|<<=|>>=|->\*?|<<|>>|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]=?|\b)"
)
# Linux cuts the name of a thread, which profilers have as the lowest frame.
_LONGEST_THREAD = 15
_THUNK = re.compile(r"^(?:non-)?virtual thunk to ")
_NAMELESS = "(anonymous namespace)::"
_OPENINGS = {">": "<", ")": "(", "]": "["}
_ENDS_OF_NAMES = frozenset("_>)]~}'")


# The frames below a system's own frames: the start of a program and of Java's threads.
_START = re.compile(
    r"_start|main|clone3?|__clone3?|start_thread|thread_start_wrapper|__libc_start\w*"
    r"|JavaMain|ThreadJavaMain|jni_\w+|thread_native_entry|call_stub|Interpreter"
    r"|(?:Java)?Thread::\w+|java/lang/Thread\.\w+|java\.lang\.Thread\.\w+"
)
# py-spy names a file from the folder on its path where it lies.
_START_FILES = re.compile(
    r"(?:^|/)harness/|/lib/python\d[\d.]*/(?!site-packages)|<frozen "
    r"|(?:runpy|threading|socketserver|multiprocessing/\w+|concurrent/futures/\w+)\.py$"
)
_INTERPRETER = re.compile(r"pymain_\w+|_?Py(?:[A-Z]\w*)?_\w+|_PyEval\w*")
# The standard library of C++, and the profiler itself.
_NO_SYSTEM = (
    "std::", "CodeBlob::", "CodeCache::", "DwarfParser::", "ElfParser::", "Profiler::", "Symbols::"
)  # fmt: skip


@lru_cache(maxsize=100_000)
def is_start(frame: str) -> bool:
    """Tell whether a frame is of the start of a program or of the harness, and not of a system."""
    name = plain_name(frame)
    if python := _PYTHON.fullmatch(name):
        return _START_FILES.search(python["file"]) is not None
    return is_interpreter(name) or _START.fullmatch(name) is not None


def is_interpreter(name: str) -> bool:
    """Tell whether a function is one of Python's interpreter."""
    return _INTERPRETER.fullmatch(name) is not None


@lru_cache(maxsize=100_000)
def is_library(frame: str) -> bool:
    """Tell whether a frame in a process of Python is of a system.

    The interpreter has thousands of functions in C, whose names have no marks; a library in C++ or
    Rust has namespaces, and a package of Python has files.
    """
    name = plain_name(frame)
    if _PYTHON.fullmatch(name):
        return not is_start(name)
    return "::" in name and not name.startswith(_NO_SYSTEM)


@lru_cache(maxsize=100_000)
def plain_name(frame: str) -> str:
    """Return the bare name of a function: without its address, types, arguments and marks."""
    text = _THUNK.sub("", _MARKS.sub("", _KIND.sub("", _ADDRESS.sub("", frame))))
    if python := _PYTHON.fullmatch(text):
        return f"{python['name']} ({python['file']})"
    if text.startswith("[") or not any(mark in text for mark in _OPENINGS.values()):
        return text or frame
    text = text.replace(_NAMELESS, "")
    if operator := _OPERATOR.search(text):
        before, after = _bare(text[: operator.start()]), _bare(text[operator.end() :], inside=True)
        return _last_word(before) + operator[0] + _QUALIFIERS.sub("", after)
    bare = _QUALIFIERS.sub("", _bare(text))
    return (bare if bare == text else _last_word(bare)) or frame


def _last_word(text: str) -> str:
    """Return a text without the return type before it; Rust's ``<T as Trait>`` stays."""
    return text if text.startswith("<") else text.rpartition(" ")[2]


def _bare(text: str, *, inside: bool = False) -> str:
    """Return a text without its groups in brackets that follow a name.

    Another group stays: ``(*T)`` in a name of Go, and the type in Rust's ``<T as Trait>::name``.
    ``inside`` tells that a name ends where the text begins.
    """
    kept, place, ends = list[str](), 0, _ends(text)
    while place < len(text):
        last = text[place - 1] if place else "_" if inside else " "
        follows = last.isalnum() or last in _ENDS_OF_NAMES
        end = ends.get(place) if follows else None
        if end is None:
            kept.append(text[place])
        place = end or place + 1
    return "".join(kept)


def _ends(text: str) -> Mapping[int, int]:
    """Return the place behind each group in brackets, by the place where it begins."""
    open_groups: dict[str, list[int]] = {opening: [] for opening in _OPENINGS.values()}
    found: dict[int, int] = {}
    for place, mark in enumerate(text):
        if mark in open_groups:
            open_groups[mark].append(place)
        elif (
            mark in _OPENINGS
            and open_groups[_OPENINGS[mark]]
            # The arrow before a type that a function returns closes nothing.
            and text[place - 1 : place + 1] != "->"
        ):
            found[open_groups[_OPENINGS[mark]].pop()] = place + 1
    return found


def named(wanted: str) -> Callable[[str], bool]:
    """Return a test of whether a frame has a wanted name: in full, or its last parts.

    ``CompactionIterator::Next`` is also the name of ``rocksdb::CompactionIterator::Next(int)``. A
    name that other versions have instead stands behind `` / ``.
    """
    names = {name.strip() for name in wanted.split(" / ")}
    whole = names | {name[:_LONGEST_THREAD] for name in names}
    plain = {plain_name(name) for name in names}
    ends = tuple(mark + name for name in plain for mark in ("::", ".", "/"))

    @cache
    def has_name(frame: str) -> bool:
        own = plain_name(frame)
        return frame in whole or own in plain or own.endswith(ends)

    return has_name


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
