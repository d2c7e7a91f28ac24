"""Flame graphs as one HTML page that needs no network.

A graph shows one version, or has the colours of the change since another. Below the graphs is a
table of functions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import repeat
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, NamedTuple

from tidemark.figures.profiles.call_tree import MOST_FRAMES_DEEP, Frame, call_tree, own_tree
from tidemark.figures.profiles.folded_stacks import Stacks, merged
from tidemark.figures.profiles.growth import (
    Comparison,
    ProfiledTrial,
    plain_stacks,
    renamed_stacks,
)
from tidemark.figures.profiles.growth_sentence import build_sentences, told_sentences
from tidemark.model.checkout import ROOT
from tidemark.model.numerals import bound, percent
from tidemark.model.refusal import Refused
from tidemark.model.sentences import visible
from tidemark.pages import shell
from tidemark.pages.shell import LIBRARIES, MODULES

_FEW = 0.5  # of all samples with a frame of the system
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


def _own_graphs(graphs: Sequence[Graph]) -> Sequence[Graph]:
    """Return graphs without the frames of a program's start; both of a pair share their trees."""
    trees = {id(tree): tree for each in graphs for tree in (each.tree, each.other) if tree}
    own = {name: own_tree(tree) for name, tree in trees.items()}
    return [
        each._replace(tree=own[id(each.tree)], other=each.other and own[id(each.other)])
        for each in graphs
    ]


def _differs(graph: Graph, own: Graph) -> bool:
    """Tell whether a graph has other outermost frames than a program's start."""
    return graph.tree.children.keys() != own.tree.children.keys()


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


_FOLDER = Path(__file__).parent


def flame_page(
    title: str,
    sentences: Sequence[str],
    notes: Sequence[str],
    graphs: Sequence[Graph],
    scripts: str,
) -> str:
    """Return a page of graphs with sentences above them and folded notes.

    ``scripts`` are the libraries that draw the graphs.
    """
    own = _own_graphs(graphs)
    has_start = any(map(_differs, graphs, own))
    functions = [_functions_of(each.name, each.tree) for each in (own if has_start else graphs)]
    few = [_too_few(each) for each in functions]
    body = Template(_file("flame_page.html")).substitute(
        title=escape(title),
        sentences=_paragraphs([*sentences, *filter(None, few)]),
        notes=_paragraphs([*notes, *([_OWN_NOTE] if has_start else [])]),
        switches=f"{_switch('own', _OWN) if has_start else ''}{_switch('inverted', _INVERTED)}",
        legend=_legend() if any(graph.other for graph in graphs) else "",
        graphs="\n".join(map(_graph, graphs, own if has_start else repeat(None))),
        functions=_table(functions),
    )
    # The data of the graphs mean the same with these escapes.
    return shell.page(
        title, _file("flame_page.css"), visible(body), scripts, _file("flame_page.js")
    )


def _paragraphs(sentences: Sequence[str]) -> str:
    return "\n".join(f"<p>{shell.words(sentence)}</p>" for sentence in sentences)


_OWN = "Only frames of the system, without the program's start and the harness"
_OWN_NOTE = (
    "Without the program's start, the frames of the system together are as wide as the graph. "
    "Percentages are of all samples."
)
_INVERTED = "Functions first, their callers below"


def _switch(name: str, words: str) -> str:
    checked = " checked" if name == "own" else ""
    return f'<label><input type="checkbox" id="{name}"{checked}> {words}</label>\n'


def _too_few(functions: _Functions) -> str:
    """Return that few samples are of the system, '' if there are enough."""
    share = sum(functions.own.values()) / functions.samples if functions.samples else 1.0
    if share >= _FEW:
        return ""
    return (
        f"Only {percent(share, 0)} of the samples of {functions.version} have a frame of the "
        "system; the others are of the program's start and of the harness. Longer tests have more."
    )


def _legend() -> str:
    items = (
        f'<li><span class="swatch {name}"></span> {words}</li>' for name, words in WORDS.items()
    )
    return "\n".join(['<ul class="legend">', *items, '<li id="most"></li>', "</ul>"])


def _of_system(graph: Graph) -> dict[str, Any]:
    """Return a graph that is as wide as its frames; its shares are of all samples, ``t``."""
    tree = graph.tree
    return {**graph_data(graph), "v": tree.samples - tree.own, "t": tree.samples}


def _graph(graph: Graph, own: Graph | None) -> str:
    data = {
        "all": graph_data(graph),
        "own": own and _of_system(own),
        "sign": graph.sign,
    }
    return Template(_file("flame_graph.html")).substitute(
        name=escape(graph.name),
        heading=escape(graph.heading),
        note=shell.words(graph.note),
        data=shell.json_for_script(data),
    )


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


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


_SHARES_NOTE = (
    "The width of a frame is its share of the samples of {}. Its colour is what the profiles tell "
    "of its function with all that it calls, the stronger the more this share changed."
)
_BUILDS = (
    "The graphs compare call paths, with all functions. The sentences above and the table of "
    "`tidemark profile compare` leave out a function that only one version has, for example "
    "because the other inlines it."
)


class ProfiledVersion(NamedTuple):
    """The samples of one version, with the plain names of functions."""

    version: str
    stacks: Stacks
    profiles: int
    """The number of its profiles."""


def profiled_version(version: str, trials: Sequence[ProfiledTrial]) -> ProfiledVersion:
    """Return the samples of all profiled trials of a version."""
    stacks = plain_stacks(merged(trial.stacks for trial in trials))
    return ProfiledVersion(version, stacks, len(trials))


def differential_page(
    title: str, base: ProfiledVersion, new: ProfiledVersion, found: Comparison, scripts: str
) -> str:
    """Return the page of a base and a new version, whose comparison is ``found``.

    ``scripts`` are the libraries that draw the graphs.
    """
    versions = base.version, new.version
    told = list(told_sentences(found, *versions, (base.profiles, new.profiles)))
    notes = [*build_sentences(found, *versions), _BUILDS, NOT_DRAWN]
    return flame_page(title, told, notes, _both_graphs(base, new, found), scripts)


def _both_graphs(base: ProfiledVersion, new: ProfiledVersion, found: Comparison) -> list[Graph]:
    """Return the graph of each version; each graph has the frames that the other version lacks."""
    before, after = call_tree(renamed_stacks(base.stacks, found.renamed)), call_tree(new.stacks)
    gone, come = (
        found.told | {each.function: ONLY for each in only} for only in (found.gone, found.come)
    )
    since = f"{new.version}, coloured by its change since {base.version}"
    until = f"{base.version}, coloured by its change to {new.version}"
    return [
        Graph(new.version, since, _SHARES_NOTE.format(new.version), after, before, 1, come),
        Graph(base.version, until, _SHARES_NOTE.format(base.version), before, after, -1, gone),
    ]


_MOST_FUNCTIONS, _MOST_BESIDE = 40, 5
_MOST_MIXED = 45  # of the colour, so that its text stays readable [%]


class _Functions(NamedTuple):
    """The samples of one call tree by function."""

    version: str
    samples: int
    own: Counter[str]
    total: Counter[str]
    """The samples with the function, once for all its frames in a stack."""
    callers: Mapping[str, Counter[str]]
    callees: Mapping[str, Counter[str]]
    """The samples of the frames right below and right above it, by their names."""


def _functions_of(version: str, root: Frame) -> _Functions:
    """Return the functions of a call tree."""
    found = _Functions(
        version, root.samples, Counter(), Counter(), defaultdict(Counter), defaultdict(Counter)
    )
    on_path, waiting = Counter[str](), [(child, "", False) for child in root.children.values()]
    while waiting:
        frame, caller, leaves = waiting.pop()
        if leaves:
            on_path[frame.name] -= 1
            continue
        found.own[frame.name] += frame.own
        if not on_path[frame.name]:
            found.total[frame.name] += frame.samples
        if caller:
            found.callers[frame.name][caller] += frame.samples
            found.callees[caller][frame.name] += frame.samples
        on_path[frame.name] += 1
        waiting.append((frame, caller, True))
        waiting += [(child, frame.name, False) for child in frame.children.values()]
    return found


def _table(versions: Sequence[_Functions]) -> str:
    """Return the table as HTML: the functions with the largest shares of their own in any version.

    A share has the more colour the larger it is.
    """
    largest: Counter[str] = Counter()
    for each in versions:
        for name, samples in each.own.items():
            largest[name] = max(largest[name], round(1e9 * samples / each.samples))
    names = [name for name, _ in sorted(largest.items(), key=lambda each: (-each[1], each[0]))]
    kinds = ("Self", "Total")
    heads = "".join(
        f'<th scope="col" class="number">{kind}, {escape(each.version)}</th>'
        for kind in kinds
        for each in versions
    )
    more = len(names) - _MOST_FUNCTIONS
    rest = f" The graphs have {more:,} more." if more > 0 else ""
    caption = (
        "Functions by their own share of the samples, and by that with all that they call. "
        f"Each opens to its callers and callees.{rest}"
    )
    shown = names[:_MOST_FUNCTIONS]
    most = max((each.total[name] / each.samples for each in versions for name in shown), default=1)
    rows = "\n".join(_row(name, versions, most) for name in shown)
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Functions">'
        f'<table class="functions">\n<caption>{caption}</caption>\n'
        f'<thead><tr><th scope="col">Function</th>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(name: str, versions: Sequence[_Functions], most: float) -> str:
    shares = [counts[name] / each.samples for counts, each in _columns(versions)]
    cells = "".join(_cell(share, most) for share in shares)
    beside = "".join(f"<p>{escape(sentence)}</p>" for sentence in _beside(name, versions))
    title = escape(name)
    head = f"<details><summary>{title}</summary>{beside}</details>" if beside else title
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


def _columns(versions: Sequence[_Functions]) -> Iterator[tuple[Counter[str], _Functions]]:
    yield from ((each.own, each) for each in versions)
    yield from ((each.total, each) for each in versions)


def _cell(share: float, most: float) -> str:
    mixed = round(_MOST_MIXED * share / (most or 1))
    color = f"background: color-mix(in srgb, var(--series-2) {mixed}%, transparent)"
    return f'<td class="number" style="{color}">{percent(share)}</td>'


def _beside(name: str, versions: Sequence[_Functions]) -> Iterator[str]:
    for each in versions:
        for words, found in (("Callers", each.callers), ("Callees", each.callees)):
            if of_name := found.get(name):
                shares = ", ".join(
                    f"{other} {percent(samples / each.samples)}"
                    for other, samples in of_name.most_common(_MOST_BESIDE)
                )
                more = len(of_name) - _MOST_BESIDE
                rest = f" and {more} more" if more > 0 else ""
                yield f"{words} in {each.version}: {shares}{rest}."
