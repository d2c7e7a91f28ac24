"""The data sets of reports: the SQL files of ``queries/sql`` and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from sqlglot import MappingSchema, exp, parse_one
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.store.columns import PARTITIONS, TABLES

_FOLDER = ROOT / "queries" / "sql"
# Athena engine version 3 is built on Trino.
_DIALECT = "trino"
# QuickSight user guide, "Supported data types from Athena". Booleans are left out: a report needs
# words, because true and false do not explain themselves.
STRING, INTEGER, DECIMAL, DATETIME = "STRING", "INTEGER", "DECIMAL", "DATETIME"
_QUICKSIGHT_TYPES = {
    "VARCHAR": STRING,
    "INTEGER": INTEGER,
    "BIGINT": INTEGER,
    "DOUBLE": DECIMAL,
    "TIMESTAMP": DATETIME,
}


@dataclass(frozen=True)
class DataSet:
    """A SQL file as a data set of QuickSight."""

    name: str
    """The name of the file without its ending."""
    title: str
    """The first line of the file's leading comment."""
    sql: str
    tables: frozenset[str]
    """The tables that the SQL reads."""
    columns: Mapping[str, str]
    """QuickSight's type of each resulting column, in order."""

    def within(self, database: str) -> str:
        """Return the SQL over the tables of a database, with the text of the file unchanged.

        QuickSight names no database in its requests to Athena.
        """
        tables = ",\n".join(
            f'{table} AS (SELECT * FROM "{database}".{table})'  # noqa: S608 (names of our own)
            for table in sorted(self.tables)
        )
        return f"WITH {tables}\nSELECT * FROM (\n{self.sql})"


@cache
def read_data_set(name: str) -> DataSet:
    """Return the data set of a file, with columns derived from the SQL and the tables.

    Raises
    ------
    Refused
        If there is no such file, or if a column has a type that QuickSight does not support.

    """
    path = _FOLDER / f"{name}.sql"
    if not path.is_file():
        known = listed(sorted(file.stem for file in _FOLDER.glob("*.sql")))
        raise Refused(f"data set {name}: there is no such file in queries/sql; there are {known}")
    sql = path.read_text(encoding="utf-8")
    parsed = parse_one(sql, dialect=_DIALECT)
    tables = frozenset(table.name for table in parsed.find_all(exp.Table)) & TABLES.keys()
    columns = {column.alias_or_name: _type(name, column) for column in _with_types(parsed).selects}
    return DataSet(name, sql.partition("\n")[0].removeprefix("-- "), sql, tables, columns)


def _with_types(query: exp.Expr) -> exp.Query:
    """Return a query over our tables, with a type at each expression."""
    schema = MappingSchema(
        {table: {**columns, **PARTITIONS} for table, columns in TABLES.items()}, dialect="hive"
    )
    qualified = qualify(query, schema=schema, dialect=_DIALECT)
    return cast("exp.Query", annotate_types(qualified, schema, dialect=_DIALECT))


def _type(data_set: str, column: exp.Expr) -> str:
    type_ = column.type.sql(_DIALECT) if column.type else "UNKNOWN"
    if type_ not in _QUICKSIGHT_TYPES:
        raise Refused(
            f"data set {data_set}: column {column.alias_or_name} has the type {type_}; "
            f"CAST it to one of {listed(_QUICKSIGHT_TYPES)}"
        )
    return _QUICKSIGHT_TYPES[type_]
