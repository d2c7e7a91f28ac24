"""The words of a query, taken one after another, and what is said when another was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from local.insights.lexer import Kind, Lexer, Token
from local.insights.syntax import Field, QueryError, Regex, Span, Text

T = TypeVar("T")
_FLAGS = re.compile("[gimsuxy]+")


class Words:
    """The words of one query, taken one after another."""

    def __init__(self, query: str) -> None:
        self._lexer = Lexer(query)
        self._last = Span(query, 0, 0)

    @property
    def token(self) -> Token:
        """The next word."""
        return self._lexer.token

    def advance(self) -> Token:
        """Return the next word and go past it."""
        self._last = self.token.span
        return self._lexer.advance()

    def following(self) -> str:
        """Return the word after the next one."""
        return self._lexer.following().value

    def since(self, start: Span) -> Span:
        """Return the part of the query from ``start`` to the last word that was taken."""
        return start.to(self._last)

    def at(self, symbol: str) -> bool:
        """Return whether a symbol is next."""
        return self.token.kind is Kind.SYMBOL and self.token.value == symbol

    def take(self, symbol: str) -> bool:
        """Go past a symbol if it is next, and return whether it was."""
        found = self.at(symbol)
        if found:
            self.advance()
        return found

    def need(self, symbol: str, expected: str) -> Token:
        """Go past a symbol that must be next; ``expected`` says what else may be."""
        if not self.at(symbol):
            raise self.expected(expected)
        return self.advance()

    def at_word(self, *words: str) -> bool:
        """Return whether one of these words, in small letters here, is next."""
        token = self.token
        return token.kind is Kind.NAME and not token.quoted and token.value.lower() in words

    def take_word(self, word: str) -> bool:
        """Go past a word if it is next, and return whether it was."""
        found = self.at_word(word)
        if found:
            self.advance()
        return found

    def need_word(self, word: str) -> None:
        """Go past a word that must be next."""
        if not self.take_word(word):
            raise self.expected(repr(word))

    def name(self) -> Token:
        """Return the name that must be next."""
        if self.token.kind is not Kind.NAME:
            raise self.expected("a name")
        return self.advance()

    def alias(self) -> str | None:
        """Return the name after ``as``, if that is next."""
        return self.name().value if self.take_word("as") else None

    def field(self) -> Field:
        """Return the field that must be next, such as ``a.b[0].c``."""
        name = self.name()
        if name.value.endswith(".") and self.token.kind is Kind.TEXT:
            raise QueryError(
                f"a name with other characters stands in backticks: `{self.token.value}`",
                self.token.span,
            )
        parts = [name.value]
        while self.take("["):
            parts.append(str(self.whole_number("the place of an element, from 0")))
            self.need("]", "']'")
            if self.take("."):
                parts.append(self.name().value)
        return Field(self.since(name.span), ".".join(parts))

    def text(self) -> Text:
        """Return the text in quotes that must be next."""
        if self.token.kind is not Kind.TEXT:
            raise self.expected("a text in quotes")
        token = self.advance()
        return Text(token.span, token.value)

    def regex(self) -> Regex:
        """Return the regular expression that must be next."""
        regex = self._lexer.advance_regex()
        self._last = regex.span
        if self.token.span.start == regex.span.end and _FLAGS.fullmatch(self.token.value):
            raise QueryError(
                "letters after a regular expression are not supported; /(?i)a/ ignores case",
                self.token.span,
            )
        return regex

    def whole_number(self, expected: str) -> int:
        """Return the whole number that must be next; ``expected`` says which is meant."""
        token = self.token
        # The length first: Python refuses to read integers of thousands of digits.
        if token.kind is not Kind.NUMBER or not token.value.isdigit() or len(token.value) > 9:
            raise self.expected(expected)
        self.advance()
        return int(token.value)

    def flag(self) -> bool:
        """Return the true or false that must be next."""
        if not self.at_word("true", "false"):
            raise self.expected("true or false")
        return self.advance().value.lower() == "true"

    def one_of(self, *words: str) -> str:
        """Return which of these words, in small letters here, is next; one must be."""
        if not self.at_word(*words):
            raise self.expected(" or ".join(words))
        return self.advance().value.lower()

    def options(self, readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Return what is written as ``name=value``, each value read as its name says."""
        found: dict[str, Any] = {}
        while self.token.kind is Kind.NAME and self.following() == "=":
            word = self.advance()
            name = word.value.lower()
            if name not in readers or name in found:
                unknown = (
                    "given twice" if name in found else f"unknown; known: {', '.join(readers)}"
                )
                raise QueryError(f"the option {word.value!r} is {unknown}", word.span)
            self.advance()
            found[name] = readers[name]()
        return found

    def listed(self, part: Callable[[], T]) -> tuple[T, ...]:
        """Return what is written one after another with commas between."""
        parts = [part()]
        while self.take(","):
            parts.append(part())
        return tuple(parts)

    def expected(self, what: str) -> QueryError:
        """Return the error that something else than ``what`` is next."""
        return QueryError(f"expected {what}, found {self.token}", self.token.span)
