"""The tokens of a query, read one at a time when the parser asks for them.

A slash divides or begins a regular expression. Only the parser knows which, so it asks for a
regular expression where it expects one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from cwli.insights import hints
from cwli.insights.syntax import Field, QueryError, Regex, Span, Text


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
# AWS has no such names; Grafana replaces them before it starts a query.
_VARIABLE = re.compile(r"\$\{?\w+(?::\w+)?\}?")
T = TypeVar("T")
_KEY = re.compile("`([^`]*)`")
_FLAGS = re.compile("[gimsuxy]+")


class TokenReader:
    """A reader of the tokens of one query."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._last = Span(query, 0, 0)
        self.token = self._read(0)
        """The next token."""

    def advance(self) -> Token:
        """Return the next token and move past it."""
        token = self.token
        self._move_past(token.span)
        return token

    def following(self) -> str:
        """Return the token after the next one."""
        return self._read(self.token.span.end).value

    def since(self, start: Span) -> Span:
        """Return the part of the query from ``start`` to the last token that was read."""
        return start.to(self._last)

    def at(self, symbol: str) -> bool:
        """Tell whether a symbol comes next."""
        return self.token.kind is Kind.SYMBOL and self.token.value == symbol

    def take(self, symbol: str) -> bool:
        """Move past a symbol if it comes next, and tell whether it did."""
        is_next = self.at(symbol)
        if is_next:
            self.advance()
        return is_next

    def need(self, symbol: str, expected: str) -> Token:
        """Return a symbol that must come next; ``expected`` names everything that may."""
        if not self.at(symbol):
            raise self.expected(expected)
        return self.advance()

    def at_word(self, *words: str) -> bool:
        """Tell whether one of these lower-case words comes next, in any case."""
        token = self.token
        return token.kind is Kind.NAME and not token.quoted and token.value.lower() in words

    def take_word(self, word: str) -> bool:
        """Move past a word if it comes next, and tell whether it did."""
        is_next = self.at_word(word)
        if is_next:
            self.advance()
        return is_next

    def need_word(self, word: str) -> None:
        """Move past a word that must come next."""
        if not self.take_word(word):
            raise self.expected(repr(word))

    def name(self) -> Token:
        """Return the name that must come next."""
        if self.token.kind is not Kind.NAME:
            raise self.expected("a name")
        return self.advance()

    def alias(self) -> str | None:
        """Return the name after ``as``, None if ``as`` does not come next."""
        return self.name().value if self.take_word("as") else None

    def field(self) -> Field:
        """Return the field that must come next, such as ``a.b[0].c``."""
        name = self.name()
        if name.value.endswith(".") and self.token.kind is Kind.TEXT:
            raise QueryError(
                f"write a name with other characters in backticks: `{self.token.value}`",
                self.token.span,
            )
        parts = [name.span.text]
        while self.take("["):
            parts.append(str(self.whole_number("the place of an element, from 0")))
            self.need("]", "']'")
            if self.take("."):
                parts.append(self.name().span.text)
        path = ".".join(parts)
        plain = path.replace("`", "")
        has_key = any("." in key for key in _KEY.findall(path)) and path != f"`{plain}`"
        return Field(self.since(name.span), plain, path if has_key else "")

    def text(self) -> Text:
        """Return the text in quotes that must come next."""
        if self.token.kind is not Kind.TEXT:
            raise self.expected("a text in quotes")
        token = self.advance()
        return Text(token.span, token.value)

    def regex(self) -> Regex:
        """Return the regular expression that must come next."""
        start = self.token.span.start
        match = _REGEX.match(self._query, start)
        if match is None:
            raise QueryError(
                "expected a regular expression between slashes, such as /a+/", self.token.span
            )
        span = Span(self._query, start, match.end())
        self._move_past(span)
        if self.token.span.start == span.end and _FLAGS.fullmatch(self.token.value):
            raise QueryError(
                "letters after a regular expression are not supported; /(?i)a/ ignores case",
                self.token.span,
            )
        return Regex(span, match[1])

    def whole_number(self, expected: str) -> int:
        """Return the whole number that must come next; ``expected`` describes it."""
        token = self.token
        # The length is checked first: Python refuses to read integers of thousands of digits.
        if token.kind is not Kind.NUMBER or not token.value.isdigit() or len(token.value) > 9:
            raise self.expected(expected)
        self.advance()
        return int(token.value)

    def flag(self) -> bool:
        """Return the true or false that must come next."""
        if not self.at_word("true", "false"):
            raise self.expected("true or false")
        return self.advance().value.lower() == "true"

    def one_of(self, *words: str) -> str:
        """Return the next token, which must be one of these lower-case words, in any case."""
        if not self.at_word(*words):
            raise self.expected(" or ".join(words))
        return self.advance().value.lower()

    def options(self, readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Return the options ``name=value`` that come next; ``readers`` read their values."""
        options: dict[str, Any] = {}
        while self.token.kind is Kind.NAME and self.following() == "=":
            word = self.advance()
            name = word.value.lower()
            if name not in readers or name in options:
                problem = (
                    "given twice" if name in options else f"unknown; known: {', '.join(readers)}"
                )
                raise QueryError(f"the option {word.value!r} is {problem}", word.span)
            self.advance()
            options[name] = readers[name]()
        return options

    def list_of(self, part: Callable[[], T], *following: str) -> tuple[T, ...]:
        """Return one or more parts that commas separate.

        A comma may end a command, and may stand before one of the words that follow the list.
        """
        parts = [part()]
        while self.take(",") and not (self._at_end() or self.at_word(*following)):
            parts.append(part())
        return tuple(parts)

    def _at_end(self) -> bool:
        """Tell whether a command ends here."""
        return self.at("|") or self.token.kind is Kind.END

    def expected(self, description: str) -> QueryError:
        """Return the error for a next token that does not fit a description."""
        return QueryError(f"expected {description}, found {self.token}", self.token.span)

    def _move_past(self, span: Span) -> None:
        self._last = span
        self.token = self._read(span.end)

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
        if variable := _VARIABLE.match(self._query, start):
            raise QueryError(
                f"{variable[0]} is a variable of a dashboard, as of Grafana; write its value",
                Span(self._query, start, variable.end()),
            )
        hint = hints.CHARACTERS.get(character)
        message = f"unexpected character {character!r}"
        raise QueryError(f"{message}; {hint}" if hint else message, span)
