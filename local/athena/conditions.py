"""What must hold of the rows of a table for them to reach the result of a query.

Trino finds it too, and reads the partitions only of which it can hold. This finds less, never more:
what is not understood leaves every row in.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def conditions_on(select: exp.Select, source: exp.Expr) -> Iterator[exp.Expr]:
    """Yield conditions on the columns of one source of a SELECT, from it and from around it.

    Parameters
    ----------
    select
        A query whose every column has its table.
    source
        What stands in its FROM or JOIN.
    """
    join = source.parent if isinstance(source.parent, exp.Join) else None
    found: list[exp.Expr] = []
    # An outer join makes up rows, of which a condition may hold though it does not of any other.
    others = select.args.get("joins") or []
    if not (join and join.side) and not any(each.side in {"RIGHT", "FULL"} for each in others):
        found += _conditions(select)
    if join and join.side in {"", "LEFT"} and join.args.get("on"):
        found += _conjuncts(join.args["on"])
    for condition in found:
        tables = {column.table for column in condition.find_all(exp.Column)}
        if tables == {source.alias_or_name} and not condition.find(exp.Query):
            yield condition


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions without which no row of a SELECT counts, on its own sources."""
    if where := select.args.get("where"):
        yield from _conjuncts(where.this)
    if select.args.get("limit") or select.args.get("offset"):
        return
    source = _use(select)
    outer = source.find_ancestor(exp.Select) if source else None
    if source and outer and isinstance(source.parent, exp.From | exp.Join):
        for condition in conditions_on(outer, source):
            if inner := _seen_from_within(condition, select):
                yield inner


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And | exp.Paren):
        for operand in condition.iter_expressions():
            yield from _conjuncts(operand)
    else:
        yield condition


def _use(select: exp.Select) -> exp.Expr | None:
    """Return the one place where a query is read from: itself, or its name's."""
    holder = select.parent
    if isinstance(holder, exp.Subquery):
        return None if holder.alias_column_names else holder
    if not isinstance(holder, exp.CTE):
        return None
    uses = [each for each in select.root().find_all(exp.Table) if each.name == holder.alias]
    return uses[0] if len(uses) == 1 and not uses[0].alias_column_names else None


def _seen_from_within(condition: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """Return a condition on a query's result as one on its sources; None if it is none."""
    values = {value.alias_or_name: value.unalias() for value in select.selects}
    windows = [window for value in select.selects for window in value.find_all(exp.Window)]
    inner = condition.copy()
    for column in list(inner.find_all(exp.Column)):
        value = values.get(column.name)
        # Rows that are left out must not change what a window function makes of others.
        if not isinstance(value, exp.Column) or any(
            value not in window.args.get("partition_by", ()) for window in windows
        ):
            return None
        if column is inner:
            return value.copy()
        column.replace(value.copy())
    return inner
