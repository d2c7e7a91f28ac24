"""Regular expressions of texts with gaps between them, such as ``user=(\\S+) took (\\d+) ms``.

Each gap repeats one set of characters, to which the next character after the gap does not belong.
So a gap ends where the next text first occurs, and a search for the texts finds each group.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

# The syntax of RE2 that Python shares; a set is of the same characters in both.
_REPEAT = r"(?:[?*+]\??|\{[0-9,]+\}\??)"
_TOKEN = re.compile(
    rf"""
      (?P<open> \((?:\?(?:P?<@?\w+>|:))? )?
      (?P<gap> (?P<set> \\[dDsSwW] | \[\^?(?:\\.|[^\]\[\\])+\] ) {_REPEAT}? )
      (?(open) \) )
    | (?P<text> (?: \\[^\w\s] | [^\\\[\](){{}}.?*+^$|] )+ ) (?! {_REPEAT} )
    """,
    re.VERBOSE,
)


class Gaps(NamedTuple):
    """The texts around the gaps of a regular expression.

    Attributes
    ----------
    is_anchored : bool
        Whether a match begins where the text begins.
    texts : list of str
        The text before each gap, and that after the last gap. Only the first of an anchored
        expression and the last may be empty.
    gaps : list of str
        The regular expression of each gap.
    groups : list of int
        The gap of each capturing group.
    """

    is_anchored: bool
    texts: list[str]
    gaps: list[str]
    groups: list[int]

    @property
    def begin(self) -> str:
        """The text before the first gap, if a match begins with it; other matches follow it."""
        return self.texts[0] if self.is_anchored else ""

    @property
    def may_search_first(self) -> bool:
        """Whether the first gap ends where the text after it first occurs in a match."""
        return len(self.gaps) > 1 and self.texts[1][0] not in self.begin

    def regex(self, captured: Collection[int] = ()) -> str:
        """Return a regular expression of RE2, in which some gaps are groups.

        It matches at the beginning of a text: the whole one, or that after the first text.
        """
        parts = [
            (f"({gap})" if index in captured else gap) + re.escape(after)
            for index, (gap, after) in enumerate(zip(self.gaps, self.texts[1:], strict=True))
        ]
        return f"^{re.escape(self.begin)}{''.join(parts)}"


def gaps_of(pattern: str) -> Gaps | None:
    """Return the gaps of a regular expression, None if it is not of texts with gaps."""
    rest = pattern.removeprefix("^")
    tokens = list(_TOKEN.finditer(rest))
    if sum(len(token[0]) for token in tokens) < len(rest):
        return None
    found = Gaps(pattern != rest, [""], [], [])
    sets = []
    for token in tokens:
        if text := token["text"]:
            found.texts[-1] += re.sub(r"\\(.)", r"\1", text)
            continue
        if token["open"] and not token["open"].startswith("(?:"):
            found.groups.append(len(found.gaps))
        found.gaps.append(token["gap"])
        found.texts.append("")
        sets.append(token["set"])
    return found if _is_definite(found, sets) else None


def _is_definite(found: Gaps, sets: list[str]) -> bool:
    """Tell whether each gap ends where the text after it first occurs, or is the last."""
    within = found.texts[found.is_anchored : -1]
    ends = zip(sets, (text[:1] for text in found.texts[1:]), strict=True)
    return all(within) and not any(end and re.match(set_, end, re.ASCII) for set_, end in ends)
