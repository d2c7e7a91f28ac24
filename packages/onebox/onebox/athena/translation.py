"""The translation of Athena's SQL to SQL of DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from onebox.athena.catalogue import Catalogue, Table, read_table
from onebox.athena.errors import QueryError, not_supported
from onebox.athena.execution import Column, Scan, Translation
from onebox.athena.information_schema import CATALOGUE, described
from onebox.athena.parser import Athena, deeply, parse
from onebox.athena.rewriting import rewrite
from onebox.athena.types import annotate
from onebox.athena.values import Kind, Type, common, duckdb_name, glue_type, scalar, trino_name


@dataclass(frozen=True)
class Resolved:
    """A query with all names resolved.

    Attributes
    ----------
    query : Query
        The query. Each column names its table, and each table of the catalogue has a unique name.
    tables : mapping of str to Table
        The tables of the catalogue, by unique name.
    names : list of str
        The names of the result's columns.
    """

    query: exp.Query
    tables: Mapping[str, Table]
    names: list[str]

    @property
    def schema(self) -> dict[str, dict[str, Type]]:
        """The columns of each table, with their types, in order."""
        return {name: columns(table) for name, table in self.tables.items()}


def columns(table: Table) -> dict[str, Type]:
    """Return the columns of a table, with their types; partitions come last."""
    named = {**table.columns, **table.partitioned_by}
    return {name: glue_type(type_) for name, type_ in named.items()}


def resolve(query: exp.Query, database: str | None, catalogue: Catalogue) -> Resolved:
    """Return a query with all names resolved.

    Parameters
    ----------
    query
        The parsed query, which is changed.
    database
        The database of tables that the query names without one.
    catalogue
        All tables.

    Raises
    ------
    QueryError
        If a name is unknown or ambiguous.
    """
    _name_results(query)
    result_names = [] if _has_star(query) else list(query.named_selects)
    query = normalize_identifiers(query, dialect=Athena)
    _name_subqueries(query)
    try:
        tables = dict(_read_tables(query, database, catalogue))
        resolved = Resolved(query, tables, result_names)
        query = qualify(
            query,
            dialect=Athena,
            schema=dict(resolved.schema),
            # Trino knows aliases only in ORDER BY.
            expand_alias_refs=False,
            # The check of sqlglot has other messages than Athena.
            validate_qualify_columns=False,
        )
    except OptimizeError as error:
        raise _unknown(query, str(error)) from error
    for scope in traverse_scope(query):
        _check_columns(scope, resolved.schema)
    return Resolved(query, tables, result_names or list(query.named_selects))


def _name_results(query: exp.Query) -> None:
    """Name the unnamed columns ``_col0``, ``_col1`` and so on, as Trino does."""
    for select in query.find_all(exp.Select):
        for position, value in enumerate(list(select.expressions)):
            if not isinstance(value, exp.Alias | exp.Column | exp.Star):
                value.replace(exp.alias_(value.copy(), f"_col{position}"))


def _name_subqueries(query: exp.Query) -> None:
    """Give each subquery of FROM a name, which sqlglot needs to tell two of them apart."""
    for number, subquery in enumerate(list(query.find_all(exp.Subquery))):
        if isinstance(subquery.parent, exp.From | exp.Join) and not subquery.alias:
            subquery.set(
                "alias", exp.TableAlias(this=exp.to_identifier(f"# {number}", quoted=True))
            )


def _has_star(query: exp.Query) -> bool:
    return any(value.is_star for value in query.selects)


def _read_tables(
    query: exp.Query, database: str | None, catalogue: Catalogue
) -> Iterator[tuple[str, Table]]:
    """Yield each table with a unique name, and replace it in the query by that name."""
    for scope in traverse_scope(query):
        for alias, (node, source) in scope.selected_sources.items():
            if not isinstance(source, exp.Table):
                continue
            if source.db == "information_schema":
                node.replace(described(source.name, alias, database, catalogue, source))
                continue
            table = _look_up(source, database, catalogue)
            name = f"{alias} @ {id(source)}"
            yield name, table
            table_alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(alias))
            node.replace(exp.Table(this=exp.to_identifier(name, quoted=True), alias=table_alias))


def _look_up(node: exp.Table, database: str | None, catalogue: Catalogue) -> Table:
    if node.catalog not in {"", CATALOGUE}:
        raise not_supported(f"Catalogue '{node.catalog}'", node)
    name = node.db or database
    if not name:
        raise QueryError(
            "MISSING_SCHEMA_NAME",
            "Schema must be specified when session schema is not set",
            node,
        )
    if name not in catalogue:
        raise QueryError("SCHEMA_NOT_FOUND", f"Schema '{name}' does not exist", node)
    if node.name not in catalogue[name]:
        path = f"{CATALOGUE}.{name}.{node.name}"
        raise QueryError("TABLE_NOT_FOUND", f"Table '{path}' does not exist", node)
    return read_table(catalogue[name][node.name])


def _check_columns(scope: Scope, schema: Mapping[str, Mapping[str, Type]]) -> None:
    if not isinstance(scope.expression, exp.Select):
        return
    for column in [*scope.columns, *_columns_of_having(scope.expression)]:
        if not column.table:
            column.set("table", exp.to_identifier(_holder(column, scope, schema), quoted=True))
        elif not _is_known(column.table, scope):
            raise _unresolved(column)


def _columns_of_having(select: exp.Select) -> list[exp.Column]:
    """Return the columns in HAVING, which sqlglot mistakes for aliases."""
    having = select.args.get("having")
    columns = having.find_all(exp.Column) if having else ()
    return [column for column in columns if column.find_ancestor(exp.Select) is select]


def _holder(column: exp.Column, scope: Scope, schema: Mapping[str, Mapping[str, Type]]) -> str:
    """Return the only source that has a column."""
    holders = [
        name
        for name, (_, source) in scope.selected_sources.items()
        if column.name in _names(source, schema)
    ]
    if len(holders) > 1:
        raise QueryError("AMBIGUOUS_NAME", f"Column '{column.name}' is ambiguous", column)
    if not holders:
        raise _unresolved(column)
    return holders[0]


def _names(source: exp.Table | Scope, schema: Mapping[str, Mapping[str, Type]]) -> list[str]:
    if isinstance(source, exp.Table):
        return list(schema[source.name])
    expression = source.expression
    if isinstance(expression, exp.UDTF):
        return expression.alias_column_names
    return expression.named_selects if isinstance(expression, exp.Query) else []


def _is_known(table: str, scope: Scope | None) -> bool:
    return scope is not None and (table in scope.selected_sources or _is_known(table, scope.parent))


def _unknown(query: exp.Query, message: str) -> QueryError:
    """Return the error for an unknown column; sqlglot's message gives only its name."""
    name = re.search(r'[Cc]olumn[^\w"]+"?(?:\w+"?\."?)?(\w+)', message)
    for column in query.find_all(exp.Column):
        if name and column.name == name[1]:
            return _unresolved(column)
    return QueryError("SYNTAX_ERROR", message)


def _unresolved(column: exp.Column) -> QueryError:
    name = f"{column.table}.{column.name}" if column.table else column.name
    return QueryError(
        "COLUMN_NOT_FOUND",
        f"Column '{name}' cannot be resolved or requester is not authorized to access "
        "requested resources",
        column,
    )


_UNKNOWN = scalar(Kind.UNKNOWN)


def translate(
    query: str, catalogue: Catalogue, *, database: str | None, parameters: Sequence[str] = ()
) -> Translation:
    """Return a query in SQL of DuckDB; `api.run` has the same arguments.

    Raises
    ------
    QueryError
        If the query is refused.
    """
    return translate_parsed(parse(query, parameters), catalogue, database)[0]


@deeply
def translate_parsed(
    query: exp.Query, catalogue: Catalogue, database: str | None
) -> tuple[Translation, list[Type]]:
    """Return a parsed query in SQL of DuckDB, and the types of its columns."""
    resolved = resolve(query, database, catalogue)
    typed = annotate(resolved.query, resolved.schema)
    types = _result_types(typed)
    rewritten = rewrite(typed)
    columns = (
        Column(name, duckdb_name(type_), trino_name(type_))
        for name, type_ in zip(resolved.names, types, strict=True)
    )
    found = scans(rewritten, resolved.tables)
    return Translation(rewritten.sql("duckdb"), tuple(found), tuple(columns)), types


def _result_types(query: exp.Query) -> list[Type]:
    """Return the types of a typed query's columns."""
    if isinstance(query, exp.SetOperation):
        left, right = _result_types(query.left), _result_types(query.right)
        return [common(*types) or _UNKNOWN for types in zip(left, right, strict=True)]
    return [value.type or _UNKNOWN for value in query.selects]


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
