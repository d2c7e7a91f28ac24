"""The types of expressions.

The types are Trino's, in classes of sqlglot. Source: Trino documentation, Data types; AWS
documentation, Athena: GetQueryResults, ColumnInfo.
"""

from __future__ import annotations

from sqlglot import exp

from onebox.athena.catalogue import NAMES

Type = exp.DataType
Kind = exp.DType

MOST_DIGITS = 38
"""The most digits of a decimal."""
INTEGERS = frozenset({Kind.INT, Kind.BIGINT})
NUMBERS = INTEGERS | {Kind.DOUBLE, Kind.DECIMAL}
_EXACT = INTEGERS | {Kind.DECIMAL}
TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_WIDER = {
    (Kind.INT, Kind.BIGINT),
    (Kind.INT, Kind.DOUBLE),
    (Kind.BIGINT, Kind.DOUBLE),
    (Kind.DECIMAL, Kind.DOUBLE),
    (Kind.DATE, Kind.TIMESTAMP),
    (Kind.DATE, Kind.TIMESTAMPTZ),
    (Kind.TIMESTAMP, Kind.TIMESTAMPTZ),
}
_NAMES = {Kind(name): names for name, names in NAMES.items()}
_KINDS = {names.glue: kind for kind, names in _NAMES.items()}


def kind(node: exp.Expr) -> Kind:
    """Return the kind of a typed node, without the types of its elements."""
    return node.type.this if node.type else Kind.UNKNOWN


def scalar(kind: Kind) -> Type:
    """Return the type of a kind without elements."""
    return Type(this=kind)


def array(element: Type) -> Type:
    """Return the type of arrays of ``element``."""
    return Type(this=Kind.ARRAY, expressions=[element], nested=True)


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type(this=Kind.MAP, expressions=[key, value], nested=True)


def decimal(digits: int, scale: int) -> Type:
    """Return the type of decimals of a number of digits, some of them behind the point."""
    return Type.build(f"DECIMAL({digits}, {scale})")


def digits_of(type_: Type) -> tuple[int, int]:
    """Return the digits and the scale of a decimal, or of the decimal that an integer becomes."""
    if type_.this is Kind.DECIMAL:
        digits, scale = (int(each.name) for each in type_.expressions)
        return digits, scale
    return (10, 0) if type_.this is Kind.INT else (19, 0)


def element(type_: Type) -> Type:
    """Return the type of the elements of an array, the type of null for null."""
    if type_.expressions or type_.this is Kind.NULL:
        return type_.expressions[0] if type_.expressions else type_
    return scalar(Kind.UNKNOWN)


def glue_type(name: str) -> Type:
    """Return the type of a Glue name."""
    if name.startswith("array<"):
        return array(glue_type(name.removeprefix("array<").removesuffix(">")))
    return scalar(_KINDS[name])


def trino_name(type_: Type | None) -> str:
    """Return the name of a type in the errors of Trino."""
    if type_ is None or type_.this in {Kind.NULL, Kind.UNKNOWN}:
        return "unknown"
    if type_.this is Kind.ARRAY:
        return f"array({trino_name(element(type_))})"
    if type_.this is Kind.MAP:
        return f"map({', '.join(map(trino_name, type_.expressions))})"
    if type_.this is Kind.DECIMAL:
        return type_.sql("trino").lower().replace(" ", "")
    return _NAMES[type_.this].trino if type_.this in _NAMES else type_.this.value.lower()


def duckdb_name(type_: Type) -> str:
    """Return the name of a type in DuckDB."""
    if type_.this is Kind.ARRAY:
        return f"{duckdb_name(element(type_))}[]"
    if type_.this is Kind.MAP:
        return f"MAP({','.join(map(duckdb_name, type_.expressions))})"
    if type_.this is Kind.DECIMAL:
        return type_.sql("duckdb").replace(" ", "")
    return _NAMES[type_.this].duckdb if type_.this in _NAMES else '"NULL"'


def column_type(type_: Type) -> tuple[str, int]:
    """Return the Type and the Precision of ColumnInfo for a type."""
    if type_.this is Kind.DECIMAL:
        return "decimal", int(type_.expressions[0].name)
    if type_.this not in _NAMES:
        nested = {Kind.ARRAY: "array", Kind.MAP: "map"}
        return nested.get(type_.this, "unknown"), 0
    _, name, _, precision = _NAMES[type_.this]
    return name.partition("(")[0], precision


def common(left: Type | None, right: Type | None) -> Type | None:
    """Return the type that values of two types can both have, None if there is none."""
    if left is None or right is None or Kind.UNKNOWN in {left.this, right.this}:
        return None
    if left.this is Kind.NULL or left == right:
        return right
    if right.this is Kind.NULL or (right.this, left.this) in _WIDER:
        return left
    if Kind.DECIMAL in {left.this, right.this} <= _EXACT:
        (digits, scale), (others, other_scale) = digits_of(left), digits_of(right)
        widest = max(scale, other_scale)
        return decimal(min(MOST_DIGITS, max(digits - scale, others - other_scale) + widest), widest)
    return right if (left.this, right.this) in _WIDER else None
