"""From the JSON lines of objects to the rows of a table.

A column that a line lacks is null, and what a line has besides is not read. A value that does not
fit its column's type is an error that names the object, where Hive would make of it what it can.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlglot import exp

from local.athena.catalogue import Table
from local.athena.values import duckdb_name, glue_type

_WHOLE = "json_type({0}) IN ('BIGINT', 'UBIGINT') AND TRY_CAST({0} AS {1}) IS NOT NULL"
_TEXT = "json_type({0}) = 'VARCHAR'"
_TIMESTAMP = (
    f"{_TEXT} AND regexp_full_match({{0}} ->> '$', "
    r"'[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,3}})?') "
    "AND TRY_CAST({0} ->> '$' AS {1}) IS NOT NULL"
)
_TEXTS = (
    "json_type({0}) = 'ARRAY' AND len(list_filter(json_transform({0}, '[\"JSON\"]'), "
    "lambda each: json_type(each) NOT IN ('VARCHAR', 'NULL'))) = 0"
)
# By Glue type: when JSON is of it, and what its value is.
_READS = {
    "string": (_TEXT, "{0} ->> '$'"),
    "int": (_WHOLE, "CAST({0} AS {1})"),
    "bigint": (_WHOLE, "CAST({0} AS {1})"),
    "double": (
        "json_type({0}) IN ('DOUBLE', 'BIGINT', 'UBIGINT') AND isfinite(CAST({0} AS {1}))",
        "CAST({0} AS {1})",
    ),
    "boolean": ("json_type({0}) = 'BOOLEAN'", "CAST({0} AS {1})"),
    "timestamp": (_TIMESTAMP, "CAST({0} ->> '$' AS {1})"),
    "array<string>": (_TEXTS, "json_transform({0}, '[\"VARCHAR\"]')"),
}


def rows_sql(table: Table, columns: Sequence[str]) -> str:
    """Return the SELECT of ``columns`` of a table from objects.

    Its parameters are ``locations`` and ``bodies``, the objects' places and texts, and those of
    ``partition_columns``; one value for each object.
    """
    read = [column for column in columns if column in table.columns]
    structure = json.dumps(dict.fromkeys(read or ["#"], "JSON"))
    values = [_value(column, table.columns[column]) for column in read]
    values += [quoted_name(column) for column in columns if column in table.partitioned_by]
    partitions = partition_columns(table)
    return (
        f"SELECT {', '.join(values) or 'row'} FROM (SELECT *, json_transform("  # noqa: S608 (quoted)
        "CASE WHEN json_valid(line) AND json_type(line) = 'OBJECT' THEN line "
        "ELSE error('HIVE_CURSOR_ERROR: Row is not a valid JSON Object: ' || location) END, "
        f"{_quoted(structure)}) AS row FROM (SELECT * EXCLUDE body, "
        "unnest(string_split(body, chr(10))) AS line FROM (SELECT unnest($locations) AS location, "
        f"unnest($bodies) AS body{', ' if partitions else ''}{partitions})) WHERE line <> '')"
    )


def partition_columns(table: Table) -> str:
    """Return SQL of the partition columns, from the parameters ``partition0`` and so on."""
    return ", ".join(
        f"unnest(CAST($partition{position} AS {duckdb_name(glue_type(type_))}[])) "
        f"AS {quoted_name(column)}"
        for position, (column, type_) in enumerate(table.partitioned_by.items())
    )


def quoted_name(name: str) -> str:
    """Return a name as DuckDB takes it."""
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def _quoted(text: str) -> str:
    return exp.Literal.string(text).sql("duckdb")


def _value(column: str, type_: str) -> str:
    value = f"row.{quoted_name(column)}"
    fits, read = (each.format(value, duckdb_name(glue_type(type_))) for each in _READS[type_])
    problem = _quoted(f"HIVE_BAD_DATA: Field {column} of type {type_} cannot be ")
    return (
        f"CASE WHEN {value} IS NULL OR json_type({value}) = 'NULL' THEN NULL WHEN {fits} "
        f"THEN {read} ELSE error({problem} || {value} || ' in ' || location) END "
        f"AS {quoted_name(column)}"
    )
