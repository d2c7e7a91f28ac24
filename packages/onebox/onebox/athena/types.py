"""The types of all values of a query, and the refusal of operands that Trino does not accept.

sqlglot walks the query and passes types on; DuckDB would convert what Trino refuses: a text that is
compared with a number, a number that is a condition. A query that passes here means the same to
both, or `onebox.athena.rewriting` adapts it to DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.annotate_types import TypeAnnotator, annotate_types
from sqlglot.typing import EXPRESSION_METADATA

from onebox.athena.errors import QueryError, not_supported
from onebox.athena.functions import WITH_LAMBDA, function_of, type_of_call
from onebox.athena.parser import Athena
from onebox.athena.values import (
    INTEGERS,
    MOST_DIGITS,
    NUMBERS,
    TIMES,
    Kind,
    Type,
    array,
    common,
    decimal,
    digits_of,
    element,
    kind,
    scalar,
    trino_name,
)

_BOOLEAN = scalar(Kind.BOOLEAN)
_UNKNOWN = scalar(Kind.UNKNOWN)
_UNITS = {"SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"}
_FIELDS = {"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip
_SIGNS = _COMPARISONS | _ARITHMETIC
# The types to which a type may be cast.
_CASTS = {
    Kind.NULL: {*NUMBERS, *TIMES, Kind.VARCHAR, Kind.BOOLEAN},
    Kind.VARCHAR: {
        *(*NUMBERS, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN, Kind.VARCHAR),
    },
    Kind.INT: {*NUMBERS, Kind.VARCHAR},
    Kind.BIGINT: {*NUMBERS, Kind.VARCHAR},
    Kind.DECIMAL: {*NUMBERS, Kind.VARCHAR},
    Kind.DOUBLE: {*NUMBERS, Kind.VARCHAR},
    Kind.BOOLEAN: {Kind.BOOLEAN, Kind.VARCHAR},
    Kind.DATE: {*TIMES, Kind.VARCHAR},
    Kind.TIMESTAMP: {*TIMES, Kind.VARCHAR},
    Kind.TIMESTAMPTZ: {*TIMES, Kind.VARCHAR},
}


def annotate(query: exp.Query, schema: Mapping[str, Mapping[str, Type]]) -> exp.Query:
    """Set the type of every value of a resolved query, and return the query.

    Raises
    ------
    QueryError
        If an operator, a function or a clause does not accept its operands.
    """
    annotate_types(query, dict(schema), expression_metadata=_METADATA, dialect=Athena)
    for unnest in query.find_all(exp.Unnest):
        if any(kind(each) is Kind.MAP for each in unnest.expressions):
            raise not_supported("UNNEST of a map", unnest)
    return query


def _mismatch(text: str, near: exp.Expr) -> QueryError:
    return QueryError("TYPE_MISMATCH", text, near)


def _require(values: Iterable[exp.Expr], accepted: Collection[Kind], text: str) -> None:
    """Refuse a value that has no accepted type, nor null's; ``{}`` in the text is its type."""
    for value in values:
        if kind(value) not in {*accepted, Kind.NULL}:
            raise _mismatch(text.format(trino_name(value.type)), value)


def _shared(values: Sequence[exp.Expr], text: str, near: exp.Expr | None = None) -> Type:
    """Return the common type of values; the ``{}`` in the text are two types that have none."""
    type_: Type | None = values[0].type
    for value in values[1:]:
        wider = common(type_, value.type)
        if wider is None:
            raise _mismatch(text.format(trino_name(type_), trino_name(value.type)), near or value)
        type_ = wider
    return type_ or _UNKNOWN


def _literal(value: exp.Literal) -> Type:
    if value.is_string:
        return scalar(Kind.VARCHAR)
    if value.is_int:
        if int(value.name) >= (1 << 63) + isinstance(value.parent, exp.Neg):
            raise QueryError("", f"Invalid numeric literal: {value.name}", value)
        return scalar(Kind.INT if int(value.name) < 1 << 31 else Kind.BIGINT)
    if "e" in value.name.lower():
        return scalar(Kind.DOUBLE)
    whole, _, fraction = value.name.replace("_", "").partition(".")
    digits = max(1, len(whole.lstrip("0") + fraction))
    if digits > MOST_DIGITS:
        raise QueryError("", f"Invalid numeric literal: {value.name}", value)
    return decimal(digits, len(fraction))


def _inner(value: exp.Expr) -> Type:
    return value.this.type or _UNKNOWN


def _clause(clause: exp.Expr) -> Type:
    text = f"{clause.key.upper()} clause must evaluate to a boolean: actual type {{}}"
    _require([clause.this], [Kind.BOOLEAN], text)
    return _UNKNOWN


def _join(join: exp.Join) -> Type:
    conditions = [join.args["on"]] if join.args.get("on") else []
    _require(conditions, [Kind.BOOLEAN], "JOIN ON clause must evaluate to a boolean: {}")
    return _UNKNOWN


def _logical(operation: exp.Expr) -> Type:
    text = "Logical expression term must evaluate to a boolean (actual: {})"
    _require(operation.iter_expressions(), [Kind.BOOLEAN], text)
    return _BOOLEAN


def _comparison(operation: exp.Binary) -> Type:
    text = f"Cannot apply operator: {{}} {_SIGNS[type(operation)]} {{}}"
    if not {kind(operation.left), kind(operation.right)} <= NUMBERS:
        _shared([operation.left, operation.right], text, operation)
    return _BOOLEAN


def _is_null(operation: exp.Is) -> Type:
    if not isinstance(operation.expression, exp.Null):
        raise not_supported(f"IS {operation.expression}", operation)
    return _BOOLEAN


def _arithmetic(operation: exp.Binary) -> Type:
    left, right = operation.left, operation.right
    text = f"Cannot apply operator: {{}} {_SIGNS[type(operation)]} {{}}"
    kinds = {kind(left), kind(right)}
    if kind(right) is Kind.INTERVAL and kind(left) in TIMES:
        return _moved(operation)
    if Kind.INTERVAL in kinds and kinds <= NUMBERS | {Kind.INTERVAL}:
        return _with_interval(operation, text)
    if Kind.DECIMAL in kinds and kinds <= INTEGERS | {Kind.DECIMAL}:
        return _decimal(operation)
    type_ = _shared([left, right], text, operation)
    if type_.this in TIMES and isinstance(operation, exp.Sub):
        return scalar(Kind.INTERVAL)
    if type_.this not in NUMBERS:
        raise _mismatch(text.format(trino_name(left.type), trino_name(right.type)), operation)
    return type_


def _decimal(operation: exp.Binary) -> Type:
    """Return the type of the result of two decimals, or of a decimal and an integer.

    Source: Trino documentation, Decimal functions and operators.
    """
    types = (operation.left.type or _UNKNOWN, operation.right.type or _UNKNOWN)
    (digits, scale), (others, other_scale) = map(digits_of, types)
    widest, whole = max(scale, other_scale), (digits - scale, others - other_scale)
    match operation:
        case exp.Mul():
            digits, widest = digits + others, scale + other_scale
        case exp.Div():
            digits = digits + other_scale + max(0, other_scale - scale)
        case exp.Mod():
            digits = min(whole) + widest
        case _:
            digits = 1 + max(whole) + widest
    if widest > MOST_DIGITS:
        raise QueryError(
            "", f"A decimal has at most {MOST_DIGITS} digits behind its point", operation
        )
    return decimal(min(MOST_DIGITS, digits), widest)


def _with_interval(operation: exp.Binary, text: str) -> Type:
    """Return the type of arithmetic of an interval with another one, or with a number."""
    left, right = operation.left, operation.right
    for months in operation.find_all(exp.Interval):
        if months.args["unit"].name in {"MONTH", "YEAR"}:
            raise not_supported("Arithmetic of months", months)
    of_two = (exp.Add, exp.Sub) if kind(left) is kind(right) else (exp.Mul,)
    scaled = kind(left) is Kind.INTERVAL and kind(right) in NUMBERS
    if not isinstance(operation, (*of_two, exp.Div) if scaled else of_two):
        raise _mismatch(text.format(trino_name(left.type), trino_name(right.type)), operation)
    return scalar(Kind.INTERVAL)


def _moved(operation: exp.Binary) -> Type:
    moved_by = operation.right.unnest()
    if not isinstance(operation, exp.Add | exp.Sub):
        names = trino_name(operation.left.type), trino_name(moved_by.type)
        raise _mismatch(f"Cannot apply operator: {names[0]} and {names[1]}", operation)
    unit = moved_by.args["unit"].name if isinstance(moved_by, exp.Interval) else ""
    if kind(operation.left) is Kind.DATE and unit in {"SECOND", "MINUTE", "HOUR"}:
        raise _mismatch(f"Cannot add hours, minutes or seconds to a date: {unit}", operation)
    return operation.left.type or _UNKNOWN


def _interval(interval: exp.Interval) -> Type:
    unit, count = interval.args.get("unit"), interval.this
    if not isinstance(count, exp.Literal) or not count.name.removeprefix("-").isdigit():
        raise not_supported(f"Interval {count}", interval)
    if not isinstance(unit, exp.Var) or unit.name not in _UNITS:
        raise not_supported(f"Interval unit {unit}", interval)
    return scalar(Kind.INTERVAL)


def _negative(operation: exp.Neg) -> Type:
    _require([operation.this], NUMBERS | {Kind.INTERVAL}, "Cannot negate {}")
    if isinstance(operation.this, exp.Literal) and operation.this.name == str(1 << 31):
        return scalar(Kind.INT)
    return _inner(operation)


def _texts(operation: exp.Expr) -> Type:
    for operand in operation.iter_expressions():
        if kind(operand) not in {Kind.VARCHAR, Kind.NULL}:
            raise QueryError(
                "FUNCTION_NOT_FOUND",
                f"Unexpected parameters ({trino_name(operand.type)}) for function concat. "
                "Expected: concat(varchar)",
                operand,
            )
    return scalar(Kind.VARCHAR)


def _like(operation: exp.Like) -> Type:
    operands = [operation.this, operation.expression]
    text = "Left side and pattern of LIKE expression must evaluate to a varchar (actual: {})"
    _require(operands, [Kind.VARCHAR], text)
    return _BOOLEAN


def _between(operation: exp.Between) -> Type:
    operands = [operation.this, operation.args["low"], operation.args["high"]]
    value, low, high = (trino_name(operand.type) for operand in operands)
    _shared(operands, f"Cannot check if {value} is BETWEEN {low} and {high}", operation)
    return _BOOLEAN


def _in(operation: exp.In) -> Type:
    query = operation.args.get("query")
    operands = [query.this.selects[0]] if query else operation.expressions
    if query and len(query.this.selects) != 1:
        raise _mismatch("Multiple columns returned by subquery are not yet supported", operation)
    text = (
        "IN value and list items must be the same type or coercible to a common type. "
        "Cannot find common type between {} and {}"
    )
    for value in operands:
        _shared([operation.this, value], text, operation)
    if query and Kind.DOUBLE in {kind(operation.this), kind(operands[0])}:
        raise not_supported("IN of a double with a subquery", operation)
    return _BOOLEAN


def _case(case: exp.Case) -> Type:
    whens = [branch.this for branch in case.args["ifs"]]
    if case.this is None:
        _require(whens, [Kind.BOOLEAN], "CASE WHEN clause must evaluate to a boolean: {}")
    for when in whens if case.this else ():
        text = "CASE operand type does not match WHEN clause operand type: {} vs {}"
        _shared([case.this, when], text)
        if Kind.DOUBLE in {kind(case.this), kind(when)}:
            raise not_supported("CASE of a double with WHEN values", case)
    values = [branch.args["true"] for branch in case.args["ifs"]]
    text = (
        "All CASE results must be the same type or coercible to a common type. Cannot "
        "find common type between {} and {}"
    )
    return _shared([*values, *filter(None, [case.args.get("default")])], text)


def _cast(cast: exp.Cast) -> Type:
    source, target = kind(cast.this), cast.to.this
    if target is Kind.DECIMAL and target in _CASTS.get(source, ()):
        given = [int(each.name) for each in cast.to.expressions]
        return decimal(*(given + [MOST_DIGITS, 0][len(given) :]))
    if target in {Kind.TIMESTAMP, Kind.TIMESTAMPTZ}:
        precision = cast.to.expressions
        if precision and int(precision[0].name) > 3:
            raise not_supported(f"A timestamp of {precision[0].name} digits", cast)
    elif cast.to.expressions:
        raise not_supported(f"CAST to {cast.to.sql('trino')}", cast)
    if target not in _CASTS.get(source, ()):
        raise not_supported(f"CAST of {trino_name(cast.this.type)} to {trino_name(cast.to)}", cast)
    return scalar(target)


def _using(value: exp.Coalesce) -> Type:
    """Return the type of a column of JOIN USING."""
    type_ = _shared([value.this, *value.expressions], "Columns of JOIN USING are {} and {}")
    if type_.this is Kind.DOUBLE:
        raise not_supported("JOIN USING of doubles", value)
    return type_


def _extract(extract: exp.Extract) -> Type:
    if extract.name.upper() not in _FIELDS or kind(extract.expression) not in TIMES:
        what = f"EXTRACT of {extract.name} from {trino_name(extract.expression.type)}"
        raise not_supported(what, extract)
    return scalar(Kind.BIGINT)


def _array(value: exp.Array) -> Type:
    text = (
        "All ARRAY elements must be the same type or coercible to a common type. Cannot find "
        "common type between {} and {}"
    )
    type_ = _shared(value.expressions, text) if value.expressions else scalar(Kind.NULL)
    if type_.this in {Kind.NULL, Kind.UNKNOWN}:
        raise not_supported(f"An array of {trino_name(type_)}", value)
    return array(type_)


def _call(call: exp.Anonymous) -> Type:
    function, name = function_of(call), call.name.lower()
    if name == "count" and [type(argument) for argument in call.expressions] == [exp.Star]:
        return scalar(Kind.BIGINT)
    _check_lambdas(call)
    arguments = list(call.expressions)
    if arguments and isinstance(arguments[-1], exp.Order):
        if not function.ordered:
            raise not_supported(f"ORDER BY in {name}", call)
        arguments[-1] = arguments[-1].this
    if arguments and isinstance(arguments[0], exp.Distinct):
        if not function.over_rows:
            raise not_supported(f"DISTINCT in {name}", call)
        arguments = arguments[0].expressions
    return type_of_call(call, arguments)


def _check_lambdas(call: exp.Anonymous) -> None:
    lambdas = [value for value in call.expressions if isinstance(value, exp.Lambda)]
    if call.name.lower() == "reduce":
        counts = [len(value.expressions) for value in lambdas]
        if counts != [2, 1] or lambdas[1].this != lambdas[1].expressions[0]:
            raise not_supported("reduce other than with (s, x) -> … and s -> s", call)
    elif lambdas and call.name.lower() not in WITH_LAMBDA:
        raise not_supported(f"A lambda in {call.name.lower()}", call)


def _identifier(name: exp.Identifier) -> Type:
    """Return the type of a lambda's variable: of the elements of its array."""
    within = name.find_ancestor(exp.Lambda)
    # Within a call sqlglot leaves the name as it is written, and quotes it elsewhere.
    while within and name.name not in [variable.name for variable in within.expressions]:
        within = within.find_ancestor(exp.Lambda)
    if within is None:
        return _UNKNOWN
    holder = within.parent
    if isinstance(holder, exp.Anonymous) and holder.name.lower() in WITH_LAMBDA:
        return element(holder.expressions[-1].type or _UNKNOWN)
    return scalar(Kind.DOUBLE)


def _over_rows(value: exp.Window | exp.Filter) -> Type:
    if isinstance(value.this, exp.Filter):
        raise QueryError("NOT_SUPPORTED", "FILTER is not yet supported for window functions", value)
    call = value.this
    if not isinstance(call, exp.Anonymous) or not function_of(call).over_rows:
        raise not_supported(f"{value.key.upper()} of {call.sql('trino')}", call)
    return _inner(value)


def _set_operation(operation: exp.SetOperation) -> Type:
    left, right = operation.left.selects, operation.right.selects
    name = operation.key.upper()
    if len(left) != len(right):
        raise _mismatch(
            f"{name} query has different number of fields: {len(left)}, {len(right)}", operation
        )
    for position, columns in enumerate(zip(left, right, strict=True), 1):
        _shared(columns, f"column {position} in {name} query has incompatible types: {{}}, {{}}")
    return _UNKNOWN


def _values(values: exp.Values) -> Type:
    for column in zip(*(row.expressions for row in values.expressions), strict=True):
        shared = _shared(column, "Values rows have mismatched types: {} and {}")
        for cell in column:
            cell.type = shared
    return _UNKNOWN


def _tuple(value: exp.Tuple) -> Type:
    if not isinstance(value.parent, exp.Values | exp.GroupingSets | exp.Rollup | exp.Cube):
        raise not_supported("A row", value)
    return _UNKNOWN


_RULES: dict[type[exp.Expr], Callable[..., Type]] = {
    exp.Literal: _literal,
    exp.Boolean: lambda _: _BOOLEAN,
    exp.Null: lambda _: scalar(Kind.NULL),
    exp.CurrentDate: lambda _: scalar(Kind.DATE),
    exp.Identifier: _identifier,
    **dict.fromkeys((exp.Paren, exp.Alias, exp.Lambda), _inner),
    **dict.fromkeys((exp.Where, exp.Having), _clause),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _logical),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.Join: _join,
    exp.Is: _is_null,
    exp.Neg: _negative,
    exp.Interval: _interval,
    exp.DPipe: _texts,
    exp.Like: _like,
    exp.Escape: lambda _: _BOOLEAN,
    exp.Between: _between,
    exp.In: _in,
    exp.Exists: lambda _: _BOOLEAN,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Coalesce: _using,
    exp.Extract: _extract,
    exp.Array: _array,
    exp.Anonymous: _call,
    exp.Filter: _over_rows,
    exp.Window: _over_rows,
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _set_operation),
    exp.Values: _values,
    exp.Tuple: _tuple,
}


def _annotator(rule: Callable[..., Type]) -> Callable[[TypeAnnotator, exp.Expr], exp.Expr]:
    return lambda annotator, value: annotator._set_type(value, rule(value))


_METADATA: dict[type[exp.Expr], dict[str, Any]] = {
    **{class_: {"annotator": _annotator(rule)} for class_, rule in _RULES.items()},
    # sqlglot's own rules derive these types from others.
    **{class_: EXPRESSION_METADATA[class_] for class_ in (exp.Subquery, exp.Unnest)},
}
