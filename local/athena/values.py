"""Types, and the texts in which results show values.

Types are Trino's, as sqlglot writes them down. Source: Trino documentation, Data types; AWS
documentation, Athena: GetQueryResults, ColumnInfo.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from sqlglot import exp

Type = exp.DataType
Kind = exp.DType

INTEGERS = frozenset({Kind.INT, Kind.BIGINT})
NUMBERS = INTEGERS | {Kind.DOUBLE, Kind.DECIMAL}
TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP})
_WIDER = {
    (Kind.INT, Kind.BIGINT),
    (Kind.INT, Kind.DOUBLE),
    (Kind.BIGINT, Kind.DOUBLE),
    (Kind.DECIMAL, Kind.DOUBLE),
    (Kind.DATE, Kind.TIMESTAMP),
}
# The Glue type, Trino's, DuckDB's, and what ColumnInfo says: Type, Precision.
_NAMES = {
    Kind.VARCHAR: ("string", "varchar", "VARCHAR", 2147483647),
    Kind.INT: ("int", "integer", "INTEGER", 10),
    Kind.BIGINT: ("bigint", "bigint", "BIGINT", 19),
    Kind.DOUBLE: ("double", "double", "DOUBLE", 17),
    Kind.BOOLEAN: ("boolean", "boolean", "BOOLEAN", 0),
    Kind.TIMESTAMP: ("timestamp", "timestamp(3)", "TIMESTAMP", 3),
    Kind.DATE: ("date", "date", "DATE", 0),
}
_KINDS = {names[0]: kind for kind, names in _NAMES.items()}


def kind(node: exp.Expr) -> Kind:
    """Return what a typed node is, without what it is made of."""
    return node.type.this if node.type else Kind.UNKNOWN


def scalar(kind: Kind) -> Type:
    """Return a type that is not made of others."""
    return Type(this=kind)


def array(element: Type) -> Type:
    """Return the type of arrays of ``element``."""
    return Type(this=Kind.ARRAY, expressions=[element], nested=True)


def element(type_: Type) -> Type:
    """Return the type of what an array has, of a null in place of the array that of a null."""
    return type_.expressions[0] if type_.expressions else type_


def glue_type(name: str) -> Type:
    """Return the type that Glue names."""
    if name.startswith("array<"):
        return array(glue_type(name.removeprefix("array<").removesuffix(">")))
    return scalar(_KINDS[name])


def trino_name(type_: Type | None) -> str:
    """Return the type's name as Trino's errors give it."""
    if type_ is None or type_.this in {Kind.NULL, Kind.UNKNOWN}:
        return "unknown"
    if type_.this is Kind.ARRAY:
        return f"array({trino_name(element(type_))})"
    return _NAMES[type_.this][1] if type_.this in _NAMES else type_.this.value.lower()


def duckdb_name(type_: Type) -> str:
    """Return the type's name as DuckDB gives it."""
    if type_.this is Kind.ARRAY:
        return f"{duckdb_name(element(type_))}[]"
    return _NAMES[type_.this][2] if type_.this in _NAMES else '"NULL"'


def column_type(type_: Type) -> tuple[str, int]:
    """Return Type and Precision as ColumnInfo gives them."""
    if type_.this not in _NAMES:
        return ("array" if type_.this is Kind.ARRAY else "unknown"), 0
    _, name, _, precision = _NAMES[type_.this]
    return name.partition("(")[0], precision


def reads_as(type_: Type | None, wanted: Type) -> bool:
    """Return whether a value of a type is taken where another is wanted."""
    return common(type_, wanted) == wanted


def common(left: Type | None, right: Type | None) -> Type | None:
    """Return the type that values of two types are both read as; None if there is none."""
    if left is None or right is None or Kind.UNKNOWN in {left.this, right.this}:
        return None
    if left.this is Kind.NULL or left == right:
        return right
    if right.this is Kind.NULL or (right.this, left.this) in _WIDER:
        return left
    return right if (left.this, right.this) in _WIDER else None


def text(value: Any) -> str | None:  # noqa: ANN401 (what DuckDB returns)
    """Return a value as Athena's results show it; None is a null."""
    return None if value is None else _TEXTS.get(type(value), str)(value)


def _timestamp_text(value: datetime) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"


def _array_text(values: list[Any]) -> str:
    return f"[{', '.join('null' if each is None else str(text(each)) for each in values)}]"


def double_text(value: float) -> str:
    """Return a double as Java does: the shortest text that reads as the same double.

    With an exponent unless it is between 1e-3 and 1e7 (Java documentation, Double.toString).
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{value!r}e0".partition("e")
    sign = "-" if value < 0 else ""
    whole, _, fraction = digits.removeprefix("-").partition(".")
    ten = int(exponent.partition("e")[0]) + len(whole) - 1
    figures = whole + fraction
    ten -= len(figures) - len(figures.lstrip("0"))
    figures = figures.strip("0")
    return f"{sign}{figures[0]}.{figures[1:] or '0'}E{ten}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    float: double_text,
    datetime: _timestamp_text,
    date: date.isoformat,
    list: _array_text,
}
