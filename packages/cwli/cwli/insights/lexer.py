"""Lexer: the tokens of a query, read one at a time when the parser asks for them.

A slash divides or begins a regular expression. Only the parser knows which, so it asks for a
regular expression where it expects one.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from cwli.insights import foreign
from cwli.insights.syntax import QueryError, Regex, Span


class Kind(Enum):
    """The kind of a token."""

    NAME = "name"
    NUMBER = "number"
    PERIOD = "period"
    TEXT = "text"
    SYMBOL = "symbol"
    END = "end"


class Token(NamedTuple):
    """One token of the query; ``value`` has no quotes and no escapes."""

    kind: Kind
    value: str
    span: Span
    quoted: bool = False

    def __str__(self) -> str:
        return "the end of the query" if self.kind is Kind.END else repr(self.span.text)


_BLANKS = re.compile(r"(?:\s+|#[^\n]*)*")
_TOKEN = re.compile(
    r"""
      (?P<name>(?:[^\W\d]|@|`[^`\n]+`)(?:[\w@.]|`[^`\n]+`)*)
    | (?P<period>[0-9]+(?![eE][+-]?[0-9])[A-Za-z]+)
    | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<symbol>==|!=|<=|>=|<>|=~|!~|~=|&&|\|\||[-+*/%^!()\[\],|=<>.:])
    """,
    re.VERBOSE | re.DOTALL,
)
# A slash in a class such as [^/] does not end the pattern. The class is read possessively:
# otherwise an unclosed pattern could be split into classes in exponentially many ways.
_REGEX = re.compile(r"/((?:[^/\\\[]|\\.|\[\^?+\]?+(?:\[:\w+:\]|[^\]\\]|\\.)*+\])+)/", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\'\"])")
_UNCLOSED = {'"': "text", "'": "text", "`": "name in backticks"}


class Lexer:
    """The tokens of one query; `token` is the next one."""

    def __init__(self, query: str) -> None:
        self._query = query
        self.token = self._read(0)

    def advance(self) -> Token:
        """Return the next token and move past it."""
        token = self.token
        self.token = self._read(token.span.end)
        return token

    def following(self) -> Token:
        """Return the token after the next one."""
        return self._read(self.token.span.end)

    def advance_regex(self) -> Regex:
        """Return the regular expression that begins at the next token and move past it."""
        start = self.token.span.start
        match = _REGEX.match(self._query, start)
        if match is None:
            raise QueryError(
                "expected a regular expression between slashes, such as /a+/", self.token.span
            )
        self.token = self._read(match.end())
        return Regex(Span(self._query, start, match.end()), match[1])

    def _read(self, position: int) -> Token:
        blanks = _BLANKS.match(self._query, position)
        start = blanks.end() if blanks else position
        match = _TOKEN.match(self._query, start)
        if match is None:
            return self._end(start)
        kind = Kind(match.lastgroup)
        value = match[0]
        if kind is Kind.TEXT:
            value = _ESCAPE.sub(r"\1", value[1:-1])
        return Token(
            kind,
            value.replace("`", "") if kind is Kind.NAME else value,
            Span(self._query, start, match.end()),
            quoted="`" in value,
        )

    def _end(self, start: int) -> Token:
        if start == len(self._query):
            return Token(Kind.END, "", Span(self._query, start, start))
        character = self._query[start]
        span = Span(self._query, start, start + 1)
        if character in _UNCLOSED:
            raise QueryError(f"this {_UNCLOSED[character]} is not closed by {character}", span)
        hint = foreign.CHARACTERS.get(character)
        message = f"unexpected character {character!r}"
        raise QueryError(f"{message}; {hint}" if hint else message, span)
