"""From Trino's meaning to DuckDB's: a typed query, rewritten where the two differ."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from local.athena.functions import Function, cast, function_of, named
from local.athena.values import INTEGERS, Kind, Type, duckdb_name, kind

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "double_eq",
    exp.NEQ: "double_neq",
    exp.LT: "double_lt",
    exp.LTE: "double_lte",
    exp.GT: "double_gt",
    exp.GTE: "double_gte",
}


def rewrite(query: exp.Query) -> exp.Query:
    """Return a typed query as DuckDB computes it; it is changed."""
    for node in list(query.walk(bfs=False))[::-1]:
        written = _REWRITES.get(type(node), _nothing)(node)
        if written is not node:
            written.type = node.type
            node.replace(written)
    return query


def _literal(node: exp.Literal) -> exp.Expr:
    return exp.Literal.number(f"{node.name}e0") if kind(node) is Kind.DECIMAL else node


def _division(node: exp.Div) -> exp.Expr:
    if kind(node) not in INTEGERS:
        return node
    return exp.paren(exp.IntDiv(this=node.left, expression=node.right), copy=False)


def _moved_date(node: exp.Add | exp.Sub) -> exp.Expr:
    # DuckDB makes a timestamp of it.
    if kind(node) is not Kind.DATE:
        return node
    return cast(exp.paren(node.copy(), copy=False), _type(node))


def _comparison(node: exp.Binary) -> exp.Expr:
    if not _has_double(node.left, node.right):
        return node
    return named(_COMPARISONS[type(node)])(node.left, node.right)


def _in(node: exp.In) -> exp.Expr:
    if not _has_double(node.this, *node.expressions):
        return node
    found = (named("double_eq")(node.this, each) for each in node.expressions)
    return exp.paren(exp.or_(*found), copy=False)


def _between(node: exp.Between) -> exp.Expr:
    value, low, high = node.this, node.args["low"], node.args["high"]
    if not _has_double(value, low, high):
        return node
    above, below = named("double_gte")(value, low), named("double_lte")(value.copy(), high)
    return exp.paren(exp.and_(above, below), copy=False)


def _type(node: exp.Expr) -> Type:
    assert node.type is not None, "the query is typed"
    return node.type


def _has_double(*values: exp.Expr) -> bool:
    return any(kind(value) is Kind.DOUBLE for value in values)


def _cast(node: exp.Cast) -> exp.Expr:
    value, wanted = node.this, _type(node)
    type_ = duckdb_name(wanted)
    if kind(value) is Kind.VARCHAR and wanted.this is not Kind.VARCHAR:
        tried = "try_" if isinstance(node, exp.TryCast) else ""
        return named(f"{tried}text_to_{type_}")(value)
    if kind(value) is Kind.DOUBLE and wanted.this in INTEGERS:
        value = named("round")(value)
    elif kind(value) is Kind.TIMESTAMP and wanted.this is Kind.VARCHAR:
        return named("timestamp_text")(value)
    return type(node)(this=value, to=Type.build(type_, dialect="duckdb"))


def _call(node: exp.Anonymous) -> exp.Expr:
    function = function_of(node)
    return _over_rows(node) if function.over_rows else function.write(*node.expressions)


def _is_called_within(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Filter | exp.Window) and node.arg_key == "this"


def _over_rows(node: exp.Expr) -> exp.Expr:
    """Return an aggregate or a window function, with all that stands around the call of it."""
    if _is_called_within(node):
        return node
    call = node
    while isinstance(call, exp.Filter | exp.Window):
        call = call.this
    assert isinstance(call, exp.Anonymous), "the query is typed"
    function = function_of(call)
    written = _call_over_rows(call, function)
    if call is not node:
        call.replace(written)
        written = node.copy()
    return function.finish(written, _type(node)) if function.finish else written


def _call_over_rows(call: exp.Anonymous, function: Function) -> exp.Expr:
    """Return the call; DISTINCT and ORDER BY stand among its arguments, and stay there."""
    arguments = list(call.expressions)
    order = arguments[-1] if arguments and isinstance(arguments[-1], exp.Order) else None
    if order:
        arguments[-1] = order.this
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments = arguments[0].expressions
    written = function.write(*arguments)
    arguments = written.expressions
    if distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    if order:
        arguments[-1] = exp.Order(this=arguments[-1], expressions=order.expressions)
    written.set("expressions", arguments)
    return written


def _nothing(node: exp.Expr) -> exp.Expr:
    return node


_REWRITES: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Literal: _literal,
    exp.Div: _division,
    exp.Add: _moved_date,
    exp.Sub: _moved_date,
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.In: _in,
    exp.Between: _between,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _call,
    exp.Filter: _over_rows,
    exp.Window: _over_rows,
}
