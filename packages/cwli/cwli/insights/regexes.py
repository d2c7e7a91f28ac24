r"""Regular expressions of queries: translated for RE2, split into texts with gaps, or prefiltered.

A query names a group with ``(?<name>…)``. RE2 has no look-around and no back-references, and AWS
documents RE2 for its functions (CloudWatch Logs Insights query syntax: regexReplace).

In an expression such as ``user=(\S+) took (\d+) ms``, each gap repeats one set of characters, to
which the next character after the gap does not belong. So a gap ends where the next text first
occurs, and a search for the texts finds each group.

A search for literals is faster than any filter. Every event that passes a filter holds at least one
of its literals, so a search for these may go before the query.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from cwli.insights.syntax import Column, Expression, Operation, QueryError, Regex, Span, Text

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
        The text before each gap and the text after the last gap. Only the last text may be empty,
        and the first text of an anchored expression.
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


_PART = re.compile(
    r"""
      (?P<verbatim> \\Q.*?(?:\\E|\Z) | \[\^?+\]?+(?:\[:\w+:\]|[^\]\\]|\\.)*+\] | \(\?[a-zA-Z-]+\) )
    | (?P<reference> \\[1-9k] )
    | (?P<escape> \\. )
    | (?P<named> \(\?P?<(?P<name>[A-Za-z_@]\w*)> )
    | (?P<options> \(\?[a-zA-Z-]*: )
    | (?P<around> \(\?<?[=!] )
    | (?P<other> \(\?(?:<@?\w*|.)? )
    | (?P<group> \( )
    | (?P<close> \) )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIGITS = re.compile(r"(?:\\d|\[0-9\])(?:\+\??|\{[1-9]\d*(?:,\d*)?\}\??)?")
_REFUSED = {"reference": "a back-reference", "around": "look-around", "other": "this kind of group"}


class _Opening(NamedTuple):
    """The opening parenthesis of a capturing group."""

    name: str | None


class Pattern:
    """A regular expression of a query.

    Parameters
    ----------
    regex : Regex
        The expression as written.
    group_names : tuple of str
        The names of the groups, in the order of their opening parentheses; empty if the expression
        itself has the names.

    Attributes
    ----------
    span : Span
        The place of the expression in the query.
    names : tuple of str
        The named groups, in the order of their opening parentheses.
    gaps : Gaps or None
        The gaps between the texts that the expression consists of, None if it has other parts.

    Raises
    ------
    QueryError
        If the expression uses a feature that RE2 lacks, its parentheses do not match, or the
        numbers of groups and of ``group_names`` differ.
    """

    def __init__(self, regex: Regex, group_names: tuple[str, ...] = ()) -> None:
        self.span = regex.span
        self._group_names = group_names
        self._pieces: list[str | _Opening] = []
        self._groups: dict[str, tuple[int, int]] = {}
        self.gaps: Gaps | None = gaps_of(regex.pattern)
        self._split(regex.pattern)
        self.names = tuple(sorted(self._groups, key=self._groups.__getitem__))

    def matching(self) -> str:
        """Return the pattern for RE2 without capturing groups."""
        return self._text(self._pieces, None)

    def capturing(self, name: str) -> str:
        """Return the pattern for RE2 in which group 1 captures ``name``, the only capture."""
        return self._text(self._pieces, name)

    def inside(self, name: str) -> str:
        """Return the pattern inside a named group."""
        start, end = self._groups[name]
        return self._text(self._pieces[start + 1 : end], None)

    def is_digits(self, name: str) -> bool:
        """Tell whether a named group matches digits from 0 to 9 alone, and never ''."""
        return _DIGITS.fullmatch(self.inside(name)) is not None

    def gap_of(self, name: str, gaps: Gaps) -> int:
        """Return the gap that a named group captures."""
        groups = [piece.name for piece in self._pieces if isinstance(piece, _Opening)]
        return gaps.groups[groups.index(name)]

    @staticmethod
    def _text(pieces: list[str | _Opening], captured: str | None) -> str:
        return "".join(
            piece
            if isinstance(piece, str)
            else "("
            if captured and piece.name == captured
            else "(?:"
            for piece in pieces
        )

    def _split(self, pattern: str) -> None:
        openings: list[tuple[re.Match[str], int]] = []
        names = self._group_names
        groups = 0
        position = 0
        for part in _PART.finditer(pattern):
            self._pieces.append(pattern[position : part.start()])
            position = part.end()
            if part.lastgroup in _REFUSED:
                raise self._error(f"{_REFUSED[part.lastgroup]} is not supported", part)
            if part.lastgroup == "close":
                if not openings:
                    raise self._error("this parenthesis was not opened", part)
                self._close(*openings.pop())
            elif part["group"] or part["named"] or part["options"]:
                openings.append((part, len(self._pieces)))
            if part["group"] or part["named"]:
                name = names[groups : groups + 1] if names else (part["name"],)
                self._pieces.append(_Opening(*name or (None,)))
                groups += 1
            else:
                self._pieces.append(part[0])
        if openings:
            raise self._error("this parenthesis is not closed", openings[-1][0])
        if names and groups != len(names):
            raise QueryError(
                f"the regular expression has {groups} groups, but {len(names)} names follow "
                "'as'; each group takes one name, (?:…) takes none",
                self.span,
            )
        self._pieces.append(pattern[position:])

    def _close(self, part: re.Match[str], start: int) -> None:
        opening = self._pieces[start]
        name = opening.name if isinstance(opening, _Opening) else None
        if name in self._groups:
            raise self._error(f"the group name {name!r} is used twice", part)
        if name:
            self._groups[name] = (start, len(self._pieces))

    def _error(self, message: str, part: re.Match[str]) -> QueryError:
        start = self.span.start + 1 + part.start()
        span = Span(self.span.query, start, start + len(part[0]))
        return QueryError(f"{message} in a regular expression: {part[0]}", span)


Literals = frozenset[str]
"""A text must hold one of these literals; empty if nothing is known."""

_NONE: Literals = frozenset()
_MOST_LITERALS = 4
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


def literals_of(condition: Expression) -> Literals:
    """Return literals: every event for which a condition holds has one of them."""
    if not isinstance(condition, Operation):
        return _NONE
    match condition.operator, condition.arguments:
        case "and", parts:
            return best(map(literals_of, parts))
        case "or", parts:
            return _any_of(map(literals_of, parts))
        case "like", (Column(column="message"), Text(value=text)):
            return _usable(text)
        case "like", (Column(column="message"), Regex(pattern=pattern)):
            return literals_of_pattern(pattern)
    return _NONE


def best(choices: Iterable[Literals]) -> Literals:
    """Return the choice that lets the fewest events pass: its shortest literal is the longest."""
    return max(choices, key=lambda texts: min(map(len, texts), default=0), default=_NONE)


def _any_of(choices: Iterable[Literals]) -> Literals:
    """Return the literals of all choices; none if a choice has none, or they are too many."""
    each = list(choices)
    texts = frozenset().union(*each)
    return texts if all(each) and len(texts) <= _MOST_LITERALS else _NONE


def _usable(text: str) -> Literals:
    """Return a literal, nothing if it is too short or cannot be searched for."""
    # U+FFFD stands for bytes that are not text.
    usable = len(text) >= _SHORTEST and text.isprintable() and "\ufffd" not in text
    return frozenset({text}) if usable else _NONE


def literals_of_pattern(pattern: str) -> Literals:
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

    def texts(self) -> Literals:
        """Return the literals of the alternatives up to the end of the group."""
        branches: list[list[Literals]] = [[]]
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
        return _any_of(map(best, branches))

    def _repeat(self) -> str:
        """Take the repetition of a piece; return its sign, '' if the piece stands once."""
        if self._pieces and self._pieces[-1][0] == "repeat":
            return self._pieces.pop()[1][0]
        return ""
