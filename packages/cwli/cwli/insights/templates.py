"""Templates of log statements: the text that messages share, and the variables in between.

A file of events may say for each message its template, and hold its variables in the columns
``v1``, ``v2`` and so on (as CLP: Rodrigues, Luo, Yuan, OSDI 2021). A step of a query that needs
messages is then decided once for all messages of a template, or reads variables only, if its result
is certain whatever the variables are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from cwli.insights.syntax import Column, Expression, Operation, Text
from cwli.insights.values import quoted

MARK = "\x11"
"""The character of a template that stands for a variable."""
CONSTANT = "\x12"
"""The character around a variable that has the same value in all messages of the template."""
VARIABLE = r"[0-9]+(?:\.[0-9]+)+|[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|[0-9]+"
"""The regular expression of a variable, for RE2: a number, a version, an address or an id."""
# A variable begins and ends with one of the former, and may have the latter between them.
_DIGITS, _INNER = frozenset("0123456789abcdef"), frozenset(".-")
_ANY = re.compile(f"{MARK}|{CONSTANT}([^{CONSTANT}]*){CONSTANT}")


class UncertainError(Exception):
    """A result that depends on the variables of a message."""


class Capture(NamedTuple):
    """SQL for a part of a message, and the columns of the variables that it reads."""

    sql: str
    reads: frozenset[str]


_ABSENT = Capture("CAST(NULL AS VARCHAR)", frozenset())


def variable(number: int) -> str:
    """Return the column of a variable, counted from 1."""
    return f"v{number}"


class Template:
    """A template of messages.

    Parameters
    ----------
    text : str
        The text, with `MARK` for each variable, and with `CONSTANT` around each constant one.
    """

    def __init__(self, text: str) -> None:
        first, *rest = _ANY.split(text)
        values = rest[::2]
        self._numbers = [number for number, value in enumerate(values, 1) if value is None]
        parts = (value or MARK for value in values)
        self._text = first + "".join(map("".join, zip(parts, rest[1::2], strict=True)))

    def holds(self, text: str) -> bool:
        """Tell whether every message has a text, or none; raise UncertainError otherwise."""
        return self._finds(text, 0) >= 0 or self.place(text, 0) is not None

    def place(self, text: str, start: int) -> int | None:
        """Return the first place of a text at or after another place, None if it is absent.

        Raises
        ------
        UncertainError
            If an earlier place may have the text, too.
        """
        found = self._finds(text, start)
        for at in range(start, len(self._text) if found < 0 else found):
            if self._may_be_at(text, at):
                raise UncertainError
        return found if found >= 0 else None

    def captures(self, literals: Sequence[str]) -> list[Capture]:
        """Return the text between each two of the literals of a glob, null without a match.

        Raises
        ------
        UncertainError
            If the places of the literals depend on the variables.
        """
        if not all(literals[1:-1]):
            raise UncertainError
        end, captures = 0, []
        for index, literal in enumerate(literals):
            is_rest = not literal and index > 0
            place = len(self._text) if is_rest else self.place(literal, end)
            if place is None:
                return [_ABSENT] * (len(literals) - 1)
            captures.append(self._capture(end, place))
            end = place + len(literal)
        return captures[1:]

    def _finds(self, text: str, start: int) -> int:
        """Return the first place that has a text for all values of variables, -1 without one."""
        if MARK in text:
            raise UncertainError
        return self._text.find(text, start)

    def _may_be_at(self, text: str, at: int) -> bool:
        """Tell whether a message may have a text that begins in a place and meets a variable."""
        if MARK not in self._text[at : at + len(text)]:
            return False
        places = {(at, True)}
        for character in text:
            places = {after for place in places for after in self._after(*place, character)}
        return bool(places)

    def _after(self, place: int, inside: bool, character: str) -> Iterable[tuple[int, bool]]:
        """Return the places that may follow a character, perhaps inside a variable."""
        expected = self._text[place : place + 1]
        within, after = (place, True), (place + 1, False)
        if expected != MARK:
            return [after] if character == expected else []
        if character in _DIGITS:
            return [within, after]
        return [within] if inside and character in _INNER else []

    def _capture(self, begin: int, end: int) -> Capture:
        first = self._text.count(MARK, 0, begin)
        texts = self._text[begin:end].split(MARK)
        names = [variable(number) for number in self._numbers[first : first + len(texts) - 1]]
        plain = [quoted(text) if text else "" for text in texts]
        parts = filter(None, chain.from_iterable(zip_longest(plain, names)))
        return Capture(" || ".join(parts) or "''", frozenset(names))


def decided(condition: Expression, template: Template) -> bool | Expression:
    """Return whether a condition holds for every message of a template, or its rest."""
    if not isinstance(condition, Operation):
        return condition
    match condition.operator, condition.arguments:
        case "like", (Column(column="message"), Text(value=text)):
            try:
                return template.holds(text)
            except UncertainError:
                return condition
        case "not", (operand,):
            result = decided(operand, template)
            return not result if isinstance(result, bool) else _of(condition, [result])
        case ("and" | "or") as word, operands:
            return _joined(condition, [decided(each, template) for each in operands], word == "or")
    return condition


def _joined(
    condition: Operation, results: Sequence[bool | Expression], decisive: bool
) -> bool | Expression:
    """Return an operation whose result is ``decisive`` as soon as one of its operands is."""
    if any(result is decisive for result in results):
        return decisive
    rest = [result for result in results if not isinstance(result, bool)]
    return _of(condition, rest) if rest else not decisive


def _of(operation: Operation, arguments: Sequence[Expression]) -> Expression:
    return replace(operation, arguments=tuple(arguments))
