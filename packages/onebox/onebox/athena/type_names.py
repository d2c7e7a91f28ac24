"""The names of types in Glue, Trino and DuckDB.

Source: Trino documentation, Data types; AWS documentation, Athena: GetQueryResults, ColumnInfo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Names(NamedTuple):
    """The names of one type, and the Precision of ColumnInfo."""

    glue: str
    trino: str
    duckdb: str
    precision: int


NAMES: Mapping[str, Names] = {
    "VARCHAR": Names("string", "varchar", "VARCHAR", 2147483647),
    "INT": Names("int", "integer", "INTEGER", 10),
    "BIGINT": Names("bigint", "bigint", "BIGINT", 19),
    "DOUBLE": Names("double", "double", "DOUBLE", 17),
    "BOOLEAN": Names("boolean", "boolean", "BOOLEAN", 0),
    "TIMESTAMP": Names("timestamp", "timestamp(3)", "TIMESTAMP", 3),
    "DATE": Names("date", "date", "DATE", 0),
}
"""By the name of the kind in sqlglot."""
_DUCKDB = {names.glue: names.duckdb for names in NAMES.values()}


def duckdb_type(glue: str) -> str:
    """Return DuckDB's name of a type of Glue: ``VARCHAR[]`` for ``array<string>``."""
    if glue.startswith("array<"):
        return f"{duckdb_type(glue.removeprefix('array<').removesuffix('>'))}[]"
    return _DUCKDB[glue]
