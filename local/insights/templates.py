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
from itertools import groupby
from typing import NamedTuple

from local.insights.syntax import Column, Expression, Operation, Text
from local.insights.values import quoted

MARK = "\x11"
"""The character of a template that stands for a variable."""
CONSTANT = "\x12"
"""The character around a variable that has the same value in all messages of the template."""
VARIABLE = r"[0-9]+(?:\.[0-9]+)+|[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|[0-9]+"
"""The regular expression of a variable, for RE2: a number, a version, an address or an id."""
# A variable begins and ends with one of the former, and may have the latter between them.
_DIGITS, _INNER = frozenset("0123456789abcdef"), frozenset(".-")
_CELL = re.compile(f"{MARK}|{CONSTANT}([^{CONSTANT}]*){CONSTANT}|(.)", re.DOTALL)


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
        self._cells: list[str | int] = []
        number = 0
        for found in _CELL.finditer(text):
            constant, character = found.groups()
            number += character is None
            self._cells += character or constant or [number]

    def holds(self, text: str) -> bool:
        """Tell whether every message has a text, or none; raise UncertainError otherwise."""
        size = len(text)
        if any(self._is_at(text, at) for at in range(len(self._cells) - size + 1)):
            return True
        return self.place(text, 0) is not None

    def place(self, text: str, start: int) -> int | None:
        """Return the first place of a text at or after another place, None if it is absent.

        Raises
        ------
        UncertainError
            If an earlier place may have the text, too.
        """
        for at in range(start, len(self._cells) + 1):
            if self._is_at(text, at):
                return at
            if self._may_be_at(text, at):
                raise UncertainError
        return None

    def captures(self, literals: Sequence[str]) -> list[Capture]:
        """Return the text between each two of the literals of a glob, null without a match.

        Raises
        ------
        UncertainError
            If the places of the literals depend on the variables.
        """
        if not all(literals[1:-1]):
            raise UncertainError
        ends, captures = 0, []
        for index, literal in enumerate(literals):
            is_rest = not literal and index > 0
            place = len(self._cells) if is_rest else self.place(literal, ends)
            if place is None:
                return [_ABSENT] * (len(literals) - 1)
            captures.append(self._capture(ends, place))
            ends = place + len(literal)
        return captures[1:]

    def _is_at(self, text: str, at: int) -> bool:
        return self._cells[at : at + len(text)] == list(text)

    def _may_be_at(self, text: str, at: int) -> bool:
        """Tell whether a message may have a text that begins in a cell."""
        places = {(at, True)}
        for character in text:
            places = {after for place in places for after in self._after(*place, character)}
        return bool(places)

    def _after(self, place: int, inside: bool, character: str) -> Iterable[tuple[int, bool]]:
        """Return the places that may follow a character in a cell, perhaps inside a variable."""
        cell = self._cells[place] if place < len(self._cells) else None
        if not isinstance(cell, int):
            return [(place + 1, False)] if cell == character else []
        within, next_cell = (place, True), (place + 1, False)
        if character in _DIGITS:
            return [within, next_cell]
        return [within] if inside and character in _INNER else []

    def _capture(self, begin: int, end: int) -> Capture:
        parts: list[str] = []
        reads: list[str] = []
        for number, run in groupby(self._cells[begin:end], key=_number):
            reads += [variable(number)] if number else []
            parts.append(variable(number) if number else quoted("".join(map(str, run))))
        return Capture(" || ".join(parts) or "''", frozenset(reads))


def _number(cell: str | int) -> int:
    """Return the number of a variable, 0 for a character."""
    return cell if isinstance(cell, int) else 0


def decided(condition: Expression, template: Template) -> bool | Expression:
    """Return whether a condition holds for every message of a template, or what is left of it."""
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
