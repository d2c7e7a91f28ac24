"""From text to commands: recursive descent, with precedence climbing for expressions.

Source: AWS documentation, CloudWatch Logs Insights query syntax. The precedence of operators is
not documented; this one is that of most languages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from local.insights.lexer import Kind, Lexer, Token
from local.insights.periods import SYMBOLS, UNITS
from local.insights.syntax import (
    Call,
    Command,
    Dedup,
    Display,
    Expression,
    Field,
    Fields,
    Filter,
    Item,
    Limit,
    Node,
    Number,
    Operation,
    ParseGlob,
    ParseRegex,
    Period,
    QueryError,
    Regex,
    Sort,
    SortKey,
    Span,
    Stats,
    Text,
)

T = TypeVar("T")

# StartQuery takes no more characters (AWS documentation, StartQuery: queryString).
MOST_CHARACTERS = 10_000
# What the limit command takes (AWS documentation, CloudWatch Logs Insights query syntax: limit).
MOST_ROWS = 100_000
# Python and DuckDB walk expressions by recursion; both end well above this.
MOST_NESTED = 50

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
_NOT = 3
_SIGN = 8
_INSTEAD = {
    "head": "limit 20 returns the first rows",
    "tail": "sort in the other direction and limit",
    "source": "name the log groups outside the query",
}


def parse(query: str) -> tuple[Command, ...]:
    """Return the commands of a query.

    Raises
    ------
    QueryError
        If the text is no query, or uses what is not supported.
    """
    whole = Span(query, 0, 0)
    if len(query) > MOST_CHARACTERS:
        raise QueryError(
            f"the query has {len(query)} characters; at most {MOST_CHARACTERS} are accepted", whole
        )
    if match := re.search(r"[\0\ud800-\udfff]", query):
        raise QueryError(
            f"unexpected character {match[0]!r}", Span(query, match.start(), match.end())
        )
    return _Parser(query).commands()


def source_name(node: Node) -> str:
    """Return the name that an expression's value has when the query gives it none."""
    return node.name if isinstance(node, Field) else " ".join(node.span.text.split())


class _Parser:
    def __init__(self, query: str) -> None:
        self._lexer = Lexer(query)
        self._open = 0

    # Commands

    def commands(self) -> tuple[Command, ...]:
        self._take("|")
        commands = [self._command()]
        while self._take("|"):
            if self._token.kind is Kind.END:
                break
            commands.append(self._command())
        if self._token.kind is not Kind.END:
            raise self._expected("'|' and the next command, or the end of the query")
        return tuple(commands)

    def _command(self) -> Command:
        if self._token.kind is not Kind.NAME:
            raise self._expected("a command")
        word = self._lexer.advance()
        parser = _COMMANDS.get(word.value.lower())
        if parser is None:
            raise _unknown_command(word)
        return parser(self, word.span)

    def _fields(self, start: Span) -> Fields:
        items = self._list(self._item)
        return Fields(start.to(items[-1].span), items)

    def _display(self, start: Span) -> Display:
        items = self._list(self._item)
        return Display(start.to(items[-1].span), items)

    def _filter(self, start: Span) -> Filter:
        condition = self._expression()
        return Filter(start.to(condition.span), condition)

    def _parse(self, start: Span) -> ParseGlob | ParseRegex:
        source: Expression = Field(start, "@message")
        if self._token.kind is not Kind.TEXT and not self._at("/"):
            # An operand, not an expression: a slash begins the pattern here.
            source = self._operand()
        if self._token.kind is Kind.TEXT:
            return self._parse_glob(start, source)
        if self._at("/"):
            return self._parse_regex(start, source)
        raise self._expected("a glob in quotes or a /regular expression/ (parse)")

    def _parse_glob(self, start: Span, source: Expression) -> ParseGlob:
        glob = self._text()
        if not self._take_word("as"):
            raise self._expected("'as' and a name for each * of the glob")
        names = self._list(self._name)
        stars = glob.value.count("*")
        if stars != len(names):
            raise QueryError(
                f"the glob has {stars} *, but {len(names)} names follow 'as'; "
                "each * takes one name",
                glob.span,
            )
        return ParseGlob(start.to(names[-1].span), source, glob, tuple(n.value for n in names))

    def _parse_regex(self, start: Span, source: Expression) -> ParseRegex:
        regex = self._lexer.advance_regex()
        for word in ("as", "multi"):
            if self._at_word(word):
                raise QueryError(
                    f"{word!r} after a regular expression is not supported; "
                    "name its groups: (?<name>…)",
                    self._token.span,
                )
        return ParseRegex(start.to(regex.span), source, regex)

    def _stats(self, start: Span) -> Stats:
        items = self._list(self._item)
        keys: tuple[Item, ...] = ()
        grouped = self._take_word("group")
        if grouped and not self._at_word("by"):
            raise self._expected("'by'")
        if self._take_word("by"):
            keys = self._list(self._item)
        return Stats(start.to((keys or items)[-1].span), items, keys)

    def _sort(self, start: Span) -> Sort:
        self._take_word("by")
        keys = self._list(self._sort_key)
        return Sort(start.to(keys[-1].span), keys)

    def _sort_key(self) -> SortKey:
        expression = self._expression()
        descending = self._take_word("desc")
        if not descending:
            self._take_word("asc")
        return SortKey(expression.span, expression, descending)

    def _limit(self, start: Span) -> Limit:
        token = self._token
        if token.kind is not Kind.NUMBER or not token.value.isdigit():
            raise self._expected(f"a whole number of rows from 1 to {MOST_ROWS}")
        self._lexer.advance()
        # The length first: Python refuses to read integers of thousands of digits.
        if len(token.value) > 9 or not 1 <= int(token.value) <= MOST_ROWS:
            raise QueryError(
                f"limit {token.value} is not accepted; limit takes 1 to {MOST_ROWS} rows",
                token.span,
            )
        return Limit(start.to(token.span), int(token.value))

    def _dedup(self, start: Span) -> Dedup:
        fields = self._list(self._field)
        return Dedup(start.to(fields[-1].span), fields)

    # Parts of commands

    def _list(self, part: Callable[[], T]) -> tuple[T, ...]:
        parts = [part()]
        while self._take(","):
            parts.append(part())
        return tuple(parts)

    def _item(self) -> Item:
        expression = self._expression()
        if self._take_word("as"):
            name = self._name()
            return Item(expression.span.to(name.span), expression, name.value)
        return Item(expression.span, expression, source_name(expression))

    def _field(self) -> Field:
        name = self._name()
        return Field(name.span, name.value)

    def _name(self) -> Token:
        if self._token.kind is not Kind.NAME:
            raise self._expected("a name")
        return self._lexer.advance()

    def _text(self) -> Text:
        token = self._lexer.advance()
        return Text(token.span, token.value)

    # Expressions

    def _expression(self, power: int = 0) -> Expression:
        self._open += 1
        self._check_nesting(self._open)
        left = self._signed()
        self._check_nesting(left.depth)
        while (operator := self._operator()) and _POWERS[operator] > power:
            left = self._operation(left, operator)
            self._check_nesting(left.depth)
        self._open -= 1
        return left

    def _check_nesting(self, depth: int) -> None:
        if depth > MOST_NESTED:
            raise QueryError(
                f"the expression is nested deeper than {MOST_NESTED} operations", self._token.span
            )

    def _operator(self) -> str | None:
        token = self._token
        if token.quoted or token.kind not in (Kind.NAME, Kind.SYMBOL):
            return None
        operator = token.value.lower()
        if operator == "<>":
            raise QueryError("unknown operator '<>'; unequal is written !=", token.span)
        return operator if operator in _POWERS else None

    def _signed(self) -> Expression:
        token = self._token
        if self._take_word("not"):
            operand = self._expression(_NOT)
            return Operation(token.span.to(operand.span), (operand,), "not")
        if self._take("-") or self._take("+"):
            operand = self._expression(_SIGN)
            return Operation(token.span.to(operand.span), (operand,), token.value)
        return self._operand()

    def _operation(self, left: Expression, operator: str) -> Expression:
        self._lexer.advance()
        if operator == "not":
            inner = self._comparison(left, self._negated())
            return Operation(inner.span, (inner,), "not")
        if operator in ("and", "or"):
            return self._logical(left, operator)
        if operator in ("like", "=~", "in"):
            return self._comparison(left, operator)
        power = _POWERS[operator]
        right = self._expression(power - 1 if operator == "^" else power)
        name = "=" if operator == "==" else operator
        return Operation(left.span.to(right.span), (left, right), name)

    def _negated(self) -> str:
        operator = self._operator()
        if operator not in ("like", "in"):
            raise self._expected("'like' or 'in' after 'not'")
        self._lexer.advance()
        return operator

    def _logical(self, left: Expression, operator: str) -> Operation:
        # Flat, so that a hundred alternatives are not a hundred levels.
        operands = [left, self._expression(_POWERS[operator])]
        while self._take_word(operator):
            operands.append(self._expression(_POWERS[operator]))
        return Operation(left.span.to(operands[-1].span), tuple(operands), operator)

    def _comparison(self, left: Expression, operator: str) -> Operation:
        if operator == "in":
            return self._membership(left)
        pattern: Text | Regex
        if operator == "like" and self._token.kind is Kind.TEXT:
            pattern = self._text()
        elif self._at("/"):
            pattern = self._lexer.advance_regex()
        else:
            text = "a text in quotes or " if operator == "like" else ""
            raise self._expected(f"{text}a /regular expression/ after {operator!r}")
        return Operation(left.span.to(pattern.span), (left, pattern), "like")

    def _membership(self, left: Expression) -> Operation:
        if self._at("("):
            raise QueryError(
                "a subquery after 'in' is not supported; write a list: in [1, 2]", self._token.span
            )
        self._need("[", "a list such as [1, 2] after 'in'")
        members = self._list(self._constant)
        closing = self._need("]", "',' or ']'")
        return Operation(left.span.to(closing.span), (left, *members), "in")

    def _constant(self) -> Expression:
        if self._token.kind is Kind.TEXT:
            return self._text()
        sign = self._token
        negative = self._take("-")
        if self._token.kind is not Kind.NUMBER:
            raise self._expected("a number or a text in quotes")
        number = self._number()
        return Number(sign.span.to(number.span), -number.value) if negative else number

    def _operand(self) -> Expression:
        token = self._token
        match token.kind:
            case Kind.TEXT:
                return self._text()
            case Kind.NUMBER:
                return self._number()
            case Kind.PERIOD:
                return self._period()
            case Kind.NAME:
                return self._field_or_call()
        if self._take("("):
            inner = self._expression()
            self._need(")", "')'")
            return inner
        raise self._expected("a field, a number, a text in quotes or a function")

    def _number(self) -> Number:
        token = self._lexer.advance()
        value = float(token.value)
        if not math.isfinite(value):
            raise QueryError("this number is larger than a double holds", token.span)
        return Number(token.span, value)

    def _period(self) -> Period:
        token = self._lexer.advance()
        digits = token.value.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        unit = token.value[len(digits) :].lower()
        if unit not in UNITS:
            raise QueryError(
                f"period unit {unit!r} is not supported; supported: {', '.join(SYMBOLS)}",
                token.span,
            )
        if len(digits) > 6 or int(digits) == 0:
            raise QueryError(
                f"the period {token.value!r} is not accepted; an amount is from 1 to 999999",
                token.span,
            )
        return Period(token.span, int(digits), unit)

    def _field_or_call(self) -> Field | Call:
        name = self._lexer.advance()
        if name.quoted or not self._take("("):
            return Field(name.span, name.value)
        arguments: tuple[Expression, ...] = ()
        star = self._token
        if self._take("*"):
            if name.value.lower() != "count":
                raise QueryError("'*' is an argument of count only", star.span)
        elif not self._at(")"):
            arguments = self._list(self._expression)
        closing = self._need(")", "',' or ')'")
        return Call(name.span.to(closing.span), arguments, name.value.lower())

    # Tokens

    @property
    def _token(self) -> Token:
        return self._lexer.token

    def _at(self, symbol: str) -> bool:
        return self._token.kind is Kind.SYMBOL and self._token.value == symbol

    def _take(self, symbol: str) -> bool:
        found = self._at(symbol)
        if found:
            self._lexer.advance()
        return found

    def _need(self, symbol: str, expected: str) -> Token:
        if not self._at(symbol):
            raise self._expected(expected)
        return self._lexer.advance()

    def _at_word(self, word: str) -> bool:
        token = self._token
        return token.kind is Kind.NAME and not token.quoted and token.value.lower() == word

    def _take_word(self, word: str) -> bool:
        found = self._at_word(word)
        if found:
            self._lexer.advance()
        return found

    def _expected(self, what: str) -> QueryError:
        return QueryError(f"expected {what}, found {self._token}", self._token.span)


def _unknown_command(word: Token) -> QueryError:
    instead = _INSTEAD.get(word.value.lower())
    hint = f" (instead: {instead})" if instead else ""
    supported = ", ".join(_COMMANDS)
    return QueryError(f"unknown command {word.value!r}{hint}; supported: {supported}", word.span)


_COMMANDS: dict[str, Callable[[_Parser, Span], Command]] = {
    "fields": _Parser._fields,
    "display": _Parser._display,
    "filter": _Parser._filter,
    "where": _Parser._filter,
    "parse": _Parser._parse,
    "stats": _Parser._stats,
    "sort": _Parser._sort,
    "limit": _Parser._limit,
    "dedup": _Parser._dedup,
}
