"""The operators of queries, as SQL.

Source: AWS documentation, CloudWatch Logs Insights query syntax: filter, and supported operations
and functions.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase

from cwli.insights.values import (
    ArgumentError,
    Type,
    Value,
    condition,
    finite,
    literal,
    long_integer,
    may_be_number,
    number,
    quoted,
    text,
    truth,
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
