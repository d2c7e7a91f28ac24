"""The table of the functions in call trees: their shares by version, their callers and callees."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from tidemark.figures.profiles.call_tree import Frame
from tidemark.model.numerals import percent

_MOST_FUNCTIONS, _MOST_BESIDE = 40, 5
_MOST_MIXED = 45  # of the colour, so that its text stays readable [%]


class Functions(NamedTuple):
    """The samples of one call tree by function."""

    version: str
    samples: int
    own: Counter[str]
    total: Counter[str]
    """The samples with the function, once for all its frames in a stack."""
    callers: Mapping[str, Counter[str]]
    callees: Mapping[str, Counter[str]]
    """The samples of the frames right below and right above it, by their names."""


def functions_of(version: str, root: Frame) -> Functions:
    """Return the functions of a call tree."""
    found = Functions(
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


def table(versions: Sequence[Functions]) -> str:
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


def _row(name: str, versions: Sequence[Functions], most: float) -> str:
    shares = [counts[name] / each.samples for counts, each in _columns(versions)]
    cells = "".join(_cell(share, most) for share in shares)
    beside = "".join(f"<p>{escape(sentence)}</p>" for sentence in _beside(name, versions))
    title = escape(name)
    head = f"<details><summary>{title}</summary>{beside}</details>" if beside else title
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


def _columns(versions: Sequence[Functions]) -> Iterator[tuple[Counter[str], Functions]]:
    yield from ((each.own, each) for each in versions)
    yield from ((each.total, each) for each in versions)


def _cell(share: float, most: float) -> str:
    mixed = round(_MOST_MIXED * share / (most or 1))
    color = f"background: color-mix(in srgb, var(--series-2) {mixed}%, transparent)"
    return f'<td class="number" style="{color}">{percent(share)}</td>'


def _beside(name: str, versions: Sequence[Functions]) -> Iterator[str]:
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
