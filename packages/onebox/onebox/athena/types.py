"""The types of all values of a query, and the refusal of operands that Trino does not accept.

DuckDB converts operands that Trino refuses: a text that is compared with a number, a number that is
a condition. A query that passes here means the same to both, or `onebox.athena.rewriting` adapts it
to DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.annotate_types import TypeAnnotator, annotate_types
from sqlglot.typing import EXPRESSION_METADATA

from onebox.athena.errors import QueryError, not_supported
from onebox.athena.functions import function_of, type_of_call
from onebox.athena.parser import Athena
from onebox.athena.values import (
    INTEGERS,
    NUMBERS,
    TIMES,
    Kind,
    Type,
    array,
    common,
    kind,
    scalar,
    trino_name,
)

_BOOLEAN = scalar(Kind.BOOLEAN)
_UNKNOWN = scalar(Kind.UNKNOWN)
_UNITS = {"SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"}
_FIELDS = {"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
_SIGNS = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip
# The types to which a type may be cast; not a double to a text, for which Trino has its own format.
_CASTS = {
    Kind.NULL: {*NUMBERS, *TIMES, Kind.VARCHAR, Kind.BOOLEAN},
    Kind.VARCHAR: {*INTEGERS, *TIMES, Kind.DOUBLE, Kind.BOOLEAN, Kind.VARCHAR},
    Kind.INT: {*INTEGERS, Kind.DOUBLE, Kind.VARCHAR},
    Kind.BIGINT: {*INTEGERS, Kind.DOUBLE, Kind.VARCHAR},
    Kind.DECIMAL: {Kind.DOUBLE},
    Kind.DOUBLE: {*INTEGERS, Kind.DOUBLE},
    Kind.BOOLEAN: {Kind.BOOLEAN, Kind.VARCHAR},
    Kind.DATE: {*TIMES, Kind.VARCHAR},
    Kind.TIMESTAMP: {*TIMES, Kind.VARCHAR},
}


def annotate(query: exp.Query, schema: Mapping[str, Mapping[str, Type]]) -> exp.Query:
    """Set the type of every value of a resolved query, and return the query.

    Raises
    ------
    QueryError
        If an operator, a function or a clause does not accept its operands.
    """
    annotate_types(query, dict(schema), expression_metadata=_METADATA, dialect=Athena)
    for value in query.selects:
        if kind(value) is Kind.DECIMAL:
            raise _decimal(value)
    return query


def _mismatch(text: str, near: exp.Expr) -> QueryError:
    return QueryError("TYPE_MISMATCH", text, near)


def _decimal(near: exp.Expr) -> QueryError:
    return not_supported("A decimal, unlike a double such as 1.5e0,", near)


def _literal(value: exp.Literal) -> Type:
    if value.is_string:
        return scalar(Kind.VARCHAR)
    if value.is_int:
        if int(value.name) >= (1 << 63) + isinstance(value.parent, exp.Neg):
            raise QueryError("", f"Invalid numeric literal: {value.name}", value)
        return scalar(Kind.INT if int(value.name) < 1 << 31 else Kind.BIGINT)
    return scalar(Kind.DOUBLE if "e" in value.name.lower() else Kind.DECIMAL)


def _inner(value: exp.Expr) -> Type:
    return value.this.type or _UNKNOWN


def _condition(clause: exp.Expr) -> Type:
    if common(clause.this.type, _BOOLEAN) is None:
        raise _mismatch(
            f"{clause.key.upper()} clause must evaluate to a boolean: actual type "
            f"{trino_name(clause.this.type)}",
            clause,
        )
    return _UNKNOWN


def _join(join: exp.Join) -> Type:
    on = join.args.get("on")
    if on and common(on.type, _BOOLEAN) is None:
        raise _mismatch(f"JOIN ON clause must evaluate to a boolean: {trino_name(on.type)}", on)
    return _UNKNOWN


def _logical(operation: exp.Expr) -> Type:
    for operand in operation.iter_expressions():
        if common(operand.type, _BOOLEAN) is None:
            raise _mismatch(
                f"Logical expression term must evaluate to a boolean (actual: "
                f"{trino_name(operand.type)})",
                operand,
            )
    return _BOOLEAN


def _operands(operation: exp.Binary) -> Type | None:
    return common(operation.left.type, operation.right.type)


def _cannot_apply(operation: exp.Binary) -> QueryError:
    left, right = trino_name(operation.left.type), trino_name(operation.right.type)
    return _mismatch(f"Cannot apply operator: {left} {_SIGNS[type(operation)]} {right}", operation)


def _comparison(operation: exp.Binary) -> Type:
    type_ = _operands(operation)
    if type_ is None:
        raise _cannot_apply(operation)
    return _BOOLEAN


def _is_null(operation: exp.Is) -> Type:
    if not isinstance(operation.expression, exp.Null):
        raise not_supported(f"IS {operation.expression}", operation)
    return _BOOLEAN


def _arithmetic(operation: exp.Binary) -> Type:
    if kind(operation.right) is Kind.INTERVAL and isinstance(operation, exp.Add | exp.Sub):
        return _moved(operation)
    type_ = _operands(operation)
    if type_ is None and {kind(operation.left), kind(operation.right)} <= NUMBERS:
        raise _decimal(operation)
    if type_ is None or type_.this not in NUMBERS:
        raise _cannot_apply(operation)
    if type_.this is Kind.DECIMAL:
        raise _decimal(operation)
    return type_


def _moved(operation: exp.Binary) -> Type:
    unit = operation.right.args["unit"].name
    if kind(operation.left) not in TIMES:
        raise _cannot_apply(operation)
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
    if kind(operation.this) not in NUMBERS:
        raise _mismatch(f"Cannot negate {trino_name(operation.this.type)}", operation)
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
    for operand in (operation.this, operation.expression):
        if kind(operand) not in {Kind.VARCHAR, Kind.NULL}:
            raise _mismatch(
                "Left side and pattern of LIKE expression must evaluate to a varchar (actual: "
                f"{trino_name(operand.type)})",
                operand,
            )
    return _BOOLEAN


def _between(operation: exp.Between) -> Type:
    value, low, high = operation.this, operation.args["low"], operation.args["high"]
    type_ = common(value.type, low.type)
    if type_ is None or common(type_, high.type) is None:
        raise _mismatch(
            f"Cannot check if {trino_name(value.type)} is BETWEEN {trino_name(low.type)} and "
            f"{trino_name(high.type)}",
            operation,
        )
    return _BOOLEAN


def _in(operation: exp.In) -> Type:
    query = operation.args.get("query")
    operands = [query.this.selects[0]] if query else operation.expressions
    if query and len(query.this.selects) != 1:
        raise _mismatch("Multiple columns returned by subquery are not yet supported", operation)
    for value in operands:
        if common(operation.this.type, value.type) is None:
            raise _mismatch(
                "IN value and list items must be the same type or coercible to a common type. "
                f"Cannot find common type between {trino_name(operation.this.type)} and "
                f"{trino_name(value.type)}",
                operation,
            )
    if query and Kind.DOUBLE in {kind(operation.this), kind(operands[0])}:
        raise not_supported("IN of a double with a subquery", operation)
    return _BOOLEAN


def _case(case: exp.Case) -> Type:
    for branch in case.args["ifs"]:
        _check_when(case, branch.this)
    values = [branch.args["true"] for branch in case.args["ifs"]]
    if default := case.args.get("default"):
        values.append(default)
    type_ = values[0].type
    for value in values[1:]:
        wider = common(type_, value.type)
        if wider is None:
            raise _mismatch(
                f"All CASE results must be the same type or coercible to a common type. Cannot "
                f"find common type between {trino_name(type_)} and {trino_name(value.type)}",
                value,
            )
        type_ = wider
    return type_ or _UNKNOWN


def _check_when(case: exp.Case, when: exp.Expr) -> None:
    if case.this is None:
        if common(when.type, _BOOLEAN) is None:
            raise _mismatch(
                f"CASE WHEN clause must evaluate to a boolean: {trino_name(when.type)}", when
            )
    elif common(case.this.type, when.type) is None:
        raise _mismatch(
            f"CASE operand type does not match WHEN clause operand type: "
            f"{trino_name(case.this.type)} vs {trino_name(when.type)}",
            when,
        )
    elif Kind.DOUBLE in {kind(case.this), kind(when)}:
        raise not_supported("CASE of a double with WHEN values", case)


def _cast(cast: exp.Cast) -> Type:
    source, target = kind(cast.this), cast.to.this
    if target is Kind.TIMESTAMP:
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
    type_: Type | None = value.this.type
    for other in value.expressions:
        type_ = common(type_, other.type)
    if type_ is None or type_.this is Kind.DOUBLE:
        raise not_supported("JOIN USING of doubles, or of columns of different types,", value)
    return type_


def _extract(extract: exp.Extract) -> Type:
    if extract.name.upper() not in _FIELDS or kind(extract.expression) not in TIMES:
        what = f"EXTRACT of {extract.name} from {trino_name(extract.expression.type)}"
        raise not_supported(what, extract)
    return scalar(Kind.BIGINT)


def _array(value: exp.Array) -> Type:
    type_: Type | None = scalar(Kind.NULL)
    for element in value.expressions:
        type_ = common(type_, element.type)
    if type_ is None or type_.this in {Kind.NULL, Kind.DECIMAL}:
        raise not_supported("An array whose elements have no common type", value)
    return array(type_)


def _call(call: exp.Anonymous) -> Type:
    function = function_of(call)
    if call.name.lower() == "count" and [type(argument) for argument in call.expressions] == [
        exp.Star
    ]:
        return scalar(Kind.BIGINT)
    _check_lambdas(call)
    arguments = list(call.expressions)
    if arguments and isinstance(arguments[-1], exp.Order):
        if not function.ordered:
            raise not_supported(f"ORDER BY in {call.name.lower()}", call)
        arguments[-1] = arguments[-1].this
    if arguments and isinstance(arguments[0], exp.Distinct):
        if not function.over_rows:
            raise not_supported(f"DISTINCT in {call.name.lower()}", call)
        arguments = arguments[0].expressions
    return type_of_call(call, arguments)


def _check_lambdas(call: exp.Anonymous) -> None:
    lambdas = [value for value in call.expressions if isinstance(value, exp.Lambda)]
    if call.name.lower() == "reduce":
        counts = [len(value.expressions) for value in lambdas]
        if counts != [2, 1] or lambdas[1].this != lambdas[1].expressions[0]:
            raise not_supported("reduce other than with (s, x) -> … and s -> s", call)
    elif lambdas:
        raise not_supported(f"A lambda in {call.name.lower()}", call)


def _identifier(name: exp.Identifier) -> Type:
    """Return the type of a lambda's variable: a double, since only `reduce` has lambdas."""
    within = name.find_ancestor(exp.Lambda)
    while within and name not in within.expressions:
        within = within.find_ancestor(exp.Lambda)
    return scalar(Kind.DOUBLE) if within else _UNKNOWN


def _over_rows(value: exp.Window | exp.Filter) -> Type:
    call = value.this.this if isinstance(value.this, exp.Filter) else value.this
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
    for position, (first, second) in enumerate(zip(left, right, strict=True), 1):
        if common(first.type, second.type) is None:
            raise _mismatch(
                f"column {position} in {name} query has incompatible types: "
                f"{trino_name(first.type)}, {trino_name(second.type)}",
                second,
            )
    return _UNKNOWN


def _values(values: exp.Values) -> Type:
    rows = [row.expressions for row in values.expressions]
    for column in zip(*rows, strict=True):
        type_ = column[0].type
        for value in column[1:]:
            if (type_ := common(type_, value.type)) is None:
                raise _mismatch("Values rows have mismatched types", value)
        if type_ and type_.this is Kind.DECIMAL:
            raise _decimal(column[0])
    return _UNKNOWN


def _tuple(value: exp.Tuple) -> Type:
    if not isinstance(value.parent, exp.Values):
        raise not_supported("A row", value)
    return _UNKNOWN


_RULES: dict[type[exp.Expr], Callable[..., Type]] = {
    exp.Literal: _literal,
    exp.Boolean: lambda _: _BOOLEAN,
    exp.Null: lambda _: scalar(Kind.NULL),
    exp.CurrentDate: lambda _: scalar(Kind.DATE),
    exp.Identifier: _identifier,
    **dict.fromkeys((exp.Paren, exp.Alias, exp.Lambda), _inner),
    **dict.fromkeys((exp.Where, exp.Having), _condition),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _logical),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), _arithmetic),
    **dict.fromkeys(
        (
            *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
            *(exp.NullSafeEQ, exp.NullSafeNEQ),
        ),
        _comparison,
    ),
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
