"""The rewriting of queries: calls in place of other syntax, then what DuckDB does differently.

The first comes before the types of a query are known. Source: Trino documentation, SQL language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from onebox.athena.errors import MalformedQuery, not_supported
from onebox.athena.functions import WITH_LAMBDA, Function, cast, function_of, named
from onebox.athena.values import (
    INTEGERS,
    MOST_DIGITS,
    Kind,
    Type,
    decimal,
    digits_of,
    duckdb_name,
    kind,
)


def with_functions(query: exp.Expr) -> exp.Expr:
    """Return a query with calls of functions in place of other syntax."""
    for node in list(query.walk(bfs=False))[::-1]:
        replacement = _FORMS[type(node)](node) if type(node) in _FORMS else node
        if node is query:
            return replacement
        if replacement is not node:
            node.replace(replacement)
    return query


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return a call of a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def _fetch(fetch: exp.Fetch) -> exp.Expr:
    options = fetch.args.get("limit_options")
    if options and options.args.get("with_ties"):
        raise not_supported("FETCH FIRST … WITH TIES", fetch)
    return exp.Limit(expression=fetch.args.get("count") or exp.Literal.number(1))


def _with_lambda(node: exp.Anonymous) -> exp.Expr:
    match node.name.lower(), node.expressions:
        case "position", [exp.In() as searched]:
            return call("strpos", searched.args["field"], searched.this)
        case name, [values, exp.Lambda() as function] if name in WITH_LAMBDA:
            return call(name, function, values)
    return node


def _extract(node: exp.Extract) -> exp.Expr:
    function = _FIELDS.get(node.name.upper())
    return call(function, node.expression) if function else node


def _within_group(node: exp.WithinGroup) -> exp.Expr:
    listed, order = node.this, node.expression
    if not isinstance(listed, exp.Anonymous) or not isinstance(order, exp.Order):
        return node
    *first, last = listed.expressions
    if isinstance(last, exp.Distinct):
        return node
    return call(listed.name, *first, exp.Order(this=last, expressions=order.expressions))


def _sum(node: exp.Add) -> exp.Expr:
    if isinstance(node.left, exp.Interval) and not isinstance(node.right, exp.Interval):
        return exp.Add(this=node.right, expression=node.left)
    return node


def _values(node: exp.Values) -> exp.Expr:
    """Return a SELECT of the rows of a statement VALUES."""
    if node.parent is not None:
        return node
    rows = node.expressions
    width = len(rows[0].expressions) if isinstance(rows[0], exp.Tuple) else 1
    names = [exp.to_identifier(f"_col{number}") for number in range(width)]
    alias = exp.TableAlias(this=exp.to_identifier("# values", quoted=True), columns=names)
    values = exp.Values(expressions=rows, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=values))


def _with_windows(select: exp.Select) -> exp.Expr:
    """Return a SELECT with the windows of its clause WINDOW in place of their names."""
    named: dict[str, exp.Window] = {}
    for window in select.args.get("windows") or ():
        _complete(window, named)
        named[window.name.lower()] = window
    select.set("windows", None)
    for window in list(select.find_all(exp.Window)):
        if window.find_ancestor(exp.Select) is select:
            _complete(window, named)
    return select


def _complete(window: exp.Window, named: Mapping[str, exp.Window]) -> None:
    """Give a window the parts of the one that it names."""
    name = window.alias
    if not name:
        return
    if name.lower() not in named:
        raise MalformedQuery("INVALID_WINDOW_REFERENCE", f"Cannot resolve WINDOW name {name}")
    for part, value in named[name.lower()].args.items():
        if part in {"partition_by", "order", "spec"} and value and not window.args.get(part):
            copied = [each.copy() for each in value] if isinstance(value, list) else value.copy()
            window.set(part, copied)
    window.set("alias", None)


def _trim(node: exp.Trim) -> exp.Expr:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(node.text("position").upper(), "trim")
    return call(name, *filter(None, (node.this, node.args.get("expression"))))


def _substring(node: exp.Substring) -> exp.Expr:
    return call(
        "substring", *filter(None, (node.this, node.args.get("start"), node.args.get("length")))
    )


_FIELDS = {
    "DOW": "day_of_week", "DAY_OF_WEEK": "day_of_week", "DOY": "day_of_year",
    "DAY_OF_YEAR": "day_of_year", "DAY_OF_MONTH": "day", "WEEK": "week", "YOW": "year_of_week",
    "YEAR_OF_WEEK": "year_of_week",
}  # fmt: skip
_FORMS: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Bracket: lambda node: (
        call("array[]", node.this, *node.expressions) if len(node.expressions) == 1 else node
    ),
    exp.Fetch: _fetch,
    exp.Anonymous: _with_lambda,
    exp.CurrentTimestamp: lambda node: node if node.this else call("now"),
    exp.Localtimestamp: lambda node: node if node.this else call("localtimestamp()"),
    exp.AtTimeZone: lambda node: (
        call("at_timezone", node.this, node.args["zone"])
        if isinstance(node.args["zone"], exp.Literal)
        else node
    ),
    exp.Extract: _extract,
    exp.WithinGroup: _within_group,
    exp.Add: _sum,
    exp.Values: _values,
    exp.Select: _with_windows,
    exp.Trim: _trim,
    exp.Substring: _substring,
}


_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "double_eq",
    exp.NEQ: "double_neq",
    exp.LT: "double_lt",
    exp.LTE: "double_lte",
    exp.GT: "double_gt",
    exp.GTE: "double_gte",
}


def rewrite(query: exp.Query) -> exp.Query:
    """Rewrite a typed query in place for DuckDB, and return it."""
    for node in list(query.walk(bfs=False))[::-1]:
        replacement = _REWRITES.get(type(node), _unchanged)(node)
        if replacement is not node:
            replacement.type = node.type
            node.replace(replacement)
    return query


def _literal(node: exp.Literal) -> exp.Expr:
    if kind(node) is not Kind.DECIMAL:
        return node
    if _is_double_for(node):
        return exp.Literal.number(f"{node.name}e0")
    return cast(node.copy(), _type(node))


def _is_double_for(node: exp.Expr) -> bool:
    """Tell whether the expression around a decimal takes it as a double."""
    user = node.parent
    while isinstance(user, exp.Paren | exp.Neg):
        user = user.parent
    if isinstance(user, exp.Anonymous):
        return kind(user) is not Kind.DECIMAL
    operands = (
        user.iter_expressions() if isinstance(user, exp.Binary | exp.In | exp.Between) else ()
    )
    return _has_double(*operands)


def _unscaled(value: exp.Expr, digits: int, scale: int) -> exp.Expr:
    """Return a decimal without its point, as an integer."""
    return named("unscaled")(cast(value, decimal(min(MOST_DIGITS, digits), scale)))


def _decimal(node: exp.Binary) -> exp.Expr:
    """Return arithmetic of decimals; DuckDB divides them as doubles, and has narrower results."""
    (digits, scale), (others, other_scale) = map(digits_of, (_type(node.left), _type(node.right)))
    total, widest = digits_of(_type(node))
    if isinstance(node, exp.Add | exp.Sub):
        sides = (cast(each, decimal(total, widest)) for each in (node.left, node.right))
        result: exp.Expr = type(node)(**dict(zip(("this", "expression"), sides, strict=True)))
        return cast(exp.paren(result, copy=False), _type(node))
    if isinstance(node, exp.Mul):
        first = cast(node.left, decimal(max(19, digits), scale))
        product = exp.Mul(this=first, expression=cast(node.right, decimal(others, other_scale)))
        return cast(exp.paren(product, copy=False), _type(node))
    if isinstance(node, exp.Div):
        zeros = "0" * (widest - scale + other_scale)
        quotient = named("half_up")(
            named("with_zeros")(_unscaled(node.left, digits, scale), exp.Literal.string(zeros)),
            _unscaled(node.right, others, other_scale),
        )
    else:
        quotient = named("remainder")(
            _unscaled(node.left, digits - scale + widest, widest),
            _unscaled(node.right, others - other_scale + widest, widest),
        )
    return cast(named("scaled")(quotient, exp.Literal.number(widest)), _type(node))


def _arithmetic(node: exp.Binary) -> exp.Expr:
    if kind(node) is Kind.DECIMAL:
        return _decimal(node)
    if isinstance(node, exp.Div):
        return _division(node)
    return _moved_date(node) if isinstance(node, exp.Add | exp.Sub) else node


def _division(node: exp.Div) -> exp.Expr:
    if kind(node) not in INTEGERS:
        return node
    return exp.paren(exp.IntDiv(this=node.left, expression=node.right), copy=False)


def _moved_date(node: exp.Add | exp.Sub) -> exp.Expr:
    if kind(node) is Kind.INTERVAL and kind(node.left) is not Kind.INTERVAL:
        # In DuckDB, the difference of dates is a number of days.
        times = (cast(each, Type.build("TIMESTAMP")) for each in (node.left, node.right))
        return exp.paren(exp.Sub(**dict(zip(("this", "expression"), times, strict=True))))
    # In DuckDB, a date plus an interval is a timestamp.
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
    comparisons = (named("double_eq")(node.this, item) for item in node.expressions)
    return exp.paren(exp.or_(*comparisons), copy=False)


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
    value, target = node.this, _type(node)
    type_ = duckdb_name(target)
    if kind(value) is Kind.VARCHAR and target.this is Kind.DECIMAL:
        checked = "maybe_decimal" if isinstance(node, exp.TryCast) else "text_of_decimal"
        return type(node)(this=named(checked)(value), to=Type.build(type_, dialect="duckdb"))
    if kind(value) is Kind.VARCHAR and target.this is not Kind.VARCHAR:
        prefix = "try_" if isinstance(node, exp.TryCast) else ""
        return named(f"{prefix}text_to_{type_}")(value)
    if kind(value) is Kind.DOUBLE and target.this in INTEGERS:
        value = named("round")(value)
    elif kind(value) in {Kind.TIMESTAMP, Kind.TIMESTAMPTZ} and target.this is Kind.VARCHAR:
        zone = exp.Literal.string(" UTC" if kind(value) is Kind.TIMESTAMPTZ else "")
        return named("timestamp_text")(value, zone)
    elif kind(value) is Kind.DOUBLE and target.this is Kind.VARCHAR:
        return named("double_text")(value)
    elif kind(value) is Kind.DOUBLE and target.this is Kind.DECIMAL:
        value = named("plain_text")(value)
    return type(node)(this=value, to=Type.build(type_, dialect="duckdb"))


def _call(node: exp.Anonymous) -> exp.Expr:
    function = function_of(node)
    return _over_rows(node) if function.over_rows else function.write(*node.expressions)


def _is_called_within(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Filter | exp.Window) and node.arg_key == "this"


def _over_rows(node: exp.Expr) -> exp.Expr:
    """Return an aggregate or window function with the FILTER and OVER around its call."""
    if _is_called_within(node):
        return node
    call = node
    while isinstance(call, exp.Filter | exp.Window):
        call = call.this
    assert isinstance(call, exp.Anonymous), "the query is typed"
    function = function_of(call)
    expression = _call_over_rows(call, function)
    if call is not node:
        call.replace(expression)
        expression = node.copy()
    return function.finish(expression, _type(node)) if function.finish else expression


def _call_over_rows(call: exp.Anonymous, function: Function) -> exp.Expr:
    """Return the call, with DISTINCT and ORDER BY still among its arguments."""
    arguments = list(call.expressions)
    order = arguments[-1] if arguments and isinstance(arguments[-1], exp.Order) else None
    if order:
        arguments[-1] = order.this
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments = arguments[0].expressions
    expression = function.write(*arguments)
    arguments = expression.expressions
    if distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    if order:
        arguments[-1] = exp.Order(this=arguments[-1], expressions=order.expressions)
    expression.set("expressions", arguments)
    return expression


def _unchanged(node: exp.Expr) -> exp.Expr:
    return node


_REWRITES: dict[type[exp.Expr], Callable[..., exp.Expr]] = {
    exp.Literal: _literal,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.In: _in,
    exp.Between: _between,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _call,
    exp.Filter: _over_rows,
    exp.Window: _over_rows,
}
