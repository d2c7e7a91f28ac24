"""The data sets of reports: the SQL files of ``queries/sql``, and the columns that each gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from sqlglot import MappingSchema, exp, parse_one
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from suites.files import ROOT
from suites.refusal import Refused, listed
from suites.tables import PARTITIONS, TABLES

_FOLDER = ROOT / "queries" / "sql"
# Athena engine version 3 is built on Trino.
_DIALECT = "trino"
# QuickSight user guide, "Supported data types from Athena". Booleans are left out: a report says
# in words what a column of true and false would leave to guess.
STRING, INTEGER, DECIMAL, DATETIME = "STRING", "INTEGER", "DECIMAL", "DATETIME"
_OF_QUICKSIGHT = {
    "VARCHAR": STRING,
    "INTEGER": INTEGER,
    "BIGINT": INTEGER,
    "DOUBLE": DECIMAL,
    "TIMESTAMP": DATETIME,
}


@dataclass(frozen=True)
class DataSet:
    """One SQL file as QuickSight takes it."""

    name: str
    """Of the file, without its ending."""
    title: str
    """The first line of the file's leading comment."""
    sql: str
    tables: frozenset[str]
    """Which tables it reads."""
    columns: Mapping[str, str]
    """QuickSight's type of each column that it gives, in their order."""

    def within(self, database: str) -> str:
        """Return the SQL such that its tables are those of a database.

        QuickSight names no database when it asks Athena. The file's own text stays as it is.
        """
        tables = ",\n".join(
            f'{table} AS (SELECT * FROM "{database}".{table})'  # noqa: S608 (names of our own)
            for table in sorted(self.tables)
        )
        return f"WITH {tables}\nSELECT * FROM (\n{self.sql})"


@cache
def read_data_set(name: str) -> DataSet:
    """Return the data set of a file; its columns follow from its SQL and the tables' columns.

    Raises
    ------
    Refused
        If there is no such file, or a column of it has a type that data sets have not.

    """
    path = _FOLDER / f"{name}.sql"
    if not path.is_file():
        known = listed(sorted(found.stem for found in _FOLDER.glob("*.sql")))
        raise Refused(f"data set {name}: there is no such file in queries/sql; there are {known}")
    sql = path.read_text(encoding="utf-8")
    parsed = parse_one(sql, dialect=_DIALECT)
    read = frozenset(table.name for table in parsed.find_all(exp.Table)) & TABLES.keys()
    columns = {column.alias_or_name: _type(name, column) for column in _typed(parsed).selects}
    return DataSet(name, sql.partition("\n")[0].removeprefix("-- "), sql, read, columns)


def _typed(query: exp.Expr) -> exp.Query:
    """Return a query over our tables with the type of each of its expressions."""
    schema = MappingSchema(
        {table: {**columns, **PARTITIONS} for table, columns in TABLES.items()}, dialect="hive"
    )
    qualified = qualify(query, schema=schema, dialect=_DIALECT)
    return cast("exp.Query", annotate_types(qualified, schema, dialect=_DIALECT))


def _type(data_set: str, column: exp.Expr) -> str:
    found = column.type.sql(_DIALECT) if column.type else "UNKNOWN"
    if found not in _OF_QUICKSIGHT:
        raise Refused(
            f"data set {data_set}: column {column.alias_or_name} has the type {found}; "
            f"CAST it to one of {listed(_OF_QUICKSIGHT)}"
        )
    return _OF_QUICKSIGHT[found]
