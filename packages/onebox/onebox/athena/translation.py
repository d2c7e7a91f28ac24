"""The translation of Athena's SQL to SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from onebox.athena.catalogue import Catalogue
from onebox.athena.execution import Column, Translation
from onebox.athena.names import resolve
from onebox.athena.nesting import deeply
from onebox.athena.parser import parse
from onebox.athena.rewriting import rewrite
from onebox.athena.scans import scans
from onebox.athena.types import annotate
from onebox.athena.values import Kind, Type, common, duckdb_name, scalar, trino_name

_UNKNOWN = scalar(Kind.UNKNOWN)


def translate(
    query: str, catalogue: Catalogue, *, database: str | None, parameters: Sequence[str] = ()
) -> Translation:
    """Return a query in SQL of DuckDB; the arguments are those of `api.run`.

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
