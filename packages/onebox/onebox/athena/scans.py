"""The scans of a query: the objects that it reads of each table, and their rows.

Conditions on partition columns are evaluated for the projected partitions of a table. The objects
of other partitions are neither listed nor read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from onebox.athena.catalogue import Table
from onebox.athena.conditions import conditions_on
from onebox.athena.execution import Scan


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
