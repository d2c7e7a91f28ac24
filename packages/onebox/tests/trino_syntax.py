"""Statements that show the syntax of Trino: with its forms, with other systems' forms, and drawn.

Each is checked twice: here against DuckDB, and by ``make conformance`` against Trino.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import duckdb

# Forms of other databases, which sqlglot reads. Trino refuses each.
FOREIGN = (
    # Numbers, and names that touch them
    *("SELECT 12abc", "SELECT 1e", "SELECT 1e+", "SELECT 1e3e4", "SELECT 0x", "SELECT 0b2"),
    *("SELECT 0o8", "SELECT 1__0", "SELECT 1_", "SELECT 1.2.3", "SELECT 1..2", "SELECT 1e3.5"),
    *("SELECT 1e1_0", "SELECT 1 AS 2a", "SELECT 10L", "SELECT 1d", "SELECT 5days"),
    "SELECT 1FROM (SELECT 1)",
    # Texts and names
    *("SELECT 'a' 'b'", "SELECT e'a'", "SELECT b'1'", "SELECT n'a'", "SELECT r'a'", "SELECT $$a$$"),
    *("SELECT `a` FROM (SELECT 1 AS a)", "SELECT @a", "SELECT :a"),
    *("SELECT 1 AS 'a'", "SELECT 1 'a'", "SELECT $1", "SELECT #a", "SELECT {d '2020-01-01'}"),
    "SELECT 'a\\'b'",
    # Comments
    *(
        "SELECT 1 # one",
        "SELECT 1 // one",
        "SELECT 1 /* one /* two */ three */",
        "SELECT {# 1 #} 2",
    ),
    # Operators
    *("SELECT 1 == 1", "SELECT '1'::int", "SELECT 1 <=> 1", "SELECT 7 // 2", "SELECT 2 ** 3"),
    *("SELECT 2 ^ 3", "SELECT 1 & 1", "SELECT 1 | 1", "SELECT ~1", "SELECT !true", "SELECT 1 << 1"),
    *("SELECT 1 !< 2", "SELECT 7 DIV 2", "SELECT 7 MOD 2", "SELECT true && true", "SELECT 1 ? 2"),
    *("SELECT true XOR true", "SELECT 'a' ILIKE 'A'", "SELECT 'a' RLIKE 'a'", "SELECT 'a' ~ 'a'"),
    *("SELECT 'a' REGEXP 'a'", "SELECT 'a' GLOB 'a'", "SELECT 'a' SIMILAR TO 'a'"),
    *("SELECT 'a' NOT ILIKE 'A'", "SELECT 'a' ~~ 'a'", "SELECT 'a' ^@ 'a'", "SELECT 'a' COLLATE x"),
    *("SELECT a -> '$.b' FROM (SELECT '1' AS a)", "SELECT '{}' ->> 'a'", "SELECT 1 NOTNULL + 1"),
    *("SELECT 1 < 2 < 3", "SELECT 1 = 1 = 1", "SELECT 1 IS NULL IS NULL", "SELECT true IS TRUE"),
    *(
        "SELECT 1 IS 1",
        "SELECT 1 IS UNKNOWN",
        "SELECT 1 = NOT true",
        "SELECT 1 IN 1",
        "SELECT 1 IN ()",
    ),
    *("SELECT 1 BETWEEN SYMMETRIC 2 AND 0", "SELECT 'a' LIKE ANY ('a')", "SELECT 1 OVERLAPS 1"),
    *("SELECT 5 IN (1, 5) = true", "SELECT 1 BETWEEN 0 AND 2 = true", "SELECT 5 ISNULL + 1"),
    # Intervals, casts and types
    *("SELECT DATE '2020-01-01' + INTERVAL 1 DAY", "SELECT INTERVAL '1 day'"),
    "SELECT INTERVAL '1' DAYS",
    *("SELECT INTERVAL '1' WEEK", "SELECT INTERVAL (1) DAY", "SELECT INTERVAL 1.5 HOUR"),
    *("SELECT CAST(1 AS int8)", "SELECT CAST(1 AS long)", "SELECT CAST('a' AS text)"),
    *("SELECT CAST('a' AS string)", "SELECT CAST(1 AS bool)", "SELECT CAST(1 AS float8)"),
    *("SELECT CAST(1 AS int FORMAT 'x')", "SELECT CAST(1, int)", "SELECT CAST(1 AS UNSIGNED)"),
    *("SELECT CONVERT(1 USING utf8)", "SELECT CAST(1 AS int[])", "SELECT CAST(1 AS datetime)"),
    # Values
    *("SELECT {'a': 1}", "SELECT MAP {'a': 1}", "SELECT ARRAY(1, 2)[1:2]"),
    *("SELECT ARRAY[1, 2][1:2]", "SELECT ARRAY[1,]", "SELECT (1,)", "SELECT STRUCT(1 AS a)"),
    *("SELECT lambda x: x", "SELECT x -> ", "SELECT [x + 1 for x in ARRAY[1]]", "SELECT f(a := 1)"),
    *("SELECT abs(x => 1)", "SELECT IF 1 THEN 2 END", "SELECT CASE END", "SELECT NULL::int"),
    *(
        "SELECT EXTRACT(DAY, DATE '2020-01-01')",
        "SELECT SUBSTRING('abc' FOR 2)",
        "SELECT count(DISTINCT)",
    ),
    *("SELECT count(1,)", "SELECT max(1) WITHIN GROUP (ORDER BY 1)", "SELECT abs(1) y z"),
    *("SELECT DATE DATE '2020-01-01'", "SELECT TIMESTAMP(3) '2020-01-01'", "SELECT 1 AT UTC"),
    # Clauses
    *("FROM (SELECT 1 AS a) SELECT a", "FROM (SELECT 1 AS a)", "SELECT", "SELECT 1,", "SELECT ,1"),
    *("SELECT 1 FROM", "SELECT 1 WHERE", "SELECT TOP 1 1", "SELECT DISTINCT ON (1) 1"),
    *(
        "SELECT 1 LIMIT 5, 2",
        "SELECT 1 LIMIT 1 OFFSET 0",
        "SELECT 1 LIMIT 1 + 1",
        "SELECT 1 LIMIT 1.5",
    ),
    *(
        "SELECT 1 LIMIT 10%",
        "SELECT 1 LIMIT 10 PERCENT",
        "SELECT 1 LIMIT (1)",
        "SELECT 1 LIMIT '1'",
    ),
    *(
        "SELECT 1 LIMIT 1 LIMIT 1",
        "SELECT 1 LIMIT -1",
        "SELECT 1 LIMIT 1e0",
        "SELECT 1 LIMIT 1 BY 1",
    ),
    *(
        "SELECT 1 ORDER BY",
        "SELECT 1 ORDER BY 1,",
        "SELECT 1 ORDER BY 1 NULLS",
        "SELECT 1 SORT BY 1",
    ),
    *("SELECT 1 ORDER BY 1 USING <", "SELECT 1 ORDER BY 1 DESCENDING", "SELECT 1 GROUP BY 1,"),
    *(
        "SELECT 1 GROUP BY 1 WITH ROLLUP",
        "SELECT 1 QUALIFY 1 = 1",
        "SELECT 1 HAVING 1 = 1 WHERE true",
    ),
    *("SELECT 1 INTO x", "SELECT 1 FOR UPDATE", "SELECT 1 SETTINGS x = 1", "SELECT 1 FORMAT JSON"),
    *(
        "SELECT 1 OPTION (x)",
        "SELECT STRAIGHT_JOIN 1",
        "SELECT SQL_NO_CACHE 1, 2",
        "SELECT AS STRUCT 1",
    ),
    *("SELECT * EXCLUDE (a) FROM (SELECT 1 AS a)", "SELECT * EXCEPT (a) FROM (SELECT 1 AS a)"),
    *(
        "SELECT * REPLACE (1 AS a) FROM (SELECT 1 AS a)",
        "SELECT * RENAME (a AS b) FROM (SELECT 1 AS a)",
    ),
    *("SELECT * LIKE 'a%' FROM (SELECT 1 AS a)", "SELECT COLUMNS(*) FROM (SELECT 1 AS a)"),
    *(
        "SELECT a: 1",
        "SELECT a = 1 b = 2",
        "SELECT 1 AS a AS b",
        "SELECT * AS x FROM (SELECT 1 AS a)",
    ),
    # Tables
    *(
        "SELECT 1 FROM (SELECT 1) USING SAMPLE 10%",
        "SELECT 1 FROM (SELECT 1 AS a) PIVOT (max(a) FOR a IN (1))",
    ),
    *(
        "SELECT 1 FROM (SELECT 1) AS a SEMI JOIN (SELECT 1) AS b ON true WHERE",
        "SELECT 1 FROM 't.csv'",
    ),
    *(
        "SELECT 1 FROM (SELECT 1) LEFT SEMI JOIN (SELECT 1) ON true",
        "SELECT 1 FROM (SELECT 1) FINAL FINAL",
    ),
    *("SELECT 1 FROM (SELECT 1) LEFT ANTI JOIN (SELECT 1) ON true", "SELECT 1 FROM (SELECT 1),"),
    *("SELECT 1 FROM (SELECT 1) JOIN (SELECT 1)"),
    *(
        "SELECT 1 FROM (SELECT 1) CROSS APPLY (SELECT 1)",
        "SELECT 1 FROM (SELECT 1) CROSS JOIN (SELECT 1) ON true",
    ),
    *("SELECT 1 FROM LATERAL VIEW explode(a)"),
    *(
        "SELECT 1 FROM UNNEST(ARRAY[1]) WITH OFFSET",
        "SELECT 1 FROM (VALUES (1,))",
        "SELECT 1 FROM (VALUES)",
    ),
    *(
        "SELECT 1 FROM (SELECT 1) a, b: c",
        "SELECT 1 FROM range(3)",
        "SELECT 1 FROM (SELECT 1) WITH (NOLOCK)",
    ),
    *("WITH a AS MATERIALIZED (SELECT 1) SELECT 1 FROM a", "WITH a AS (SELECT 1), SELECT 1 FROM a"),
    *("WITH a AS SELECT 1 SELECT 1", "WITH 1 AS a SELECT a", "SELECT 1 UNION BY NAME SELECT 1"),
    *(
        "SELECT 1 MINUS SELECT 1 x y",
        "SELECT 1 UNION ALL BY NAME SELECT 1",
        "SELECT 1 UNION SELECT",
    ),
    *(
        "SELECT 1 FROM (SELECT 1) AS OF x",
        "SELECT 1 SELECT 2",
        "(SELECT 1",
        "SELECT 1)",
        "SELECT 1;;",
    ),
    *("SELECT 1 WINDOW w (ORDER BY 1)", "SELECT sum(1) OVER (ROWS 1)"),
    *("SELECT sum(1) FILTER (true)", "SELECT array_agg(1 LIMIT 1)"),
    *("SELECT max(1) KEEP (DENSE_RANK LAST ORDER BY 1)", "SELECT sum(1) OVER (PARTITION 1)"),
)

# Forms of Trino that sqlglot reads as something else, or not at all, with their values.
NATIVE = {
    "1e3+2e3": 3000.0,
    "1e3-3e2": 700.0,
    "4.2e1/1e3-3e2": -299.958,
    "1e3*-2e0": -2000.0,
    "1E3+2E+3-5e-1": 2999.5,
    "5.e0": 5.0,
    ".5e1": 5.0,
    "1.e3": 1000.0,
    "0x1F": 31,
    "0XfF_00": 65280,
    "0b1_01": 5,
    "0o17": 15,
    "1_000_000": 1000000,
    "007": 7,
    "-2147483648": -(1 << 31),
    "-9223372036854775808": -(1 << 63),
    "1-1": 0,
    "1--1\n": 1,  # a comment
    "1/* 2 */+3": 4,
    "- -1": 1,
    "+1": 1,
    "1+ +2": 3,
    "7%4*2": 6,
    "2-1-1": 0,
    "8/4/2": 1,
    "'it''s'": "it's",
    "'a\\'": "a\\",
    "'--'": "--",
    "1 isnull": 1,  # names, which are operators elsewhere
    "1 notnull": 1,
    "1 div": 1,
    "1 ilike": 1,
    "1 regexp": 1,
    "1 qualify": 1,
    "1 semi": 1,
    "1 limit": 1,
    '1 "1a"': 1,
    "varchar 'a'": "a",
    "bigint '5'": 5,
    "double '5'": 5.0,
    "DOUBLE PRECISION '5'": 5.0,
    "boolean 'true'": True,
    "CAST('5' AS DOUBLE PRECISION)": 5.0,
    "NOT true AND false": False,
    "NOT 1 = 2": True,
    "1 <> 2 AND 1 != 2": True,
    "1 IS DISTINCT FROM NULL": True,
    "true OR false AND false": True,
    "1 + 2 BETWEEN 2 AND 3 AND true": True,
    "'a' || 'b' || 'c'": "abc",
    "CASE WHEN true THEN 1 END IS NULL": False,
    "'%' LIKE '$%' ESCAPE '$'": True,
    "count(ALL 1)": 1,
}

# Forms of Trino that Athena on one machine may refuse, but by their names: they are not mistakes.
# Those that it computes here have a value in ``NATIVE``.
OF_TRINO = (
    *("position('a' IN 'ba')", "trim(BOTH 'x' FROM 'xax')", "trim('x' FROM 'x')", "trim('a', 'b')"),
    *("extract(YEAR FROM DATE '2026-01-02')", "substring('abc' FROM 1 FOR 2)", "localtime(3)"),
    *("normalize('a', NFC)", "localtime", "current_timestamp(3)", "localtimestamp", "current_path"),
    "listagg(DISTINCT a, ',' ON OVERFLOW TRUNCATE '…' WITH COUNT) WITHIN GROUP (ORDER BY a)",
    *("now() AT TIME ZONE 'UTC'", "now() AT TIME ZONE INTERVAL '1' HOUR", "grouping(a)"),
    "sum(a) OVER (PARTITION BY a ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "sum(a) OVER (ORDER BY a RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND 1 FOLLOWING)",
    *("sum(a) OVER (GROUPS 2 PRECEDING)", "first_value(a) IGNORE NULLS OVER (ORDER BY a)"),
    "last(a) OVER (MEASURES a AS b ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING "
    "AFTER MATCH SKIP TO NEXT ROW INITIAL PATTERN (A B) SUBSET U = (A, B) DEFINE A AS true)",
    *("a OVER w", "json_object('a': 1)", "json_value(a, 'lax $.b' RETURNING int)"),
    *("CAST(a AS hyperloglog)", "CAST(a AS qdigest(double))", "CAST(a AS geometry)"),
)
CLAUSES_OF_TRINO = (
    *(
        "GROUP BY GROUPING SETS ((a), ())",
        "GROUP BY ROLLUP (a), CUBE (a)",
        "FETCH FIRST 1 ROW ONLY",
    ),
    *(", UNNEST(ARRAY[1], ARRAY[2]) WITH ORDINALITY AS u (b, c, n)", ", LATERAL (SELECT 1) AS u"),
    *("TABLESAMPLE BERNOULLI (10)", "CROSS JOIN (VALUES (1), (2)) AS v (b)", "OFFSET 1 ROWS"),
    *(", TABLE(sequence(1, 2))", "FOR VERSION AS OF 3", "WINDOW w AS (ORDER BY a)"),
    "MATCH_RECOGNIZE (PARTITION BY a ORDER BY a MEASURES A.a AS b ONE ROW PER MATCH "
    "PATTERN (^ A{2,3}? | PERMUTE(B, C) {- D -} $) DEFINE A AS true) AS m",
)

# Operands of types that Trino does not accept, with the beginning of its error.
REFUSED = {
    "SELECT 1 FROM rates WHERE year = '2026'": (
        "TYPE_MISMATCH: line 1:27: Cannot apply operator: integer = varchar"
    ),
    "SELECT 1 FROM rates WHERE started_at > '2026-11-20'": (
        "TYPE_MISMATCH: line 1:27: Cannot apply operator: timestamp(3) > varchar"
    ),
    "SELECT 1 FROM rates WHERE samples": (
        "TYPE_MISMATCH: line 1:27: WHERE clause must evaluate to a boolean: actual type integer"
    ),
    "SELECT 1 FROM rates WHERE year IN ('2026')": (
        "TYPE_MISMATCH: line 1:27: IN value and list items must be the same type or coercible"
    ),
    "SELECT 1 FROM rates WHERE year BETWEEN '1' AND '2'": (
        "TYPE_MISMATCH: line 1:27: Cannot check if integer is BETWEEN varchar and varchar"
    ),
    "SELECT 1 FROM rates WHERE samples LIKE '1%'": "TYPE_MISMATCH: line 1:27: Left side",
    "SELECT 1 FROM rates AS a JOIN rates AS b ON a.year": (
        "TYPE_MISMATCH: line 1:45: JOIN ON clause must evaluate to a boolean: integer"
    ),
    "SELECT run_id + 1 FROM rates": (
        "TYPE_MISMATCH: line 1:8: Cannot apply operator: varchar + integer"
    ),
    "SELECT -run_id FROM rates": "TYPE_MISMATCH: line 1:9: Cannot negate varchar",
    "SELECT NOT samples FROM rates": "TYPE_MISMATCH: line 1:12: Logical expression term",
    "SELECT started_at + started_at FROM rates": (
        "TYPE_MISMATCH: line 1:8: Cannot apply operator: timestamp(3) + timestamp(3)"
    ),
    "SELECT run_id || samples FROM rates": (
        "FUNCTION_NOT_FOUND: line 1:18: Unexpected parameters (integer) for function concat"
    ),
    "SELECT lower(samples) FROM rates": (
        "FUNCTION_NOT_FOUND: line 1:8: Unexpected parameters (integer) for function "
        "lower. Expected: lower(varchar)"
    ),
    "SELECT lower() FROM rates": "FUNCTION_NOT_FOUND: line 1:8: Unexpected parameters ()",
    "SELECT coalesce(value, run_id) FROM rates": (
        "FUNCTION_NOT_FOUND: line 1:8: Unexpected parameters (double, varchar)"
    ),
    "SELECT CASE WHEN true THEN 1 ELSE 'a' END": "TYPE_MISMATCH: line 1:35: All CASE results",
    "SELECT CASE WHEN 1 THEN 1 END": "TYPE_MISMATCH: line 1:18: CASE WHEN clause",
    "SELECT CASE 1 WHEN 'a' THEN 1 END": "TYPE_MISMATCH: line 1:20: CASE operand type",
    "SELECT 1 UNION SELECT 'a'": (
        "TYPE_MISMATCH: line 1:23: column 1 in UNION query has incompatible types: integer, varchar"
    ),
    "SELECT 1 UNION SELECT 1, 2": "TYPE_MISMATCH: line 1:8: UNION query has different number",
    "SELECT DATE '2020-01-01' + INTERVAL '1' hour": "TYPE_MISMATCH: line 1:13: Cannot add",
}


class Drawn(NamedTuple):
    """An expression in Trino's SQL and in DuckDB's, and how tightly its last operation binds."""

    trino: str
    duckdb: str
    is_double: bool
    binding: int


_INTEGERS = {"1": 1, "2": 2, "3": 3, "12": 12, "007": 7, "0x1F": 31, "0b1_01": 5, "1_000": 1000}
_DOUBLES = {text: float(text) for text in ("1e3", "2e3", "3E+2", "25e-1", "1.5e0", ".5e1", "5.e0")}
_BINDINGS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
_TIGHTEST = 3


def arithmetic(chance: random.Random) -> Drawn:
    """Return an expression of arithmetic with as few brackets and blanks as it needs."""
    return _drawn(chance, chance.randrange(1, 5))


def in_duckdb(connection: duckdb.DuckDBPyConnection, drawn: Drawn) -> Any:
    """Return a value; None if DuckDB has none, since it divides by zero or overflows."""
    try:
        ((value,),) = connection.execute(f"SELECT {drawn.duckdb}").fetchall()
    except (duckdb.OutOfRangeException, duckdb.InvalidInputException):
        return None
    return value


def _drawn(chance: random.Random, depth: int) -> Drawn:
    if depth == 0 or chance.random() < 0.1:
        return _number(chance)
    inner = _drawn(chance, depth - 1)
    kind = chance.random()
    if kind < 0.1:
        return Drawn(f"({inner.trino})", inner.duckdb, inner.is_double, _TIGHTEST)
    if kind < 0.2:
        operand = _bracketed(inner, _TIGHTEST)
        return Drawn(f"-{_apart(operand)}", f"(-{inner.duckdb})", inner.is_double, _TIGHTEST)
    return _operation(chance, inner, _drawn(chance, depth - 1))


def _number(chance: random.Random) -> Drawn:
    is_double = chance.random() < 0.5
    text, value = chance.choice(list((_DOUBLES if is_double else _INTEGERS).items()))
    return Drawn(text, f"{value!r}e0" if is_double else str(value), is_double, _TIGHTEST)


def _operation(chance: random.Random, left: Drawn, right: Drawn) -> Drawn:
    sign = chance.choice(list(_BINDINGS))
    binding = _BINDINGS[sign]
    before, after = (chance.choice(("", "", "", " ", "\n", "/**/")) for _ in range(2))
    second = _bracketed(right, binding + 1)
    is_double = left.is_double or right.is_double
    # DuckDB divides integers by //.
    division = "//" if sign == "/" and not is_double else sign
    return Drawn(
        f"{_bracketed(left, binding)}{before}{sign}{after}{_apart(second)}",
        f"({left.duckdb} {division} {right.duckdb})",
        is_double,
        binding,
    )


def _bracketed(value: Drawn, binding: int) -> str:
    return value.trino if value.binding >= binding else f"({value.trino})"


def _apart(operand: str) -> str:
    """Return an operand to stand after a sign: two minus signs would begin a comment."""
    return f" {operand}" if operand.startswith("-") else operand
