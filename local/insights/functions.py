"""The functions of queries: what they take, what they give, and their SQL.

Source: AWS documentation, CloudWatch Logs Insights query syntax: supported operations and
functions, and stats. The 2026 additions but ``round`` are not here yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from local.insights.values import Type, Value, condition, finite, literal, number, text

ANY = None
_TEXT, _NUMBER, _TIME, _PERIOD = Type.TEXT, Type.NUMBER, Type.TIME, Type.PERIOD
# What trim takes away, and what is blank.
_SPACE = "E' \\t\\n\\r\\f\\v'"


@dataclass(frozen=True)
class Function:
    """One function.

    Attributes
    ----------
    takes : tuple of Type or None
        The types its arguments are read as; None leaves an argument what it is.
    sql : callable
        Makes the value from those arguments.
    fewest : int, optional
        How many arguments must be given, if not all.
    repeats : bool
        Whether the last argument may be given any number of times.
    aggregate : bool
        Whether it makes one value from many rows.
    implied : tuple of str
        Fields that it reads without being told; they come before the arguments.
    """

    takes: tuple[Type | None, ...]
    sql: Callable[..., Value]
    fewest: int | None = None
    repeats: bool = False
    aggregate: bool = False
    implied: tuple[str, ...] = ()

    @property
    def arity(self) -> tuple[int, int | None]:
        """The fewest and the most arguments that are written; None is any number."""
        given = len(self.takes) - len(self.implied)
        return (given if self.fewest is None else self.fewest, None if self.repeats else given)

    def reads_as(self, position: int) -> Type | None:
        """Return the type that the argument at a position is read as."""
        return self.takes[min(position, len(self.takes) - 1)]


def _gives(type_: Type, template: str) -> Callable[..., Value]:
    return lambda *arguments: Value(template.format(*arguments), type_)


def _condition(template: str) -> Callable[..., Value]:
    return lambda *arguments: condition(template.format(*arguments))


def _finite(template: str) -> Callable[..., Value]:
    return lambda *arguments: finite(template.format(*arguments))


def _joined(name: str, type_: Type) -> Callable[..., Value]:
    return lambda *arguments: Value(f"{name}({', '.join(map(str, arguments))})", type_)


def _trim(name: str) -> Callable[..., Value]:
    def trim(value: Value, characters: Value | str = _SPACE) -> Value:
        return Value(f"{name}({value}, {characters})", _TEXT)

    return trim


def _position(value: Value) -> str:
    # Not negative, as DuckDB would count from the end; and no more than it takes.
    return f"TRY_CAST(TRY_CAST(trunc({value}) AS UINTEGER) AS INTEGER)"


def _substr(value: Value, start: Value, length: Value | None = None) -> Value:
    until = f", {_position(length)}" if length else ""
    return Value(f"substring({value}, {_position(start)} + 1::BIGINT{until})", _TEXT)


def _round(value: Value, digits: Value | None = None) -> Value:
    to = f", TRY_CAST(trunc({digits}) AS TINYINT)" if digits else ""
    return finite(f"round({value}{to})")


def _coalesce(*values: Value) -> Value:
    if len({value.type for value in values}) > 1:
        values = tuple(text(value) for value in values)
    return Value(f"coalesce({', '.join(map(str, values))})", values[0].type)


def _bucket(round_: str) -> Callable[..., Value]:
    # By floor, since integer division would round times before 1970 up.
    def bucket(time: Value, period: Value) -> Value:
        return Value(f"TRY_CAST({round_}({time} / {period}) * {period} AS BIGINT)", _TIME)

    return bucket


def _aggregate(
    takes: Type | None, sql: Callable[..., Value], implied: tuple[str, ...] = ()
) -> Function:
    kept = (ANY,) * len(implied)
    return Function((*kept, takes), sql, aggregate=True, implied=implied)


def _extreme(name: str) -> Callable[..., Value]:
    # Of texts, the extreme of those that are numbers if there are any.
    def extreme(value: Value) -> Value:
        if value.type is not _TEXT:
            return Value(f"{name}({value})", value.type)
        numeric = text(Value(f"{name}({number(value)})", _NUMBER))
        return Value(f"coalesce({numeric}, {name}({value}))", _TEXT)

    return extreme


def _edge(name: str) -> Callable[..., Value]:
    def edge(time: Value, pointer: Value, value: Value) -> Value:
        return Value(f"{name}({value}, ({time}, {pointer}))", value.type)

    return edge


def _percentile(value: Value, percent: Value) -> Value:
    return finite(f"quantile_cont({value}, {percent} / 100)")


_COUNT = "CAST(count({0}) AS DOUBLE)"
_TIMED = ("@timestamp", "@ptr")

FUNCTIONS: dict[str, Function] = {
    # stats. The standard deviation is that of a sample, percentiles are interpolated: AWS
    # documents neither. Sums are compensated, so that the order of rows hardly matters.
    "avg": _aggregate(_NUMBER, _finite("favg({0})")),
    "sum": _aggregate(_NUMBER, _finite("fsum({0})")),
    "min": _aggregate(ANY, _extreme("min")),
    "max": _aggregate(ANY, _extreme("max")),
    "count": Function(
        (ANY,),
        lambda value="*": Value(_COUNT.format(value), _NUMBER),
        fewest=0,
        aggregate=True,
    ),
    "count_distinct": _aggregate(ANY, _gives(_NUMBER, _COUNT.format("DISTINCT {0}"))),
    "pct": Function((_NUMBER, _NUMBER), _percentile, aggregate=True),
    "median": _aggregate(_NUMBER, lambda value: _percentile(value, literal(50.0))),
    "stddev": _aggregate(_NUMBER, _finite("stddev_samp({0})")),
    "earliest": _aggregate(ANY, _edge("arg_min"), _TIMED),
    "latest": _aggregate(ANY, _edge("arg_max"), _TIMED),
    # General
    "ispresent": Function((ANY,), _condition("{0} IS NOT NULL")),
    "coalesce": Function((ANY,), _coalesce, repeats=True),
    # Text
    "isempty": Function((_TEXT,), _condition("coalesce({0}, '') = ''")),
    "isblank": Function((_TEXT,), _condition(f"trim(coalesce({{0}}, ''), {_SPACE}) = ''")),
    "concat": Function((_TEXT,), _joined("concat", _TEXT), repeats=True),
    "strlen": Function((_TEXT,), _gives(_NUMBER, "CAST(length({0}) AS DOUBLE)")),
    "toupper": Function((_TEXT,), _gives(_TEXT, "upper({0})")),
    "tolower": Function((_TEXT,), _gives(_TEXT, "lower({0})")),
    "trim": Function((_TEXT, _TEXT), _trim("trim"), fewest=1),
    "ltrim": Function((_TEXT, _TEXT), _trim("ltrim"), fewest=1),
    "rtrim": Function((_TEXT, _TEXT), _trim("rtrim"), fewest=1),
    "substr": Function((_TEXT, _NUMBER, _NUMBER), _substr, fewest=2),
    "replace": Function((_TEXT, _TEXT, _TEXT), _gives(_TEXT, "replace({0}, {1}, {2})")),
    "strcontains": Function((_TEXT, _TEXT), _condition("contains({0}, {1})")),
    # Numbers
    "abs": Function((_NUMBER,), _gives(_NUMBER, "abs({0})")),
    "ceil": Function((_NUMBER,), _gives(_NUMBER, "ceil({0})")),
    "floor": Function((_NUMBER,), _gives(_NUMBER, "floor({0})")),
    "greatest": Function((_NUMBER,), _joined("greatest", _NUMBER), repeats=True),
    "least": Function((_NUMBER,), _joined("least", _NUMBER), repeats=True),
    "log": Function((_NUMBER,), _finite("TRY(ln({0}))")),
    "sqrt": Function((_NUMBER,), _finite("TRY(sqrt({0}))")),
    "round": Function((_NUMBER, _NUMBER), _round, fewest=1),
    # Time
    "bin": Function((_TIME, _PERIOD), _bucket("floor"), implied=("@timestamp",)),
    "datefloor": Function((_TIME, _PERIOD), _bucket("floor")),
    "dateceil": Function((_TIME, _PERIOD), _bucket("ceil")),
    "frommillis": Function((_TIME,), _gives(_TIME, "{0}")),
    "tomillis": Function((_TIME,), _gives(_NUMBER, "CAST({0} AS DOUBLE)")),
    "now": Function((), _gives(_NUMBER, "CAST(getvariable('query_start') AS DOUBLE)")),
}
