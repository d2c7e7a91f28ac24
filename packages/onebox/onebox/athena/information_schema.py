"""The catalogue as tables of ``information_schema``, and the statements that ask for it.

`DESCRIBE` and `SHOW` become queries of these tables, as Trino answers them. Source: AWS
documentation, Athena: DDL statements.
"""

from __future__ import annotations

import re

from sqlglot import exp

from onebox.athena.catalogue import Catalogue, read_table
from onebox.athena.errors import MalformedQuery, QueryError
from onebox.athena.values import glue_type, trino_name

CATALOGUE = "awsdatacatalog"
_DESCRIBED = "described_table"
"""A column of information_schema.columns whose value must be the name of a table."""
_NAME = r'[`"]?(\w+)[`"]?'
_PATH = rf"(?:{_NAME}\.)?{_NAME}"
_LIKE = r"(?:(?: LIKE)? '([^']*)')?"
_DESCRIBE = re.compile(rf"DESC(?:RIBE)?(?: EXTENDED| FORMATTED)? {_PATH}", re.IGNORECASE)
_SHOWN_COLUMNS = re.compile(
    rf"SHOW COLUMNS (?:FROM|IN) {_PATH}(?: (?:FROM|IN) {_NAME})?", re.IGNORECASE
)
_SHOWN_TABLES = re.compile(rf"SHOW TABLES(?: (?:FROM|IN) {_NAME})?{_LIKE}", re.IGNORECASE)
_SHOWN_DATABASES = re.compile(rf"SHOW (?:DATABASES|SCHEMAS){_LIKE}", re.IGNORECASE)
_OF_NO_USE = re.compile(rf"SHOW PARTITIONS {_PATH}", re.IGNORECASE)


def as_query(text: str) -> str:
    """Return a statement about the catalogue as a query; any other text as it is.

    Raises
    ------
    MalformedQuery
        If the statement is ``SHOW PARTITIONS``, which lists no partition that is projected.
    """
    words = " ".join(text.strip().removesuffix(";").split())
    if found := _DESCRIBE.fullmatch(words):
        values = "column_name AS col_name, hive_type AS data_type, '' AS comment"
        return _columns(values, found[1], found[2])
    if found := _SHOWN_COLUMNS.fullmatch(words):
        return _columns("column_name AS field", found[1] or found[3], found[2])
    if found := _SHOWN_TABLES.fullmatch(words):
        return (
            "SELECT table_name AS tab_name FROM information_schema.tables "  # noqa: S608
            f"WHERE {_schema(found[1])} AND {_like('table_name', found[2])} ORDER BY 1"
        )
    if found := _SHOWN_DATABASES.fullmatch(words):
        return (
            "SELECT schema_name AS database_name FROM information_schema.schemata "  # noqa: S608
            f"WHERE {_like('schema_name', found[1])} ORDER BY 1"
        )
    if found := _OF_NO_USE.fullmatch(words):
        raise MalformedQuery(
            "NOT_SUPPORTED",
            "SHOW PARTITIONS lists no projected partitions; SELECT DISTINCT shows their columns",
        )
    return text


def _columns(values: str, database: str | None, table: str) -> str:
    return (
        f"SELECT {values} FROM information_schema.columns WHERE {_schema(database)} "  # noqa: S608
        f"AND {_DESCRIBED} = '{table.lower()}' ORDER BY ordinal_position"
    )


def _schema(database: str | None) -> str:
    return f"table_schema = '{database.lower()}'" if database else "is_current"


def _like(column: str, pattern: str | None) -> str:
    """Return a condition for a pattern, in which Athena has ``*`` for any text and ``|`` for or."""
    if pattern is None:
        return "TRUE"
    choices = (each.replace("*", "%") for each in pattern.split("|"))
    return "(" + " OR ".join(f"{column} LIKE '{each}'" for each in choices) + ")"


_TABLES = {
    "tables": ("table_catalog", "table_schema", "table_name", "table_type", "is_current"),
    "schemata": ("catalog_name", "schema_name"),
    "columns": (
        *("table_catalog", "table_schema", "table_name", "column_name", "ordinal_position"),
        *("column_default", "is_nullable", "data_type", "hive_type", "is_current", _DESCRIBED),
    ),
}
"""The columns of the tables of information_schema; the last two are of DESCRIBE and SHOW."""


def described(
    name: str, alias: str, database: str | None, catalogue: Catalogue, near: exp.Table
) -> exp.Expr:
    """Return the rows of a table of information_schema."""
    if name not in _TABLES:
        path = f"{CATALOGUE}.information_schema.{name}"
        raise QueryError("TABLE_NOT_FOUND", f"Table '{path}' does not exist", near)
    for named in near.root().find_all(exp.EQ) if name == "columns" else ():
        known = (each for tables in catalogue.values() for each in tables)
        if named.left.name == _DESCRIBED and named.right.name not in known:
            raise QueryError("TABLE_NOT_FOUND", f"Table '{named.right.name}' does not exist")
    rows: list[tuple[object, ...]] = []
    for schema, tables in catalogue.items():
        if name == "schemata":
            rows.append((CATALOGUE, schema))
        for table, description in tables.items() if name != "schemata" else ():
            first, last = (CATALOGUE, schema, table), schema == database
            if name == "tables":
                rows.append((*first, "BASE TABLE", last))
                continue
            described = read_table(description)
            types = {**described.columns, **described.partitioned_by}
            for place, (column, type_) in enumerate(types.items(), 1):
                trino = trino_name(glue_type(type_))
                rows.append((*first, column, place, "", "YES", trino, type_, last, table))
    tuples = [exp.Tuple(expressions=[exp.convert(value) for value in row]) for row in rows]
    names = [exp.to_identifier(column) for column in _TABLES[name]]
    alias_ = exp.TableAlias(this=exp.to_identifier(alias), columns=names)
    return exp.Values(expressions=tuples, alias=alias_)
