"""Queries of Athena, run over the objects of tables on DuckDB."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain

import duckdb
from sqlglot import exp

from local.athena.catalogue import Catalogue, read_table
from local.athena.errors import QueryError
from local.athena.kept import KeptRows
from local.athena.macros import MACROS
from local.athena.names import resolve
from local.athena.objects import Objects, objects_in
from local.athena.parser import parse
from local.athena.rewriting import rewrite
from local.athena.rows import Reader
from local.athena.scans import load, scans
from local.athena.types import annotate
from local.athena.values import Kind, Type, common, duckdb_name, scalar, text, trino_name

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # One thread adds doubles in one order: a query gives the same figures each time.
    "threads": 1,
}
_UNKNOWN = scalar(Kind.UNKNOWN)
# What DuckDB calls an error, and what Athena does.
_CODES: dict[type[duckdb.Error], str] = {
    duckdb.OutOfRangeException: "NUMERIC_VALUE_OUT_OF_RANGE",
    duckdb.ConversionException: "INVALID_CAST_ARGUMENT",
    duckdb.BinderException: "SYNTAX_ERROR",
    duckdb.InvalidInputException: "INVALID_FUNCTION_ARGUMENT",
}


@dataclass(frozen=True)
class Result:
    """What a query gives.

    Attributes
    ----------
    columns : list of tuple
        The name and the type of each column.
    rows : list of list
        The values as Athena's results show them; None is a null.
    scanned_bytes : int
        The size of the objects that were read.
    """

    columns: list[tuple[str, Type]]
    rows: list[list[str | None]]
    scanned_bytes: int


def run(
    query: str | exp.Query,
    objects: Objects,
    catalogue: Catalogue,
    *,
    database: str | None = None,
    parameters: Sequence[str] = (),
    most_bytes: float = math.inf,
    kept: KeptRows | None = None,
) -> Result:
    """Run a query.

    Parameters
    ----------
    query
        Its text, or what `parse` made of it and of its parameters.
    objects
        Where the objects of tables are.
    catalogue
        The tables, as Glue describes them.
    database
        Where tables are that the query names without a database.
    parameters
        What stands for each ``?`` of a text, as SQL literals.
    most_bytes
        How many bytes of objects may be read.
    kept
        Where rows are kept, so that their objects are not read for every query.

    Raises
    ------
    QueryError
        If the query is not accepted, or its data cannot be read, or it fails as it runs.
    """
    parsed = parse(query, parameters) if isinstance(query, str) else query.copy()
    resolved = resolve(parsed, database, catalogue)
    typed = annotate(resolved.query, resolved.schema)
    types = _result_types(typed)
    rewritten = rewrite(typed)
    scanned = 0
    with _connected() as connection:
        for macro in MACROS:
            connection.execute(f"CREATE TEMP MACRO {macro}")
        try:
            for scan in scans(rewritten, resolved.tables):
                scanned += load(connection, scan, objects, most_bytes - scanned, kept)
            found = connection.execute(rewritten.sql("duckdb"))
            rows = found.fetchall()
        except duckdb.Error as error:
            raise _translated(error) from error
        _check_types(found, types)
    return Result(
        list(zip(resolved.names, types, strict=True)),
        [[text(value) for value in row] for row in rows],
        scanned,
    )


def keep(objects: Objects, catalogue: Catalogue, kept: KeptRows, most_seconds: float) -> None:
    """Keep what queries of the tables would, so that they need not; remove what is out of date.

    Parameters
    ----------
    objects, catalogue, kept
        As of queries.
    most_seconds
        How long it may take. What is left then is kept another time, or by a query.
    """
    until = time.monotonic() + most_seconds
    with _connected() as connection:
        for description in chain.from_iterable(tables.values() for tables in catalogue.values()):
            # Whoever asks for a table that cannot be read is told why.
            with suppress(QueryError):
                table = read_table(description)
                found = list(objects_in(list(table.partitions()), objects))
                kept.keep(Reader(connection, table, objects), found, until)


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config=_CONFIG) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def _result_types(query: exp.Query) -> list[Type]:
    """Return the types of a typed query's columns."""
    if isinstance(query, exp.SetOperation):
        left, right = _result_types(query.left), _result_types(query.right)
        return [common(*types) or _UNKNOWN for types in zip(left, right, strict=True)]
    return [value.type or _UNKNOWN for value in query.selects]


def _check_types(found: duckdb.DuckDBPyConnection, types: Sequence[Type]) -> None:
    """Refuse a result whose types are not those that Athena would tell."""
    for (name, given, *_), type_ in zip(found.description or (), types, strict=True):
        # To DuckDB what can only be null has no other type.
        if str(given) not in {duckdb_name(type_), '"NULL"'}:
            raise QueryError(
                "GENERIC_INTERNAL_ERROR",
                f"Column {name} is {given} on one machine and {trino_name(type_)} in Athena",
            )


def _translated(error: duckdb.Error) -> QueryError:
    told = str(error).partition("\n")[0].partition("Error: ")[2] or str(error)
    if found := re.fullmatch(r"([A-Z_]+): (.*)", told):
        return QueryError(found[1], found[2])
    if told.startswith("Division by zero"):
        return QueryError("DIVISION_BY_ZERO", "Division by zero")
    return QueryError(_CODES.get(type(error), "GENERIC_INTERNAL_ERROR"), told)
