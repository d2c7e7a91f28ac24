"""SQL of values: their types, and how one type is read as another.

A value of a query has no declared type. A field is text; what is computed has one of the types
below. What is no number is null where a number is needed, so that one bad line cannot poison an
average (AWS documentation does not say what happens to it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Type(Enum):
    """What a value is."""

    TEXT = "text"
    NUMBER = "number"
    """DOUBLE, finite or null."""
    BOOLEAN = "boolean"
    """BOOLEAN, true or false, never null; 1 or 0 as a number."""
    TIME = "time"
    """BIGINT, milliseconds since 1970-01-01 UTC."""
    PERIOD = "period"
    """BIGINT, milliseconds; an argument of some functions only."""
    STRUCTURE = "map or list"
    """Valid JSON; no text, no number, and equal to nothing."""
    TABLE = "table"
    """A subquery of one text column; the right operand of ``in`` only."""
    REGEX = "regular expression"
    """A text literal that RE2 takes; an operand of ``like``, an argument of some functions."""


class ArgumentError(Exception):
    """A constant that a function or operator does not take as argument, at a place from 0."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True)
class Value:
    """SQL of one value; ``constant`` is the value itself if the query wrote it down."""

    sql: str
    type: Type
    constant: str | float | None = None

    def __str__(self) -> str:
        return self.sql


# DuckDB's casts also accept nan, inf and 1_000.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def quoted(text: str) -> str:
    """Return an SQL text literal. Only the quote is special in it."""
    return "'" + text.replace("'", "''") + "'"


def literal(constant: str | float) -> Value:
    """Return a text or a number that a query wrote down."""
    if isinstance(constant, str):
        return Value(quoted(constant), Type.TEXT, constant)
    # With an exponent, or else DuckDB reads a decimal.
    digits = repr(constant)
    return Value(digits if "e" in digits else f"{digits}e0", Type.NUMBER, constant)


def finite(sql: str) -> Value:
    """Return a double that is null where it is infinite or not a number.

    By a list, since an expression that names its operand twice would double at each nesting.
    """
    return Value(f"list_filter([{sql}], lambda v: isfinite(v))[1]", Type.NUMBER)


def may_be_number(value: Value) -> bool:
    """Return whether a value can be read as a number, as far as the query tells."""
    return not isinstance(value.constant, str) or bool(re.fullmatch(_NUMBER, value.constant))


def number(value: Value) -> Value:
    """Return a value as a number, null where it is none."""
    if value.type is Type.NUMBER:
        return value
    if value.type is Type.TEXT:
        if value.sql.isidentifier():
            # A column may be named more than once, and this is quicker. Besides what is no
            # number, the cast accepts these only: 1_000, blanks around, and +-1.
            double = f"TRY_CAST({value} AS DOUBLE)"
            # Most texts are told from numbers by how they begin, which is quickest.
            begin = f"{value} < ':' AND {value} > '+-~'"
            plain = f"{begin} AND NOT contains({value}, '_') AND {value}[-1] > ' '"
            return Value(f"CASE WHEN isfinite({double}) AND {plain} THEN {double} END", Type.NUMBER)
        # Where nothing matches regexp_extract gives '', which is no double either.
        return finite(f"TRY_CAST(regexp_extract({value}, {quoted(_NUMBER)}) AS DOUBLE)")
    if value.type is Type.STRUCTURE:
        return Value("CAST(NULL AS DOUBLE)", Type.NUMBER)
    return Value(f"CAST({value} AS DOUBLE)", Type.NUMBER)


def text(value: Value) -> Value:
    """Return a value as results show it.

    A number is the shortest text that reads as the same double, without a trailing ``.0``; a time
    is ``YYYY-MM-DD HH:MM:SS.mmm`` in UTC (AWS documentation, CloudWatch Logs: GetQueryResults).
    """
    match value.type:
        case Type.NUMBER if value.constant is not None:
            sql = quoted(repr(value.constant).removesuffix(".0"))
        case Type.NUMBER:
            # Adding zero makes -0 a plain 0.
            sql = f"regexp_replace(CAST({value} + 0e0 AS VARCHAR), '\\.0$', '')"
        case Type.BOOLEAN:
            sql = f"CAST(CAST({value} AS TINYINT) AS VARCHAR)"
        case Type.TIME:
            sql = f"TRY(strftime(make_timestamp_ms({value}), '%Y-%m-%d %H:%M:%S.%g'))"
        case _:
            return value
    return Value(sql, Type.TEXT)


def time(value: Value) -> Value:
    """Return a value as a time, from milliseconds."""
    if value.type is Type.TIME:
        return value
    return Value(f"TRY_CAST(trunc({number(value)}) AS BIGINT)", Type.TIME)


def truth(value: Value) -> Value:
    """Return a value as a condition: a number holds unless it is 0 or null."""
    if value.type is Type.BOOLEAN:
        return value
    return condition(f"{number(value)} <> 0")


def condition(sql: str) -> Value:
    """Return a condition that does not hold where SQL says null.

    A comparison with a missing field is false, and its negation true. AWS does not document it.
    """
    return Value(f"coalesce({sql}, FALSE)", Type.BOOLEAN)


def natural_order(value: Value) -> tuple[str, ...]:
    """Return the SQL expressions, most important first, by which texts are sorted.

    Texts that are no numbers come first, digits in them count by length and then by value, and
    numbers follow (AWS documentation, CloudWatch Logs Insights query syntax: sort).
    """
    # With a hundred million added any length has nine digits.
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
