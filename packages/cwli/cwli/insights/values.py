"""Values in SQL: their types, the conversions between types, and the operators of queries.

A value of a query has no declared type. A field is text; a computed value has one of the types
below. Where a number is needed, any other value is null, so that one bad line cannot spoil an
average (AWS does not document this case).

Source: AWS documentation, CloudWatch Logs Insights query syntax: filter, and supported operations
and functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from string import ascii_lowercase
from typing import NamedTuple


class Type(Enum):
    """The type of a value."""

    TEXT = "text"
    NUMBER = "number"
    """DOUBLE, finite or null."""
    BOOLEAN = "boolean"
    """BOOLEAN, true or false, never null; 1 or 0 as a number."""
    TIME = "time"
    """BIGINT, milliseconds since 1970-01-01 UTC."""
    PERIOD = "period"
    """BIGINT, milliseconds; only an argument of some functions."""
    STRUCTURE = "map or list"
    """Valid JSON; neither a text nor a number, and equal to nothing."""
    TABLE = "table"
    """A subquery of one text column; only the right operand of ``in``."""
    REGEX = "regular expression"
    """A text literal that RE2 takes; an operand of ``like``, an argument of some functions."""


class ArgumentError(Exception):
    """A constant that a function or operator does not accept; ``place`` counts from 0."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class Value(NamedTuple):
    """The SQL of a value.

    ``constant`` is the value itself if the query has it as a literal, ``number`` a column that has
    the value as a number already. ``digits`` tells that a text is digits from 0 to 9, or null.
    """

    sql: str
    type: Type
    constant: str | float | None = None
    number: str | None = None
    digits: bool = False

    def __str__(self) -> str:
        return self.sql


# DuckDB's casts accept more texts: nan, inf and 1_000.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
LEAST_LONG = 2**53
"""The least positive integer whose double may also stand for the next integer."""
MOST_DIGITS = 38
"""The digits of the largest integers that are compared exactly: DuckDB's HUGEINT holds them all."""
# Every long integer has at least 16 digits.
_LONG = f"^[+-]?[0-9]{{16,{MOST_DIGITS}}}$"


def quoted(text: str) -> str:
    """Return an SQL text literal; only quotes need escaping."""
    return "'" + text.replace("'", "''") + "'"


def literal(constant: str | float) -> Value:
    """Return a text or a number literal of the query as a value."""
    if isinstance(constant, str):
        return Value(quoted(constant), Type.TEXT, constant)
    # Without an exponent DuckDB would read a decimal. An integer is a long one.
    digits = repr(constant)
    return Value(digits if "e" in digits else f"{digits}e0", Type.NUMBER, constant)


def finite(sql: str) -> Value:
    """Return a double that is null where it is infinite or not a number.

    The list names the operand once; naming it twice would double the SQL at each nesting.
    """
    return Value(f"list_filter([{sql}], lambda v: isfinite(v))[1]", Type.NUMBER)


def may_be_number(value: Value) -> bool:
    """Tell whether a value may be a number; False only for a literal that is not one."""
    return not isinstance(value.constant, str) or bool(re.fullmatch(_NUMBER, value.constant))


def number(value: Value) -> Value:
    """Return a value as a number, null if it is not a number."""
    if value.type is Type.NUMBER:
        return value
    if value.number:
        return Value(value.number, Type.NUMBER)
    if value.type is Type.TEXT:
        if value.sql.isidentifier():
            # A column may be named more than once, and this is faster. Apart from nan and inf, the
            # cast accepts only three texts that are not numbers: 1_000, blanks around, and +-1.
            double = f"TRY_CAST({value} AS DOUBLE)"
            # The first character tells most texts from numbers, which is the fastest test.
            begin = f"{value} < ':' AND {value} > '+-~'"
            plain = f" AND {begin} AND NOT contains({value}, '_') AND {value}[-1] > ' '"
            tests = f"isfinite({double}){'' if value.digits else plain}"
            return Value(f"CASE WHEN {tests} THEN {double} END", Type.NUMBER)
        # Without a match regexp_extract gives '', which is not a double either.
        return finite(f"TRY_CAST(regexp_extract({value}, {quoted(_NUMBER)}) AS DOUBLE)")
    if value.type is Type.STRUCTURE:
        return Value("CAST(NULL AS DOUBLE)", Type.NUMBER)
    return Value(f"CAST({value} AS DOUBLE)", Type.NUMBER)


def long_integer(value: Value) -> str | None:
    """Return SQL for a long integer, null for shorter integers; None if no row can have one."""
    if isinstance(value.constant, int):
        return f"{value.constant}::HUGEINT"
    if value.type is not Type.TEXT or value.constant is not None:
        return None
    integer = f"TRY_CAST(regexp_extract({value}, {quoted(_LONG)}) AS HUGEINT)"
    # The length tells most texts apart, which is the faster test.
    return (
        f"(CASE WHEN strlen({value}) > 15 THEN {integer} END)"
        if value.sql.isidentifier()
        else integer
    )


def text(value: Value) -> Value:
    """Return a value as the text that results show.

    A number is the shortest text that reads as the same double, without a trailing ``.0``; a time
    is ``YYYY-MM-DD HH:MM:SS.mmm`` in UTC (AWS documentation, CloudWatch Logs: GetQueryResults).
    """
    match value.type:
        case Type.NUMBER if value.constant is not None:
            sql = quoted(repr(value.constant).removesuffix(".0"))
        case Type.NUMBER:
            # Adding zero turns -0 into 0.
            sql = f"regexp_replace(CAST({value} + 0e0 AS VARCHAR), '\\.0$', '')"
        case Type.BOOLEAN:
            sql = f"CAST(CAST({value} AS TINYINT) AS VARCHAR)"
        case Type.TIME:
            sql = f"TRY(strftime(make_timestamp_ms({value}), '%Y-%m-%d %H:%M:%S.%g'))"
        case _:
            return value
    return Value(sql, Type.TEXT)


def time(value: Value) -> Value:
    """Return a value in milliseconds as a time."""
    if value.type is Type.TIME:
        return value
    return Value(f"TRY_CAST(trunc({number(value)}) AS BIGINT)", Type.TIME)


def truth(value: Value) -> Value:
    """Return a value as a condition: a number holds unless it is 0 or null."""
    if value.type is Type.BOOLEAN:
        return value
    return condition(f"{number(value)} <> 0")


def condition(sql: str) -> Value:
    """Return a condition that is false where the SQL is null.

    A comparison with a missing field is false, and its negation true. AWS does not document this.
    """
    return Value(f"coalesce({sql}, FALSE)", Type.BOOLEAN)


def natural_order(value: Value) -> tuple[str, ...]:
    """Return the SQL expressions that sort texts, most important first.

    Texts that are not numbers come first; their digits count by length and then by value. Numbers
    follow (AWS documentation, CloudWatch Logs Insights query syntax: sort).
    """
    # A hundred million is added so that every length has nine digits.
    digits_by_length = (
        f"array_to_string(list_transform(regexp_extract_all({value}, '\\d+|\\D+'), lambda v: "
        "CASE WHEN v >= '0' AND v < ':' THEN CAST(100000000 + length(v) AS VARCHAR) || v "
        "ELSE v END), '')"
    )
    numeric = number(value)
    return (
        f"coalesce({numeric}, '-infinity'::DOUBLE)",
        f"CASE WHEN {numeric} IS NULL THEN {digits_by_length} ELSE {value} END",
    )


_FREQUENT = f"{ascii_lowercase} "


def _arithmetic(template: str) -> Callable[..., Value]:
    return lambda *operands: finite(template.format(*map(number, operands)))


def _sign(operator: str) -> Callable[..., Value]:
    def apply(left: Value, right: Value | None = None) -> Value:
        if right is not None and (time := _shifted_time(operator, left, right)):
            return time
        for place, each in enumerate((left, right)):
            if each and each.type is Type.PERIOD:
                message = "a period can be added only to a time: @timestamp + 9h"
                raise ArgumentError(message, place)
        if right is None:
            if operator == "-" and isinstance(left.constant, int):
                return literal(-left.constant)
            return Value(f"({operator} {number(left)})", Type.NUMBER)
        return finite(f"{number(left)} {operator} {number(right)}")

    return apply


def _shifted_time(operator: str, left: Value, right: Value) -> Value | None:
    """Return SQL for a time plus or minus a constant length, None for other operands."""
    if operator == "+" and right.type is Type.TIME:
        left, right = right, left
    is_length = right.constant is not None and right.type in (Type.PERIOD, Type.NUMBER)
    if left.type is not Type.TIME or not is_length:
        return None
    return Value(f"TRY_CAST({left} {operator} {right} AS BIGINT)", Type.TIME)


def _comparison(operator: str) -> Callable[..., Value]:
    def compare(left: Value, right: Value) -> Value:
        if Type.STRUCTURE in (left.type, right.type):
            return condition("FALSE")
        for place, (one, other) in enumerate(((left, right), (right, left))):
            if other.type is Type.TIME and not may_be_number(one):
                # AWS documentation, CloudWatch Logs Insights query syntax: datetime functions.
                raise ArgumentError(
                    "a time is compared with milliseconds since 1970, not with a date as text; "
                    "parseDate(…) converts a date",
                    place,
                )
        terms: list[str] = []
        if not (operator == "=" and _is_quoted(left, right)):
            terms += _numeric_terms(operator, left, right)
        if left.type is right.type is Type.TEXT:
            # Two texts that are not both numbers make the numeric terms null.
            terms.append(f"{left} {operator} {right}")
        return condition(", ".join(terms) or "FALSE")

    return compare


def _is_quoted(left: Value, right: Value) -> bool:
    """Tell whether two texts are equal only if their characters are: one is a text in quotes."""
    texts = left.type is right.type is Type.TEXT
    return texts and (left.constant is not None or right.constant is not None)


def _numeric_terms(operator: str, left: Value, right: Value) -> list[str]:
    """Return the comparisons as numbers, null unless both are; the first may decide for others."""
    if not (may_be_number(left) and may_be_number(right)):
        return []
    terms = [f"{number(left)} {operator} {number(right)}"]
    long = (long_integer(left), long_integer(right))
    return [f"{long[0]} {operator} {long[1]}", *terms] if all(long) else terms


def _unequal(left: Value, right: Value) -> Value:
    return _not(_comparison("=")(left, right))


def _like(subject: Value, pattern: Value) -> Value:
    if subject.type is Type.STRUCTURE:
        return condition("FALSE")
    if pattern.type is Type.REGEX:
        return condition(f"regexp_matches({text(subject)}, {pattern})")
    return _contains(text(subject), pattern)


def _contains(subject: Value, part: Value) -> Value:
    # DuckDB searches a text by its first byte, so a part that begins with a rare byte is found
    # faster. Most subjects lack even that part; CASE then skips the full search, and is never null.
    rare = part.constant.lstrip(_FREQUENT) if isinstance(part.constant, str) else ""
    contains = f"contains({subject}, {part})"
    if len(rare) < 2 or rare == part.constant or not subject.sql.isidentifier():
        return condition(contains)
    fast = f"contains({subject}, {quoted(rare)})"
    return Value(f"(CASE WHEN {fast} THEN {contains} ELSE FALSE END)", Type.BOOLEAN)


def _in(subject: Value, *members: Value) -> Value:
    if subject.type is Type.STRUCTURE:
        return condition("FALSE")
    if members and members[0].type is Type.TABLE:
        return condition(f"{text(subject)} IN {members[0]}")
    # Texts in quotes are searched at once, and are most members.
    quotes = [each for each in members if _is_quoted(subject, each)]
    found = f"{subject} IN ({', '.join(map(str, quotes))})" if quotes else "FALSE"
    equal = (str(_comparison("=")(subject, each)) for each in members if each not in quotes)
    return condition(" OR ".join((found, *equal)))


def _not(operand: Value) -> Value:
    return Value(f"(NOT {truth(operand)})", Type.BOOLEAN)


def _logical(word: str) -> Callable[..., Value]:
    return lambda *operands: Value(
        f"({f' {word} '.join(str(truth(operand)) for operand in operands)})", Type.BOOLEAN
    )


OPERATORS: dict[str, Callable[..., Value]] = {
    "+": _sign("+"),
    "-": _sign("-"),
    "*": _arithmetic("{0} * {1}"),
    "/": _arithmetic("{0} / {1}"),
    "%": _arithmetic("{0} % {1}"),
    "^": _arithmetic("TRY(pow({0}, {1}))"),
    "=": _comparison("="),
    "!=": _unequal,
    "<": _comparison("<"),
    "<=": _comparison("<="),
    ">": _comparison(">"),
    ">=": _comparison(">="),
    "like": _like,
    "in": _in,
    "not": _not,
    "and": _logical("AND"),
    "or": _logical("OR"),
}
