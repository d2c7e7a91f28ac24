"""The answer of a comparison in one line, which everything else explains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tidemark.report.comparison.setup import unlike_work
from tidemark.report.comparison.sides import Pair, Sides
from tidemark.report.marks import MARKS, marked
from tidemark.report.numbers import change

# The answer names so many metrics of a verdict; the table has all.
_MOST_NAMES = 3


def answer(sides: Sides, pairs: Sequence[Pair]) -> str:
    """Return the metrics of each verdict, slower ones first, with the sizes of changes."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    times = Counter(pair.name for pair in pairs)
    for pair in pairs:
        name = pair.title if times[pair.name] > 1 else pair.name
        names[pair.word].append(f"{name}{_size(pair)}")
    found = [f"{marked(word)}: {_first(names[word])}" for word in MARKS if word in names]
    text = f"{'; '.join(found) or 'There is no metric to compare'}."
    return f"{text} The two sides were not measured alike." if unlike_work(sides) else text


def _size(pair: Pair) -> str:
    if pair.verdict is None or pair.word not in {"slower", "faster"}:
        return ""
    return f" ({change(pair.verdict.change, pair.metric)})"


def _first(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
