"""From text to commands.

Source: AWS documentation, CloudWatch Logs Insights query syntax.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from local.insights.commands import COMMANDS, REFUSED
from local.insights.expressions import Reader
from local.insights.lexer import Kind, Token
from local.insights.syntax import Command, QueryError, Span

# StartQuery takes no more characters (AWS documentation, StartQuery: queryString).
MOST_CHARACTERS = 10_000


def parse(query: str) -> tuple[Command, ...]:
    """Return the commands of a query.

    Raises
    ------
    QueryError
        If the text is no query, or uses what is not supported.
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
    commands = _commands(reader)
    if reader.token.kind is not Kind.END:
        raise reader.expected("'|' and the next command, or the end of the query")
    return commands


def printed(commands: tuple[Command, ...]) -> str:
    """Return commands as a query of one line for each."""
    return "\n| ".join(map(str, commands))


def _commands(reader: Reader) -> tuple[Command, ...]:
    reader.take("|")
    commands = [_command(reader)]
    while reader.take("|"):
        if reader.token.kind is Kind.END:
            break
        commands.append(_command(reader))
    return tuple(commands)


def _command(reader: Reader) -> Command:
    if reader.token.kind is not Kind.NAME:
        raise reader.expected("a command")
    word = reader.advance()
    read = COMMANDS.get(word.value.lower())
    if read is None:
        raise _unknown(word)
    return read(reader, word.span)


def _unknown(word: Token) -> QueryError:
    name = word.value.lower()
    if reason := REFUSED.get(name):
        return QueryError(f"{name} is not supported: {reason}", word.span)
    close = get_close_matches(name, COMMANDS, 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    supported = ", ".join(COMMANDS)
    return QueryError(f"unknown command {word.value!r}; {meant}supported: {supported}", word.span)
