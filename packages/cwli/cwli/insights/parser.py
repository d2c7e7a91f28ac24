"""Parser: from the text of a query to its commands.

Source: AWS documentation, CloudWatch Logs Insights query syntax.
"""

from __future__ import annotations

import re

from cwli.insights import hints
from cwli.insights.commands import COMMANDS, REFUSED, SUGGESTED, read
from cwli.insights.expressions import Reader
from cwli.insights.functions import FUNCTIONS
from cwli.insights.syntax import Command, QueryError, Span
from cwli.insights.tokens import Kind, Token

# The limit of StartQuery (AWS documentation, StartQuery: queryString).
MOST_CHARACTERS = 10_000
# The least similarity of a misspelt command.
_SIMILAR = 0.75
_LISTS = ("Fields", "Display", "Stats", "Sort", "Dedup")
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "=~", "like", "in", "not")


def parse(query: str) -> tuple[Command, ...]:
    """Return the commands of a query.

    Raises
    ------
    QueryError
        If the text is not a query, or uses an unsupported feature.
    """
    if len(query) > MOST_CHARACTERS:
        raise QueryError(
            f"the query has {len(query)} characters; at most {MOST_CHARACTERS} are accepted",
            Span(query, 0, 0),
        )
    if match := re.search(r"[\0\ud800-\udfff]", query):
        raise QueryError(
            f"unexpected character {match[0]!r}", Span(query, match.start(), match.end())
        )
    reader = Reader(query, _commands)
    _check_beginning(reader, query)
    commands = _commands(reader)
    if reader.token.kind is not Kind.END:
        is_list = commands[-1].kind in _LISTS and reader.token.kind is Kind.NAME
        comma = "',' between fields, " if is_list else ""
        raise reader.expected(f"{comma}'|' and the next command, or the end of the query")
    return commands


def _commands(reader: Reader) -> tuple[Command, ...]:
    reader.take("|")
    commands = [_command(reader)]
    while reader.take("|"):
        if reader.token.kind is Kind.END:
            break
        commands.append(_command(reader))
    _check_end(reader)
    return tuple(commands)


def _check_beginning(reader: Reader, query: str) -> None:
    if reader.token.kind is Kind.END:
        raise QueryError(
            "the query is empty; write commands separated by |, such as fields @message",
            Span(query, 0, 0),
        )


def _check_comment(reader: Reader) -> None:
    if (reader.at("-") or reader.at("/")) and reader.following() == reader.token.value:
        raise QueryError("a comment begins with #", reader.token.span)


def _check_end(reader: Reader) -> None:
    token = reader.token
    _check_comment(reader)
    if reader.at_word(*COMMANDS):
        raise QueryError(f"'|' is missing before the command {token.value!r}", token.span)
    if reader.at_word(*hints.COMMANDS):
        raise _unknown(token)
    if reader.at("-"):
        raise QueryError("a name with '-' is written in backticks, such as `host-name`", token.span)
    if reader.at(":"):
        raise QueryError("write a text with ':' in quotes", token.span)


def _command(reader: Reader) -> Command:
    _check_comment(reader)
    if reader.token.kind is not Kind.NAME:
        raise reader.expected("a command")
    word = reader.advance()
    name = word.value.lower()
    if name not in COMMANDS:
        raise _unknown(word, _with_command(reader, word.value))
    return read(name, reader, word.span)


def _with_command(reader: Reader, word: str) -> str:
    """Return a hint at the command that a condition or a call needs, '' for another beginning."""
    if reader.at("(") and (function := FUNCTIONS.get(word.lower())):
        return f"write {'stats' if function.aggregate else 'fields'} {word}(…)"
    if reader.at_word(*_COMPARISONS) or any(map(reader.at, _COMPARISONS)):
        return f"write filter {word} {reader.token.span.text} …"
    return ""


def _unknown(word: Token, otherwise: str = "") -> QueryError:
    """Return the error of an unknown command; ``otherwise`` is the hint if none is meant."""
    name = word.value.lower()
    if reason := REFUSED.get(name):
        return QueryError(f"{name} is not supported: {reason}", word.span)
    is_meant = name in hints.COMMANDS or hints.nearest(name, SUGGESTED, _SIMILAR)
    near = hints.nearest(name, (*SUGGESTED, *REFUSED, *hints.COMMANDS))
    hint = hints.COMMANDS.get(near) or hints.suggestion(near)
    if otherwise and not is_meant:
        hint = otherwise
    supported = f"supported: {', '.join(SUGGESTED)}"
    return QueryError(f"unknown command {word.value!r}; {hint or supported}", word.span)
