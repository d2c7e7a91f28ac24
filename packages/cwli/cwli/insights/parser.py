"""Parser: from the text of a query to its commands, and to their expressions.

Expressions are read by precedence climbing. AWS does not document the precedence of operators; this
one is common to most languages.

Source: AWS documentation, CloudWatch Logs Insights query syntax.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from cwli.insights import hints
from cwli.insights.commands import COMMANDS, REFUSED, SUGGESTED, read
from cwli.insights.functions import FUNCTIONS
from cwli.insights.syntax import (
    Call,
    Command,
    Expression,
    Field,
    Item,
    Number,
    Operation,
    Period,
    QueryError,
    Regex,
    SortKey,
    Span,
    Subquery,
    Text,
    source_name,
)
from cwli.insights.times import SYMBOLS, UNITS
from cwli.insights.tokens import Kind, Token, TokenReader
from cwli.insights.values import LEAST_LONG, MOST_DIGITS

# The limit of StartQuery (AWS documentation, StartQuery: queryString).
MOST_CHARACTERS = 10_000
# Python and DuckDB walk expressions by recursion; their limits are well above this.
MOST_NESTED = 50
# The least similarity of a misspelt command.
_SIMILAR = 0.75
_LISTS = ("Fields", "Display", "Stats", "Sort", "Dedup")
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "=~", "like", "in", "not")
_POWERS = {
    "or": 1,
    "and": 2,
    "=": 4,
    "==": 4,
    "!=": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "=~": 4,
    "~=": 4,
    "like": 4,
    "in": 4,
    "not": 4,  # not like, not in
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "%": 6,
    "^": 7,
}
# AWS documentation, CloudWatch Logs Insights query syntax: string functions, strcontains.
_TRUTHS = {"true": 1.0, "false": 0.0}
_NOT = 3
_SIGN = 8


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
    reader = Reader(query)
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


def check_names(items: Iterable[Item]) -> None:
    """Raise QueryError if two different values have the same name; one would hide the other.

    Logs Insights refuses them, too: Ephemeral field is already defined.
    """
    named: dict[str, Item] = {}
    for item in items:
        if named.setdefault(item.name, item) != item:
            raise QueryError(
                f"{item.name!r} names two values of this command; give one another name with as",
                item.span,
            )


class Reader(TokenReader):
    """A reader of expressions and of the subqueries in them."""

    def __init__(self, query: str) -> None:
        super().__init__(query)
        self._open = 0
        self._inside_subquery = False

    def item(self) -> Item:
        """Return an expression and the name of its value."""
        start = self.token.span
        expression = self.expression()
        name = self.alias() or source_name(expression)
        return Item(self.since(start), expression, name)

    def items(self, *following: str) -> tuple[Item, ...]:
        """Return expressions with the names of their values, up to a word that may follow."""
        items = self.list_of(self.item, *following)
        check_names(items)
        return items

    def sort_key(self) -> SortKey:
        """Return an expression to sort by; the order is ascending by default."""
        expression = self.expression()
        descending = self.take_word("desc")
        if not descending:
            self.take_word("asc")
        return SortKey(expression.span, expression, descending)

    def expression(self, power: int = 0) -> Expression:
        """Return the expression that must come next; its operators bind above ``power``."""
        self._open += 1
        self._check_nesting(self._open)
        start = self.token.span
        left = self._signed()
        self._check_nesting(left.depth)
        while (operator := self._operator()) and _POWERS[operator] > power:
            left = self._operation(left, operator, start)
            self._check_nesting(left.depth)
        self._open -= 1
        return left

    def operand(self) -> Expression:
        """Return a field, a constant, a call, or an expression in parentheses."""
        match self.token.kind:
            case Kind.TEXT:
                return self.text()
            case Kind.NUMBER:
                return self.number()
            case Kind.PERIOD:
                return self.period()
            case Kind.NAME:
                return self._field_or_call()
        if self.take("("):
            inner = self.expression()
            self.need(")", "')'")
            return inner
        _refuse_operator(self.token)
        if hint := hints.OPERANDS.get(self.token.value):
            raise QueryError(hint, self.token.span)
        raise self.expected("a field, a number, a text in quotes or a function")

    def constant(self) -> Text | Number:
        """Return the number or text that must come next."""
        if self.token.kind is Kind.TEXT:
            return self.text()
        start = self.token.span
        negative = self.take("-")
        if self.token.kind is not Kind.NUMBER:
            raise self.expected("a number or a text in quotes")
        number = self.number()
        return Number(self.since(start), -number.value if negative else number.value)

    def number(self) -> Number:
        """Return the number that must come next."""
        if self.token.kind is not Kind.NUMBER:
            raise self.expected("a number")
        token = self.advance()
        value = float(token.value)
        if not math.isfinite(value):
            raise QueryError("this number is larger than a double holds", token.span)
        is_long = token.value.isdigit() and LEAST_LONG <= value < 10**MOST_DIGITS
        return Number(token.span, int(token.value) if is_long else value)

    def period(self) -> Period:
        """Return the period that must come next."""
        if self.token.kind is not Kind.PERIOD:
            raise self.expected("a period such as 5m")
        token = self.advance()
        digits = token.value.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        unit = token.value[len(digits) :].lower()
        if unit not in UNITS:
            raise QueryError(
                f"{token.value!r} is neither a number nor a period; units: {', '.join(SYMBOLS)}",
                token.span,
            )
        if len(digits) > 6 or int(digits) == 0:
            raise QueryError(
                f"the period {token.value!r} is not accepted; an amount is from 1 to 999999",
                token.span,
            )
        return Period(token.span, int(digits), unit)

    def subquery(self) -> Subquery:
        """Return the query in parentheses that must come next."""
        opening = self.need("(", "'(' and a subquery")
        if self.token.kind in (Kind.TEXT, Kind.NUMBER):
            raise self.expected("a subquery (write a list in brackets: ['a', 'b'])")
        if self._inside_subquery:
            # AWS documentation, CloudWatch Logs Insights query syntax: subqueries.
            raise QueryError("a subquery inside a subquery is not accepted", opening.span)
        self._inside_subquery = True
        commands = _commands(self)
        self._inside_subquery = False
        self.need(")", "'|' and the next command, or ')'")
        return Subquery(self.since(opening.span), commands)

    def _check_nesting(self, depth: int) -> None:
        if depth > MOST_NESTED:
            raise QueryError(
                f"the expression is nested deeper than {MOST_NESTED} operations", self.token.span
            )

    def _operator(self) -> str | None:
        token = self.token
        if token.quoted or token.kind not in (Kind.NAME, Kind.SYMBOL):
            return None
        _refuse_operator(token)
        operator = token.value.lower()
        return operator if operator in _POWERS else None

    def _signed(self) -> Expression:
        token = self.token
        if self.take_word("not"):
            operand = self.expression(_NOT)
            return Operation(self.since(token.span), (operand,), "not")
        if self.take("!"):
            return Operation(self.since(token.span), (self.expression(_SIGN),), "not")
        if self.take("-") or self.take("+"):
            operand = self.expression(_SIGN)
            return Operation(self.since(token.span), (operand,), token.value)
        return self.operand()

    def _operation(self, left: Expression, operator: str, start: Span) -> Expression:
        self.advance()
        if operator == "/" and self.at("/"):
            raise QueryError("a comment begins with #", self.token.span)
        if operator == "not":
            inner = self._comparison(left, self._negated(), start)
            return Operation(inner.span, (inner,), "not")
        if operator in ("and", "or"):
            return self._logical(left, operator, start)
        if operator in ("like", "=~", "~=", "in"):
            return self._comparison(left, operator, start)
        power = _POWERS[operator]
        right = self.expression(power - 1 if operator == "^" else power)
        name = "=" if operator == "==" else operator
        return Operation(self.since(start), (left, right), name)

    def _negated(self) -> str:
        operator = self._operator()
        if operator not in ("like", "in"):
            raise self.expected("'like' or 'in' after 'not'")
        self.advance()
        return operator

    def _logical(self, left: Expression, operator: str, start: Span) -> Operation:
        # One flat operation, so that a hundred alternatives are not a hundred levels.
        operands = [left, self.expression(_POWERS[operator])]
        while self.take_word(operator):
            operands.append(self.expression(_POWERS[operator]))
        return Operation(self.since(start), tuple(operands), operator)

    def _comparison(self, left: Expression, operator: str, start: Span) -> Operation:
        if operator == "in":
            members = self._members()
            return Operation(self.since(start), (left, *members), "in")
        pattern: Text | Regex
        if self.token.kind is Kind.TEXT:
            pattern = self.text()
        elif self.at("/"):
            pattern = self.regex()
        else:
            raise self.expected(f"a text in quotes or a /regular expression/ after {operator!r}")
        return Operation(self.since(start), (left, pattern), "like")

    def _members(self) -> tuple[Expression, ...]:
        if self.at("("):
            return (self.subquery(),)
        self.need("[", "a list such as [1, 2] or a subquery in parentheses after 'in'")
        members = self.list_of(self.constant)
        self.need("]", "',' or ']'")
        return members

    def _field_or_call(self) -> Field | Call | Number:
        name = self.token
        field = self.field()
        if name.quoted or field.span != name.span:
            return field
        if name.value.lower() in _TRUTHS:
            return Number(name.span, _TRUTHS[name.value.lower()])
        if not self.take("("):
            return field
        arguments: tuple[Expression, ...] = ()
        star = self.token
        if self.take("*"):
            if name.value.lower() not in FUNCTIONS:
                raise hints.unknown_function(name.value.lower(), name.span)
            if name.value.lower() != "count":
                raise QueryError("'*' is accepted only as argument of count", star.span)
        elif not self.at(")"):
            arguments = self.list_of(self.expression)
        if name.value.lower() == "count" and self.since(star.span).text.lower() == "distinct":
            raise QueryError("write count_distinct(field) to count different values", star.span)
        self.need(")", "',' or ')'")
        return Call(self.since(name.span), arguments, name.value.lower())


def _refuse_operator(token: Token) -> None:
    if hint := hints.OPERATORS.get(token.value.lower()):
        raise QueryError(f"unknown operator {token.value.lower()!r}; {hint}", token.span)
