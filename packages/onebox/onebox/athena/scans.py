"""The scans of a query: the objects that it reads of each table, and their rows.

Conditions on partition columns are evaluated for the projected partitions of a table. The objects
of other partitions are neither listed nor read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from onebox.athena.catalogue import Table
from onebox.athena.execution import Scan


def conditions_on(select: exp.Select, source: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the conditions on one source of a SELECT, from the SELECT and from outer queries.

    Parameters
    ----------
    select
        A query whose columns all name their tables.
    source
        A table or query in its FROM or JOIN.
    """
    join = source.parent if isinstance(source.parent, exp.Join) else None
    candidates: list[exp.Expr] = []
    # An outer join adds rows of nulls, which may meet a condition that no other row meets.
    joins = select.args.get("joins") or []
    if not (join and join.side) and not any(other.side in {"RIGHT", "FULL"} for other in joins):
        candidates += _conditions(select)
    if join and join.side in {"", "LEFT"} and join.args.get("on"):
        candidates += _conjuncts(join.args["on"])
    for condition in candidates:
        tables = {column.table for column in condition.find_all(exp.Column)}
        if tables == {source.alias_or_name} and not condition.find(exp.Query):
            yield condition


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions on its sources that every row of a SELECT must meet."""
    if where := select.args.get("where"):
        yield from _conjuncts(where.this)
    if select.args.get("limit") or select.args.get("offset"):
        return
    source = _use(select)
    outer = source.find_ancestor(exp.Select) if source else None
    if source and outer and isinstance(source.parent, exp.From | exp.Join):
        for condition in conditions_on(outer, source):
            if inner := _on_sources(condition, select):
                yield inner


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And | exp.Paren):
        for operand in condition.iter_expressions():
            yield from _conjuncts(operand)
    else:
        yield condition


def _use(select: exp.Select) -> exp.Expr | None:
    """Return the only place that reads a query: its subquery, or the one use of its name."""
    holder = select.parent
    if isinstance(holder, exp.Subquery):
        return None if holder.alias_column_names else holder
    if not isinstance(holder, exp.CTE):
        return None
    uses = [table for table in select.root().find_all(exp.Table) if table.name == holder.alias]
    return uses[0] if len(uses) == 1 and not uses[0].alias_column_names else None


def _on_sources(condition: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """Return a condition on a query's result as one on its sources, None if there is none."""
    values = {value.alias_or_name: value.unalias() for value in select.selects}
    windows = [window for value in select.selects for window in value.find_all(exp.Window)]
    inner = condition.copy()
    for column in list(inner.find_all(exp.Column)):
        value = values.get(column.name)
        # Excluded rows must not change the value of a window function for other rows.
        if not isinstance(value, exp.Column) or any(
            value not in window.args.get("partition_by", ()) for window in windows
        ):
            return None
        if column is inner:
            return value.copy()
        column.replace(value.copy())
    return inner


def scans(query: exp.Query, tables: Mapping[str, Table]) -> Iterator[Scan]:
    """Yield the scans of a rewritten query."""
    for node in query.find_all(exp.Table):
        if table := tables.get(node.name):
            select = node.find_ancestor(exp.Select)
            assert select is not None, "a table is read by a SELECT"
            used = {
                column.name for column in query.find_all(exp.Column) if column.table == node.alias
            }
            columns = [*table.columns, *table.partitioned_by]
            database, _, name = table.name.partition(".")
            yield Scan(
                node.name,
                node.alias,
                database,
                name,
                tuple(column for column in columns if column in used),
                tuple(
                    condition.sql("duckdb")
                    for condition in conditions_on(select, node)
                    if _columns(condition) <= set(table.partitioned_by)
                ),
            )


def _columns(condition: exp.Expr) -> set[str]:
    return {column.name for column in condition.find_all(exp.Column)}
