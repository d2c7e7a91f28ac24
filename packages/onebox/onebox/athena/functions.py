"""The functions of queries: their parameters, their types and their form in DuckDB.

Any other function is refused. Source: Trino documentation, Functions and operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from onebox.athena.errors import QueryError, not_supported
from onebox.athena.values import (
    INTEGERS,
    MOST_DIGITS,
    TIMES,
    Kind,
    Type,
    array,
    common,
    decimal,
    digits_of,
    duckdb_name,
    element,
    kind,
    map_of,
    scalar,
    trino_name,
)

Write = Callable[..., exp.Expr]
ValueType = Callable[[Sequence[Type]], Type | None]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    Attributes
    ----------
    name : str
        The name in messages.
    kinds : frozenset of DType
        The accepted types, besides null.
    literal : str, optional
        The regular expression of the accepted texts, if the argument must be a literal.
    """

    name: str
    kinds: frozenset[Kind]
    literal: str | None = None


@dataclass(frozen=True)
class Function:
    """A function of queries.

    Attributes
    ----------
    parameters : tuple of Parameter
        The parameters.
    value_type : callable
        Returns the type of the value for the types of the arguments, None if they do not fit.
    write : callable
        Returns DuckDB's expression for the arguments.
    fewest : int, optional
        The minimum number of arguments, if not all are required.
    repeats : bool
        Whether the last argument may be repeated.
    over_rows : bool
        Whether the function computes its value from many rows, as an aggregate or in a window.
    finish : callable, optional
        Returns the final expression for the value over rows and its type.
    ordered : bool
        Whether the call may have an ORDER BY.
    """

    parameters: tuple[Parameter, ...]
    value_type: ValueType
    write: Write
    fewest: int | None = None
    repeats: bool = False
    over_rows: bool = False
    finish: Callable[[exp.Expr, Type], exp.Expr] | None = None
    ordered: bool = False


ANY = Parameter("T", frozenset({*Kind} - {Kind.UNKNOWN}))
PLAIN = Parameter("T", ANY.kinds - {Kind.ARRAY, Kind.MAP})
TEXT = Parameter("varchar", frozenset({Kind.VARCHAR}))
WHOLE = Parameter("bigint", INTEGERS)
NUMBER = Parameter("number", INTEGERS | {Kind.DOUBLE})
DOUBLE = Parameter("double", NUMBER.kinds | {Kind.DECIMAL})
MEANT = Parameter("double", DOUBLE.kinds | {Kind.INTERVAL})
LENGTH = Parameter("interval day to second", frozenset({Kind.INTERVAL}))
TRUTH = Parameter("boolean", frozenset({Kind.BOOLEAN}))
TIME = Parameter("timestamp", TIMES)
LIST = Parameter("array", frozenset({Kind.ARRAY}))
MAP = Parameter("map", frozenset({Kind.MAP}))
COLLECTION = Parameter("array or map", LIST.kinds | MAP.kinds)
MOMENT = Parameter("timestamp", frozenset({Kind.TIMESTAMP, Kind.TIMESTAMPTZ}))
UTC = Parameter("zone", TEXT.kinds, "UTC")
WITH_LAMBDA = ("filter", "transform", "any_match", "all_match", "none_match")
"""The functions of an array and a lambda, which stands first here."""
DIGITS = Parameter("digits", INTEGERS, r"\d")
PATH = Parameter("path", TEXT.kinds, r"\$(\.[A-Za-z_]\w*|\[\d+\])*")
_SHORT_UNITS = "millisecond|second|minute|hour|day|week"
UNIT = Parameter("unit", TEXT.kinds, f"(?i){_SHORT_UNITS}|month|quarter|year")
WHOLE_UNIT = Parameter("unit", TEXT.kinds, "(?i)second|minute|hour|day|week|month|quarter|year")
# The format of strftime for each letter of date_format, as in MySQL.
_LETTERS = {
    "Y": "%Y", "y": "%y", "m": "%m", "d": "%d", "H": "%H", "i": "%M", "s": "%S", "S": "%S",
    "T": "%H:%M:%S", "j": "%j", "a": "%a", "W": "%A", "b": "%b", "M": "%B", "p": "%p", "%": "%%",
    "c": "%-m", "e": "%-d", "k": "%-H", "h": "%I", "I": "%I", "l": "%-I", "r": "%I:%M:%S %p",
    "f": "%f",
}  # fmt: skip
FORMATTED = Parameter("format", TEXT.kinds, r"(?:[^%]|%%|%s|%,?d|%,?\.\d\df|%,?\.\df)*")
"""The patterns of format(): texts, whole numbers, and doubles of some digits."""
_FORMATTED = re.compile(r"%(?:%|(?P<text>s)|(?P<comma>,?)(?:(?P<whole>d)|\.(?P<digits>\d+)f))")
_JODA = {
    "yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%g",
}  # fmt: skip
JODA = Parameter(
    "format", TEXT.kinds, f"(?:[^A-Za-z%']|(?<![A-Za-z])(?:{'|'.join(_JODA)})(?![A-Za-z]))*"
)
FORMAT = Parameter("format", TEXT.kinds, f"([^%]|%[{''.join(_LETTERS)}])*")
PARSED = Parameter("format", TEXT.kinds, "([^%]|%[YmdHis])*")
# DuckDB does not tell a group that matches nothing from one that does not take part.
GROUPS = Parameter("pattern", TEXT.kinds, r"([^|)]|\)(?![?*{]))*")
REPLACEMENT = Parameter("replacement", TEXT.kinds, r"([^$\\]|\$\d)*")
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def type_of_call(call: exp.Anonymous, arguments: Sequence[exp.Expr]) -> Type:
    """Return the type of a function's value.

    Raises
    ------
    QueryError
        If the function is not supported, or does not accept these arguments.
    """
    function = function_of(call)
    types = [argument.type or scalar(Kind.UNKNOWN) for argument in arguments]
    least = len(function.parameters) if function.fewest is None else function.fewest
    enough = least <= len(types) and (function.repeats or len(types) <= len(function.parameters))
    if enough and all(
        type_.this in {*parameter.kinds, Kind.NULL}
        for type_, parameter in zip(types, _parameters(function, len(types)), strict=True)
    ):
        _check_literals(call, function, arguments)
        if value_type := function.value_type(types):
            return value_type
    raise QueryError(
        "FUNCTION_NOT_FOUND",
        f"Unexpected parameters ({', '.join(map(trino_name, types))}) for function "
        f"{call.name.lower()}. Expected: {_signature(call, function)}",
        call,
    )


def function_of(call: exp.Anonymous) -> Function:
    """Return the function of a call."""
    try:
        return FUNCTIONS[call.name.lower()]
    except KeyError:
        raise not_supported(f"Function '{call.name.lower()}'", call) from None


def _parameters(function: Function, count: int) -> list[Parameter]:
    parameters = list(function.parameters)
    return parameters[:count] + parameters[-1:] * (count - len(parameters))


def _check_literals(call: exp.Anonymous, function: Function, arguments: Sequence[exp.Expr]) -> None:
    for argument, parameter in zip(arguments, _parameters(function, len(arguments)), strict=True):
        if parameter.literal is None:
            continue
        if not isinstance(argument, exp.Literal):
            raise not_supported(
                f"A {parameter.name} of {call.name.lower()} that is not a literal", call
            )
        if not re.fullmatch(parameter.literal, argument.name):
            raise not_supported(f"{parameter.name} {argument} of {call.name.lower()}", call)


def _signature(call: exp.Anonymous, function: Function) -> str:
    names = [parameter.name for parameter in function.parameters]
    more = ", ..." if function.repeats else ""
    return f"{call.name.lower()}({', '.join(names)}{more})"


def cast(value: exp.Expr, type_: Type) -> exp.Expr:
    """Return a cast of a value to a type in DuckDB."""
    return exp.Cast(this=value, to=Type.build(duckdb_name(type_), dialect="duckdb"))


def named(name: str) -> Write:
    """Return a writer of calls of a DuckDB function or macro."""
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def _as(name: str, kind_: Kind | None = None) -> Write:
    """Return a writer of calls of a DuckDB function whose value needs a cast.

    The default type is the type of the last argument.
    """

    def write(*arguments: exp.Expr) -> exp.Expr:
        type_ = scalar(kind_) if kind_ else scalar(kind(arguments[-1]))
        return cast(named(name)(*arguments), type_)

    return write


def _if(condition: exp.Expr, yes: exp.Expr, no: exp.Expr | None = None) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=yes)], default=no)


def _concat(*texts: exp.Expr) -> exp.Expr:
    joined = texts[0]
    for text in texts[1:]:
        joined = exp.DPipe(this=joined, expression=exp.paren(text, copy=False))
    return exp.paren(joined, copy=False)


def _rounded(value: exp.Expr, *digits: exp.Expr) -> exp.Expr:
    if kind(value) is Kind.DECIMAL and value.type:
        types = [value.type, *(scalar(Kind.INT) for _ in digits)]
        return cast(named("round")(value, *digits), _type_of_round(types))
    if kind(value) is not Kind.DOUBLE:
        return value
    return named("round_to" if digits else "round")(value, *digits)


def _modulus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Mod(this=exp.paren(left), expression=exp.paren(right)), copy=False)


def _negative(value: exp.Expr) -> exp.Expr:
    return exp.Neg(this=exp.paren(value, copy=False))


def _extreme(name: str, *, greatest: bool) -> Write:
    """Return a writer of least or greatest: null if an argument is null, NaN as the last choice.

    NaN is the greatest double in DuckDB.
    """

    def write(*values: exp.Expr) -> exp.Expr:
        negated = greatest and any(kind(value) is Kind.DOUBLE for value in values)
        operands = [_negative(value.copy()) if negated else value.copy() for value in values]
        extreme = named("least" if negated else name)(*operands)
        nulls = [exp.Is(this=exp.paren(value), expression=exp.null()) for value in values]
        return _if(exp.or_(*nulls), exp.null(), _negative(extreme) if negated else extreme)

    return write


def _max(value: exp.Expr) -> exp.Expr:
    # NaN is the greatest double in DuckDB, but the least for Trino's max.
    return named("min")(_negative(value)) if kind(value) is Kind.DOUBLE else named("max")(value)


def _finish_max(value: exp.Expr, type_: Type) -> exp.Expr:
    return _negative(value) if type_.this is Kind.DOUBLE else value


def _max_by(value: exp.Expr, by: exp.Expr) -> exp.Expr:
    if kind(by) is Kind.DOUBLE:
        return named("arg_min_null")(value, _negative(by))
    return named("arg_max_null")(value, by)


def _reduce(values: exp.Expr, start: exp.Expr, step: exp.Expr, _: exp.Expr) -> exp.Expr:
    total, value = step.expressions
    if _is_zero(start) and isinstance(step.this, exp.Add) and step.this.this == total:
        term = step.this.expression
        if total not in term.find_all(exp.Identifier):
            # It adds in the same order, twenty times as fast as list_reduce.
            terms = exp.Lambda(this=term, expressions=[value])
            return named("total")(named("list_transform")(values, terms))
    return named("list_reduce")(values, step, start)


def _is_zero(value: exp.Expr) -> bool:
    return isinstance(value, exp.Literal) and not value.is_string and float(value.this) == 0


def _with_format(name: str, pattern: str, letters: Mapping[str, str]) -> Write:
    """Return a writer of calls with the format of strftime for one of other letters."""

    def write(value: exp.Expr, form: exp.Expr) -> exp.Expr:
        written = re.sub(pattern, lambda match: letters[match[1]], form.name)
        return named(name)(value, exp.Literal.string(written))

    return write


def _date_diff(unit: exp.Expr, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    if months := _MONTHS.get(unit.name.lower()):
        passed = named("passed_months")(start, end)
        return exp.paren(exp.IntDiv(this=passed, expression=exp.Literal.number(months)), copy=False)
    return named("date_sub")(unit, start, end)


def _regexp_replace(text: exp.Expr, pattern: exp.Expr, *replacement: exp.Expr) -> exp.Expr:
    new = re.sub(r"\$(\d)", r"\\\1", replacement[0].name) if replacement else ""
    options = exp.Literal.string(new), exp.Literal.string("g")
    return named("regexp_replace")(text, pattern, *options)


def _try(value: exp.Expr) -> exp.Expr:
    # The macro that casts a text raises its error in a way that DuckDB's TRY does not see.
    cast_text = isinstance(value, exp.Anonymous) and value.name.startswith("text_to_")
    return named(f"try_{value.name}")(*value.expressions) if cast_text else named("try")(value)


def _formatted(form: exp.Expr, *values: exp.Expr) -> exp.Expr:
    """Return the text of Java's Formatter, in which null is a text and 5 is rounded up."""
    parts: list[exp.Expr] = []
    rest, end = iter(values), 0
    for found in _FORMATTED.finditer(form.name):
        before = form.name[end : found.start()] + ("%" if found[0] == "%%" else "")
        parts.append(exp.Literal.string(before))
        end = found.end()
        if found[0] != "%%":
            value = next(rest, None)
            if value is None:
                raise QueryError("INVALID_FUNCTION_ARGUMENT", f"Format specifier '{found[0]}'")
            parts.append(_formatted_value(found, value))
    parts.append(exp.Literal.string(form.name[end:]))
    return _concat(*parts)


def _formatted_value(found: re.Match[str], value: exp.Expr) -> exp.Expr:
    type_, comma = kind(value), "," if found["comma"] else ""
    if found["digits"]:
        accepted = type_ is Kind.DOUBLE
        digits = exp.Literal.number(found["digits"])
        rounded = named("rounded_half_up")(value, digits)
        text = named("format")(exp.Literal.string(f"{{:{comma}.{found['digits']}f}}"), rounded)
    elif found["whole"]:
        accepted = type_ in INTEGERS
        text = named("format")(exp.Literal.string(f"{{:{comma}}}"), value)
    else:
        accepted = type_ in INTEGERS | {Kind.VARCHAR, Kind.BOOLEAN, Kind.DATE}
        text = cast(value, scalar(Kind.VARCHAR))
    if not accepted:
        raise not_supported(f"format '{found[0]}' of {trino_name(value.type)}", value)
    return named("coalesce")(text, exp.Literal.string("null"))


def _quantile(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the exact quantiles, which Trino approximates."""
    shares = share.expressions if isinstance(share, exp.Array) else [share]
    literals = [each.find(exp.Literal) or each for each in shares]
    if not all(isinstance(each, exp.Literal) and 0 <= float(each.name) <= 1 for each in literals):
        raise not_supported("approx_percentile of other than a literal from 0 to 1", share)
    name = "quantile_cont" if kind(value) is Kind.DOUBLE else "quantile_disc"
    return named(name)(value, share)


def _nullif(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    is_double = Kind.DOUBLE in {kind(value), kind(other)}
    return named("double_nullif" if is_double else "nullif")(value, other)


def _distinct(value: exp.Expr) -> exp.Expr:
    return named("count")(exp.Distinct(expressions=[value]))


def _trimmed(name: str, of_blanks: str) -> Write:
    return lambda *arguments: named(name if len(arguments) > 1 else of_blanks)(*arguments)


def _type_of_round(types: Sequence[Type]) -> Type:
    if types[0].this is not Kind.DECIMAL:
        return types[0]
    digits, scale = digits_of(types[0])
    if len(types) == 1:
        return decimal(min(MOST_DIGITS, digits - scale + min(scale, 1)), 0)
    return decimal(min(MOST_DIGITS, digits + 1), scale)


def _at_timezone(time: exp.Expr, zone: exp.Expr) -> exp.Expr:
    return cast(time, scalar(Kind.TIMESTAMPTZ))


def _type_name(value: exp.Expr) -> exp.Expr:
    return exp.Literal.string(trino_name(value.type))


def _iso(time: exp.Expr) -> exp.Expr:
    if kind(time) is Kind.TIMESTAMPTZ:
        return _concat(named("iso_timestamp")(time), exp.Literal.string("Z"))
    return named("iso_date" if kind(time) is Kind.DATE else "iso_timestamp")(time)


def _always(kind_: Kind) -> ValueType:
    return lambda _: scalar(kind_)


def _same(position: int) -> ValueType:
    return lambda types: types[position]


def _widest(types: Sequence[Type]) -> Type | None:
    widest: Type | None = types[0]
    for type_ in types[1:]:
        widest = common(widest, type_)
    return widest


def _type_of_mean(types: Sequence[Type]) -> Type:
    return types[0] if types[0].this in {Kind.DECIMAL, Kind.INTERVAL} else scalar(Kind.DOUBLE)


def _of_milliseconds(name: str) -> Write:
    """Return a writer of an aggregate, which DuckDB does not have of intervals."""

    def write(value: exp.Expr) -> exp.Expr:
        return named(name)(named("epoch_ms")(value) if kind(value) is Kind.INTERVAL else value)

    return write


def _finish_sum(value: exp.Expr, type_: Type) -> exp.Expr:
    if type_.this is not Kind.INTERVAL:
        return cast(value, type_)
    return named("to_milliseconds")(cast(named("round")(value), scalar(Kind.BIGINT)))


def _finish_mean(value: exp.Expr, type_: Type) -> exp.Expr:
    # DuckDB's mean of decimals is a double, whose shortest text is rounded half up.
    if type_.this is Kind.DECIMAL:
        return cast(named("plain_text")(value), type_)
    return _finish_sum(value, type_) if type_.this is Kind.INTERVAL else value


def _whole(name: str) -> Write:
    def write(value: exp.Expr) -> exp.Expr:
        if kind(value) is Kind.DECIMAL and value.type:
            return cast(named(name)(value), _type_of_round([value.type]))
        return named(name)(value) if kind(value) is Kind.DOUBLE else value

    return write


def _type_of_sum(types: Sequence[Type]) -> Type | None:
    if types[0].this is Kind.DECIMAL:
        return decimal(MOST_DIGITS, digits_of(types[0])[1])
    if types[0].this in {Kind.DOUBLE, Kind.INTERVAL}:
        return types[0]
    return scalar(Kind.BIGINT)


def _if_member(kind_: Kind) -> ValueType:
    """Return a type for an array and a value that may be one of its elements."""
    return lambda types: scalar(kind_) if common(element(types[0]), types[1]) else None


def _type_of_reduce(types: Sequence[Type]) -> Type | None:
    doubles = element(types[0]).this is Kind.DOUBLE and types[1].this is Kind.DOUBLE
    return scalar(Kind.DOUBLE) if doubles else None


def _type_of_offset(types: Sequence[Type]) -> Type | None:
    return types[0] if len(types) < 3 else common(types[0], types[2])


def _with_lambda(name: str) -> Write:
    return lambda function, values: named(name)(values, function)


def _type_of_member(types: Sequence[Type]) -> Type | None:
    """Return the type of an element of an array by its place, or of a value by its key."""
    if types[0].this is not Kind.MAP:
        return element(types[0]) if types[1].this in INTEGERS else None
    key, value = types[0].expressions
    return value if common(key, types[1]) else None


def _by_place_or_key(of_array: str, of_map: str) -> Write:
    def write(values: exp.Expr, at: exp.Expr) -> exp.Expr:
        return named(of_map if kind(values) is Kind.MAP else of_array)(values, at)

    return write


def _size(values: exp.Expr) -> exp.Expr:
    size = named("cardinality" if kind(values) is Kind.MAP else "len")(values)
    return cast(size, scalar(Kind.BIGINT))


def _pairs(key: exp.Expr, value: exp.Expr) -> exp.Expr:
    pair = named("struct_pack")(
        exp.PropertyEQ(this=exp.to_identifier("key"), expression=key),
        exp.PropertyEQ(this=exp.to_identifier("value"), expression=value),
    )
    return named("list")(pair)


def _matching(name: str) -> Write:
    """Return a writer of a test of the elements of an array, whose result may be null."""
    return lambda function, values: named(name)(named("list_transform")(values, function))


def _grouping(*columns: exp.Expr) -> exp.Expr:
    return cast(named("grouping")(*columns), scalar(Kind.INT))


def _type_of_flat(types: Sequence[Type]) -> Type | None:
    inner = element(types[0])
    return inner if inner.this is Kind.ARRAY else None


def _array_extreme(name: str) -> Write:
    def write(values: exp.Expr) -> exp.Expr:
        if values.type and element(values.type).this in {Kind.DOUBLE, Kind.ARRAY}:
            raise not_supported(f"array_{name} of {trino_name(values.type)}", values)
        return named(f"{name}_of_all")(values)

    return write


def _function(
    parameters: tuple[Parameter, ...],
    value_type: ValueType | Kind,
    write: Write | str,
    **more: Any,  # noqa: ANN401 (the other fields)
) -> Function:
    return Function(
        parameters,
        _always(value_type) if isinstance(value_type, Kind) else value_type,
        named(write) if isinstance(write, str) else write,
        **more,
    )


def _over_rows(
    parameters: tuple[Parameter, ...],
    value_type: ValueType | Kind,
    write: Write | str,
    **more: Any,  # noqa: ANN401
) -> Function:
    return _function(parameters, value_type, write, over_rows=True, **more)


FUNCTIONS: dict[str, Function] = {
    # Aggregates. Trino approximates two of them, which are exact here.
    "approx_percentile": _over_rows(
        (NUMBER, Parameter("percentage", DOUBLE.kinds | LIST.kinds)),
        lambda types: array(types[0]) if types[1].this is Kind.ARRAY else types[0],
        _quantile,
    ),
    "approx_distinct": _over_rows((ANY,), Kind.BIGINT, _distinct),
    "geometric_mean": _over_rows((DOUBLE,), Kind.DOUBLE, "geomean"),
    **{
        name: _over_rows((DOUBLE, DOUBLE), Kind.DOUBLE, name)
        for name in ("corr", "covar_samp", "covar_pop", "regr_slope", "regr_intercept")
    },
    "listagg": _over_rows((TEXT, TEXT), Kind.VARCHAR, "string_agg", ordered=True),
    "count": _over_rows((ANY,), Kind.BIGINT, "count", fewest=0),
    "count_if": _over_rows((TRUTH,), Kind.BIGINT, "count_if", finish=cast),
    "sum": _over_rows((MEANT,), _type_of_sum, _of_milliseconds("sum"), finish=_finish_sum),
    "avg": _over_rows((MEANT,), _type_of_mean, _of_milliseconds("avg"), finish=_finish_mean),
    "min": _over_rows((PLAIN,), _same(0), "min"),
    "max": _over_rows((PLAIN,), _same(0), _max, finish=_finish_max),
    "min_by": _over_rows((ANY, PLAIN), _same(0), "arg_min_null"),
    "max_by": _over_rows((ANY, PLAIN), _same(0), _max_by),
    **{
        name: _over_rows((DOUBLE,), Kind.DOUBLE, name)
        for name in ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop")
    },
    "bool_and": _over_rows((TRUTH,), Kind.BOOLEAN, "bool_and"),
    "every": _over_rows((TRUTH,), Kind.BOOLEAN, "bool_and"),
    "bool_or": _over_rows((TRUTH,), Kind.BOOLEAN, "bool_or"),
    "arbitrary": _over_rows((ANY,), _same(0), "any_value"),
    "any_value": _over_rows((ANY,), _same(0), "any_value"),
    "map_agg": _over_rows(
        (PLAIN, ANY),
        lambda types: map_of(*types),
        _pairs,
        finish=lambda pairs, _: named("map_of_pairs")(pairs),
    ),
    "histogram": _over_rows(
        (PLAIN,),
        lambda types: map_of(types[0], scalar(Kind.BIGINT)),
        "histogram",
        finish=cast,
    ),
    "array_agg": _over_rows((ANY,), lambda types: array(types[0]), "array_agg", ordered=True),
    "grouping": _function((ANY,), Kind.INT, _grouping, repeats=True),
    # Windows
    "row_number": _over_rows((), Kind.BIGINT, "row_number"),
    "rank": _over_rows((), Kind.BIGINT, "rank"),
    "dense_rank": _over_rows((), Kind.BIGINT, "dense_rank"),
    "percent_rank": _over_rows((), Kind.DOUBLE, "percent_rank"),
    "cume_dist": _over_rows((), Kind.DOUBLE, "cume_dist"),
    "ntile": _over_rows((WHOLE,), Kind.BIGINT, "ntile"),
    "nth_value": _over_rows((ANY, WHOLE), _same(0), "nth_value"),
    "first_value": _over_rows((ANY,), _same(0), "first_value"),
    "last_value": _over_rows((ANY,), _same(0), "last_value"),
    "lag": _over_rows((ANY, WHOLE, ANY), _type_of_offset, "lag", fewest=1),
    "lead": _over_rows((ANY, WHOLE, ANY), _type_of_offset, "lead", fewest=1),
    # Conditions
    "coalesce": _function((ANY,), _widest, "coalesce", fewest=2, repeats=True),
    "nullif": _function(
        (PLAIN, PLAIN),
        lambda types: types[0] if _widest(types) else None,
        _nullif,
    ),
    "try": _function((ANY,), _same(0), _try),
    "if": _function((TRUTH, ANY, ANY), lambda types: _widest(types[1:]), _if, fewest=2),
    "greatest": _function(
        (PLAIN,), _widest, _extreme("greatest", greatest=True), fewest=1, repeats=True
    ),
    "least": _function(
        (PLAIN,), _widest, _extreme("least", greatest=False), fewest=1, repeats=True
    ),
    # Text
    "lower": _function((TEXT,), Kind.VARCHAR, "lower"),
    "upper": _function((TEXT,), Kind.VARCHAR, "upper"),
    "length": _function((TEXT,), Kind.BIGINT, "length"),
    "concat": _function((TEXT,), Kind.VARCHAR, _concat, fewest=2, repeats=True),
    "substr": _function((TEXT, WHOLE, WHOLE), Kind.VARCHAR, "part", fewest=2),
    "substring": _function((TEXT, WHOLE, WHOLE), Kind.VARCHAR, "part", fewest=2),
    **{
        name: _function((TEXT, TEXT), Kind.VARCHAR, _trimmed(name, of_blanks), fewest=1)
        for name, of_blanks in (
            ("trim", "stripped"),
            ("ltrim", "left_stripped"),
            ("rtrim", "right_stripped"),
        )
    },
    "replace": _function((TEXT, TEXT, TEXT), Kind.VARCHAR, "replaced"),
    "reverse": _function((TEXT,), Kind.VARCHAR, "reverse"),
    "translate": _function((TEXT, TEXT, TEXT), Kind.VARCHAR, "translate"),
    "concat_ws": _function((TEXT, TEXT), Kind.VARCHAR, "concat_ws", fewest=2, repeats=True),
    "lpad": _function((TEXT, WHOLE, TEXT), Kind.VARCHAR, "left_padded"),
    "rpad": _function((TEXT, WHOLE, TEXT), Kind.VARCHAR, "right_padded"),
    "levenshtein_distance": _function((TEXT, TEXT), Kind.BIGINT, "levenshtein"),
    "split": _function((TEXT, TEXT), lambda types: array(types[0]), "fields"),
    "split_part": _function((TEXT, TEXT, WHOLE), Kind.VARCHAR, "field"),
    "strpos": _function((TEXT, TEXT), Kind.BIGINT, "strpos"),
    "format": _function((FORMATTED, ANY), Kind.VARCHAR, _formatted, fewest=2, repeats=True),
    "starts_with": _function((TEXT, TEXT), Kind.BOOLEAN, "starts_with"),
    "regexp_like": _function((TEXT, TEXT), Kind.BOOLEAN, "regexp_matches"),
    "regexp_extract": _function((TEXT, GROUPS, DIGITS), Kind.VARCHAR, "extracted", fewest=2),
    "regexp_replace": _function((TEXT, TEXT, REPLACEMENT), Kind.VARCHAR, _regexp_replace, fewest=2),
    "regexp_extract_all": _function(
        (TEXT, TEXT), lambda types: array(types[0]), "regexp_extract_all"
    ),
    "regexp_split": _function((TEXT, TEXT), lambda types: array(types[0]), "regexp_split_to_array"),
    "regexp_count": _function((TEXT, TEXT), Kind.BIGINT, "matches_of"),
    "chr": _function((WHOLE,), Kind.VARCHAR, "character_of"),
    "codepoint": _function((TEXT,), Kind.INT, "unicode"),
    "json_extract_scalar": _function((TEXT, PATH), Kind.VARCHAR, "json_scalar"),
    # Numbers
    "abs": _function((DOUBLE,), _same(0), "abs"),
    "ceil": _function((DOUBLE,), _type_of_round, _whole("ceil")),
    "ceiling": _function((DOUBLE,), _type_of_round, _whole("ceil")),
    "floor": _function((DOUBLE,), _type_of_round, _whole("floor")),
    "sign": _function((NUMBER,), _same(0), _as("sign")),
    "round": _function((DOUBLE, DIGITS), _type_of_round, _rounded, fewest=1),
    "mod": _function((NUMBER, NUMBER), _widest, _modulus),
    **{name: _function((DOUBLE,), Kind.DOUBLE, name) for name in ("sqrt", "exp", "ln", "log10")},
    "power": _function((DOUBLE, DOUBLE), Kind.DOUBLE, "power"),
    "pow": _function((DOUBLE, DOUBLE), Kind.DOUBLE, "power"),
    **{
        name: _function((DOUBLE,), Kind.DOUBLE, name)
        for name in ("log2", "sin", "cos", "tan", "atan", "degrees", "radians")
    },
    "truncate": _function((DOUBLE,), Kind.DOUBLE, "trunc"),
    "pi": _function((), Kind.DOUBLE, "pi"),
    "infinity": _function((), Kind.DOUBLE, "infinite"),
    "nan": _function((), Kind.DOUBLE, "not_a_number"),
    "is_finite": _function((DOUBLE,), Kind.BOOLEAN, "isfinite"),
    "is_infinite": _function((DOUBLE,), Kind.BOOLEAN, "isinf"),
    "is_nan": _function((DOUBLE,), Kind.BOOLEAN, "isnan"),
    # Time
    "date": _function((TIME,), Kind.DATE, lambda time: cast(time, scalar(Kind.DATE))),
    "date_trunc": _function((WHOLE_UNIT, TIME), _same(1), _as("date_trunc")),
    # The number of whole units; DuckDB's date_diff counts the boundaries between units.
    "date_diff": _function((UNIT, TIME, TIME), Kind.BIGINT, _date_diff),
    "date_add": _function((UNIT, WHOLE, TIME), _same(2), _as("moved")),
    "date_format": _function(
        (TIME, FORMAT), Kind.VARCHAR, _with_format("strftime", "%(.)", _LETTERS)
    ),
    "format_datetime": _function(
        (TIME, JODA), Kind.VARCHAR, _with_format("strftime", "([A-Za-z]+)", _JODA)
    ),
    "parse_datetime": _function(
        (TEXT, JODA), Kind.TIMESTAMPTZ, _with_format("parsed", "([A-Za-z]+)", _JODA)
    ),
    "date_parse": _function(
        (TEXT, PARSED), Kind.TIMESTAMP, _with_format("parsed", "%(.)", _LETTERS)
    ),
    "now": _function((), Kind.TIMESTAMPTZ, "this_moment"),
    "localtimestamp()": _function((), Kind.TIMESTAMP, "this_moment"),
    "from_unixtime": _function((DOUBLE,), Kind.TIMESTAMPTZ, "unix_moment"),
    "from_iso8601_timestamp": _function((TEXT,), Kind.TIMESTAMPTZ, "iso_moment"),
    "at_timezone": _function((MOMENT, UTC), Kind.TIMESTAMPTZ, _at_timezone),
    "from_iso8601_date": _function((TEXT,), Kind.DATE, "text_to_DATE"),
    "millisecond": _function((TIME,), Kind.BIGINT, "milliseconds_of"),
    "last_day_of_month": _function((TIME,), Kind.DATE, "last_day"),
    "to_iso8601": _function((TIME,), Kind.VARCHAR, _iso),
    "to_milliseconds": _function((LENGTH,), Kind.BIGINT, "epoch_ms"),
    "to_unixtime": _function((TIME,), Kind.DOUBLE, "unix_seconds"),
    **{
        name: _function((TIME,), Kind.BIGINT, name)
        for name in ("year", "quarter", "month", "day", "hour", "minute", "second", "week")
    },
    **{
        name: _function((TIME,), Kind.BIGINT, written)
        for name, written in {
            "day_of_month": "day",
            "day_of_week": "isodow",
            "dow": "isodow",
            "day_of_year": "dayofyear",
            "doy": "dayofyear",
            "week_of_year": "week",
            "year_of_week": "isoyear",
            "yow": "isoyear",
        }.items()
    },
    # Arrays
    "cardinality": _function((COLLECTION,), Kind.BIGINT, _size),
    "map": _function(
        (LIST, LIST), lambda types: map_of(element(types[0]), element(types[1])), "map"
    ),
    "map_keys": _function((MAP,), lambda types: array(types[0].expressions[0]), "map_keys"),
    "map_values": _function((MAP,), lambda types: array(types[0].expressions[1]), "map_values"),
    "contains": _function((LIST, ANY), _if_member(Kind.BOOLEAN), "has_element"),
    "arrays_overlap": _function(
        (LIST, LIST),
        lambda types: scalar(Kind.BOOLEAN) if common(*map(element, types)) else None,
        "share_element",
    ),
    "array_sort": _function((LIST,), _same(0), "list_sort"),
    "sequence": _function((WHOLE, WHOLE), lambda _: array(scalar(Kind.BIGINT)), "counted"),
    "array[]": _function(
        (COLLECTION, ANY), _type_of_member, _by_place_or_key("subscripted", "value_at")
    ),
    "array_max": _function((LIST,), lambda types: element(types[0]), _array_extreme("max")),
    "array_min": _function((LIST,), lambda types: element(types[0]), _array_extreme("min")),
    "array_distinct": _function((LIST,), _same(0), "distinct_elements"),
    "array_position": _function((LIST, ANY), _if_member(Kind.BIGINT), "place_of"),
    "slice": _function((LIST, WHOLE, WHOLE), _same(0), "sliced"),
    "flatten": _function((LIST,), _type_of_flat, "flatten"),
    # The type of the array is known first if it stands last.
    "filter": _function((TRUTH, LIST), _same(1), _with_lambda("list_filter")),
    "transform": _function(
        (ANY, LIST), lambda types: array(types[0]), _with_lambda("list_transform")
    ),
    **{
        name: _function((TRUTH, LIST), Kind.BOOLEAN, _matching(name))
        for name in ("any_match", "all_match", "none_match")
    },
    "width_bucket": _function((DOUBLE, DOUBLE, DOUBLE, WHOLE), Kind.BIGINT, "bucket"),
    "log": _function((DOUBLE, DOUBLE), Kind.DOUBLE, "log_of"),
    "bitwise_and": _function((WHOLE, WHOLE), Kind.BIGINT, "and_bits"),
    "bitwise_or": _function((WHOLE, WHOLE), Kind.BIGINT, "or_bits"),
    "bitwise_xor": _function((WHOLE, WHOLE), Kind.BIGINT, "xor_bits"),
    "json_array_length": _function((TEXT,), Kind.BIGINT, "array_length"),
    "e": _function((), Kind.DOUBLE, "euler"),
    "random": _function((), Kind.DOUBLE, "random"),
    "rand": _function((), Kind.DOUBLE, "random"),
    "typeof": _function((Parameter("T", ANY.kinds - TEXT.kinds),), Kind.VARCHAR, _type_name),
    "element_at": _function(
        (COLLECTION, ANY), _type_of_member, _by_place_or_key("element", "map_extract_value")
    ),
    # Only doubles are accepted. DuckDB lacks the last step, which must return its argument.
    "reduce": _function((LIST, DOUBLE, DOUBLE, DOUBLE), _type_of_reduce, _reduce),
    "array_join": _function((LIST, TEXT), Kind.VARCHAR, "joined"),
}
