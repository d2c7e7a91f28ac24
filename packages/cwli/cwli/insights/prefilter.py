"""The prefilter of a query: every event that passes holds at least one of its literals.

A search for literals is faster than any filter, so it may go before the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cwli.insights.plan import Keep, Plan
from cwli.insights.syntax import Column, Expression, Operation, Regex, Text

Texts = frozenset[str]
"""An event must hold one of these literals; empty if nothing is known."""

_NONE: Texts = frozenset()
_MOST_TEXTS = 4
_SHORTEST = 3
# The pieces of the regular expressions that are understood, in the syntax of RE2.
_PIECE = re.compile(
    r"""
      (?P<open> \((?:\?(?:P?<@?\w+>|:)|(?!\?)) )
    | (?P<close> \) )
    | (?P<or> \| )
    | (?P<character> \\[^\w\s] | [^\\\[\](){}.?*+^$|] )
    | (?P<other> \\[dDsSwWbBnrt] | \[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\] | [.^$] )
    | (?P<repeat> [?*+]\?? | \{[0-9,]+\}\?? )
    """,
    re.VERBOSE,
)


def prefilter(plan: Plan) -> Texts:
    """Return the literals of the filters before any step that needs other events."""
    found = []
    for step in plan.steps if not plan.has_subqueries else ():
        if not step.per_event:
            break
        if isinstance(step, Keep):
            found.append(_of(step.condition))
    return _best(found)


def _of(condition: Expression) -> Texts:
    if not isinstance(condition, Operation):
        return _NONE
    match condition.operator, condition.arguments:
        case "and", parts:
            return _best(map(_of, parts))
        case "or", parts:
            return _any_of(map(_of, parts))
        case "like", (Column(column="message"), Text(value=text)):
            return _usable(text)
        case "like", (Column(column="message"), Regex(pattern=pattern)):
            return of_pattern(pattern)
    return _NONE


def _best(choices: Iterable[Texts]) -> Texts:
    """Return the choice that lets the fewest events pass: its shortest literal is the longest."""
    return max(choices, key=lambda texts: min(map(len, texts), default=0), default=_NONE)


def _any_of(choices: Iterable[Texts]) -> Texts:
    """Return the literals of all choices; none if a choice has none, or they are too many."""
    each = list(choices)
    texts = frozenset().union(*each)
    return texts if all(each) and len(texts) <= _MOST_TEXTS else _NONE


def _usable(text: str) -> Texts:
    """Return a literal, nothing if it is too short or cannot be searched for."""
    # U+FFFD stands for bytes that are not text.
    usable = len(text) >= _SHORTEST and text.isprintable() and "\ufffd" not in text
    return frozenset({text}) if usable else _NONE


def of_pattern(pattern: str) -> Texts:
    """Return literals: every match of a regular expression contains one of them."""
    pieces = list(_PIECE.finditer(pattern))
    if sum(len(piece[0]) for piece in pieces) < len(pattern):
        return _NONE
    return _Alternatives(pieces).texts()


class _Alternatives:
    """A reader of the pieces of a regular expression."""

    def __init__(self, pieces: Iterable[re.Match[str]]) -> None:
        self._pieces = [(piece.lastgroup, piece[0]) for piece in pieces]
        self._pieces.reverse()

    def texts(self) -> Texts:
        """Return the literals of the alternatives up to the end of the group."""
        branches: list[list[Texts]] = [[]]
        run = ""
        while self._pieces:
            kind, piece = self._pieces.pop()
            if kind == "close":
                break
            texts = self.texts() if kind == "open" else _NONE
            repeat = self._repeat()
            if kind == "character" and repeat in ("", "+"):
                run += piece[-1]
                if not repeat:
                    continue
            branches[-1] += (_usable(run), texts if repeat in ("", "+") else _NONE)
            run = ""
            if kind == "or":
                branches.append([])
        branches[-1].append(_usable(run))
        return _any_of(map(_best, branches))

    def _repeat(self) -> str:
        """Take the repetition of a piece; return its sign, '' if the piece stands once."""
        if self._pieces and self._pieces[-1][0] == "repeat":
            return self._pieces.pop()[1][0]
        return ""
