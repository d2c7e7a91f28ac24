"""Answers in words: each verdict behind its mark, ``▼ slower``, and the metrics that have it.

Marks tell verdicts apart without colour.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tidemark.model.numerals import NONE
from tidemark.model.sentences import plural

CHANGES = ("slower", "faster")
"""The verdicts that say how much a version differs."""
MOST_NAMES = 3
"""The most metrics that an answer names for each verdict; tables have all."""

DECIDED = ("slower", "faster", "same")
"""The verdicts that say how the versions differ."""
_UNLIKE = " on unlike machines"
MARKS = {
    "slower": "▼",
    f"slower{_UNLIKE}": "▽",
    "faster": "▲",
    f"faster{_UNLIKE}": "△",
    "cannot tell": "?",
    "not comparable": "–",
    "same": "=",
    f"same{_UNLIKE}": "≈",
}
"""The mark of each word, in the order in which people look for them; up is better.

A hollow mark says that the machines, and not the versions, may have made the difference.
"""
UNCLEAR = "var(--unclear)"
COLORS = {
    "slower": "var(--worse)",
    "faster": "var(--better)",
    "same": "var(--ink)",
    "cannot tell": UNCLEAR,
}
"""The colour of each verdict in charts, in CSS."""
FAILURES = {"failed": "✗ failed", "incomplete": "✗ incomplete"}
"""The marked words of trials that did not complete."""
MARKED = re.compile(
    "|".join(
        [rf"{re.escape(mark)} (?:[\d,]+ )?{word}" for word, mark in MARKS.items()]
        + [*FAILURES.values()]
    )
)
"""A marked word in a text, ``▼ slower``, perhaps with a number: ``▼ 3 slower``."""
_MOST_CHANGES, _MOST_REASONS = 6, 3


def qualified(word: str, *, unlike: bool) -> str:
    """Return the word of a verdict, which says so if the machines of both versions differ."""
    return f"{word}{_UNLIKE}" if unlike and word in DECIDED else word


def marked(word: str) -> str:
    """Return the word of a verdict behind its mark."""
    return f"{MARKS[word]} {word}"


class Told(NamedTuple):
    """A verdict on a metric, as an answer tells it."""

    name: str
    family: str
    """The name of the metric without statistic and labels."""
    word: str
    """The word of the verdict, with the machines if they are unlike."""
    reason: str
    """The reason of a missing verdict, '' for other verdicts."""
    decides: bool
    effect: float | None
    """The change that the verdict judges, 0.1 being 10 % more."""
    change: str
    interval: str
    """The change and its interval in words, ``none`` without them."""
    note: str = ""
    """Whether new pairs confirmed the change, and which pairs lie too far from all others."""
    versions: str = ""
    """The version and its base in words, '' if the headline names them."""

    @property
    def is_change(self) -> bool:
        """Whether the verdict is slower or faster."""
        return self.word.startswith(CHANGES)

    @property
    def place(self) -> tuple[bool, bool, int, float]:
        """The place among other verdicts: changes first, deciding metrics, the worst and largest.

        A change to the half is as large as one to the double.
        """
        share = max(self.effect or 0.0, -1 + 1e-12)
        size = abs(math.log1p(share))
        return not self.is_change, not self.decides, [*MARKS].index(self.word), -size


def headline(told: Collection[Told], failures: Sequence[str] = ()) -> str:
    """Return how many metrics have which verdict: ``▼ 3 slower, ▲ 2 faster, = 26 same``.

    ``failures`` stand behind the changes.
    """
    counts = Counter(each.word for each in told)
    found = {word: f"{MARKS[word]} {counts[word]:,} {word}" for word in MARKS if word in counts}
    changes = [text for word, text in found.items() if word.startswith(CHANGES)]
    others = [text for text in found.values() if text not in changes]
    return ", ".join([*changes, *failures, *others])


def answer_items(told: Iterable[Told]) -> Iterator[str]:
    """Yield the few changes that matter most, and then the metrics of each other verdict.

    The changes of a metric under several labels and statistics are one item, and so are the metrics
    without a verdict for one reason.
    """
    ordered = sorted(told, key=lambda each: each.place)
    changes = [each for each in ordered if each.is_change]
    families: dict[tuple[str, str, str], list[Told]] = {}
    for each in changes:
        families.setdefault((each.word, each.family, each.versions), []).append(each)
    yield from (_change(each) for each in [*families.values()][:_MOST_CHANGES])
    if more := sum(map(len, [*families.values()][_MOST_CHANGES:])):
        yield f"{plural(more, 'more change')}, in the table of results"
    others = sorted(ordered[len(changes) :], key=_why)
    for word, of_word in groupby(others, key=lambda each: each.word):
        reasons = [[*each] for _, each in groupby(of_word, key=_why)]
        reasons.sort(key=len, reverse=True)
        yield from map(_others, reasons[:_MOST_REASONS])
        if rest := sum(map(len, reasons[_MOST_REASONS:])):
            yield f"{marked(word)} for other reasons: {plural(rest, 'metric')}"


def _why(each: Told) -> tuple[int, str]:
    return [*MARKS].index(each.word), each.reason


def _change(family: Sequence[Told]) -> str:
    """Return the largest change of a metric, and how many more the metric has."""
    first, *more = family
    within = f" (95 % interval {first.interval})" if first.interval != NONE else ""
    versions = f"{first.versions}, " if first.versions else ""
    note = f", {first.note}" if first.note else ""
    rest = f"; {len(more)} more of {first.family}" if more else ""
    return f"{marked(first.word)}: {first.name}, {versions}{first.change}{within}{note}{rest}"


def _others(told: Sequence[Told]) -> str:
    first = told[0]
    why = f" ({first.reason})" if first.reason else ""
    names = [*dict.fromkeys(each.name for each in told)]
    return f"{marked(first.word)}: {first_names(names)}{why}"


def first_names(names: Sequence[str]) -> str:
    """Return the first ``MOST_NAMES`` names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
