r"""Regular expressions of queries, made ready for RE2.

A query names groups by ``(?<name>…)``. RE2 has no look-around and no back-references, and AWS
documents RE2 for its functions (CloudWatch Logs Insights query syntax: regexReplace).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from local.insights.syntax import QueryError, Regex, Span

_PART = re.compile(
    r"""
      (?P<verbatim> \\Q.*?(?:\\E|\Z) | \[\^?+\]?+(?:\[:\w+:\]|[^\]\\]|\\.)*+\] | \(\?[a-zA-Z-]+\) )
    | (?P<reference> \\[1-9k] )
    | (?P<escape> \\. )
    | (?P<named> \(\?P?<(?P<name>[A-Za-z_]\w*)> )
    | (?P<options> \(\?[a-zA-Z-]*: )
    | (?P<around> \(\?<?[=!] )
    | (?P<other> \(\?(?:<\w*|.)? )
    | (?P<group> \( )
    | (?P<close> \) )
    """,
    re.VERBOSE | re.DOTALL,
)
_REFUSED = {
    "reference": "a back-reference",
    "around": "look-around",
    "other": "this kind of group",
}


@dataclass(frozen=True)
class _Opening:
    """A parenthesis that captures, as the query is written."""

    name: str | None


class Pattern:
    """A regular expression of a query.

    Parameters
    ----------
    regex : Regex
        As written.
    given : tuple of str
        The names of its groups, in the order in which they open; none if it names them itself.

    Attributes
    ----------
    span : Span
        Where it was written.
    names : tuple of str
        Its named groups, in the order in which they open.

    Raises
    ------
    QueryError
        If it uses what RE2 does not have, its parentheses do not match, or it has not as many
        groups as names were given.
    """

    def __init__(self, regex: Regex, given: tuple[str, ...] = ()) -> None:
        self.span = regex.span
        self._given = given
        self._pieces: list[str | _Opening] = []
        self._groups: dict[str, tuple[int, int]] = {}
        self._split(regex.pattern)
        self.names = tuple(sorted(self._groups, key=self._groups.__getitem__))

    def matching(self) -> str:
        """Return the pattern for RE2 with no group that captures."""
        return self._text(self._pieces, None)

    def capturing(self, name: str) -> str:
        """Return the pattern for RE2 in which group 1, and nothing else, captures ``name``."""
        return self._text(self._pieces, name)

    def inside(self, name: str) -> str:
        """Return what stands inside a named group."""
        start, end = self._groups[name]
        return self._text(self._pieces[start + 1 : end], None)

    def may_be_empty(self, name: str) -> bool:
        """Return whether a named group may match '': False only if it surely does not."""
        try:
            return re.fullmatch(self.inside(name), "") is not None
        except re.error:
            # What RE2 accepts and Python does not.
            return True

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
        opened: list[tuple[re.Match[str], int]] = []
        groups = 0
        position = 0
        for part in _PART.finditer(pattern):
            self._pieces.append(pattern[position : part.start()])
            position = part.end()
            if part.lastgroup in _REFUSED:
                raise self._error(f"{_REFUSED[part.lastgroup]} is not supported", part)
            if part.lastgroup == "close":
                if not opened:
                    raise self._error("this parenthesis was not opened", part)
                self._close(*opened.pop())
            elif part["group"] or part["named"] or part["options"]:
                opened.append((part, len(self._pieces)))
            if part["group"] or part["named"]:
                given = self._given[groups : groups + 1] if self._given else (part["name"],)
                self._pieces.append(_Opening(*given or (None,)))
                groups += 1
            else:
                self._pieces.append(part[0])
        if opened:
            raise self._error("this parenthesis is not closed", opened[-1][0])
        if self._given and groups != len(self._given):
            raise QueryError(
                f"the regular expression has {groups} groups, but {len(self._given)} names follow "
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
