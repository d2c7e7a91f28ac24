"""The syntax of queries: Trino's, however much more sqlglot and DuckDB read."""

import random
import re
from contextlib import suppress

import duckdb
import pytest
from sqlglot.dialects.trino import Trino
from trino_syntax import (
    CLAUSES_OF_TRINO,
    FOREIGN,
    NATIVE,
    OF_TRINO,
    arithmetic,
    in_duckdb,
)

from onebox.athena import api as athena
from onebox.athena.syntax import first_mismatch, tokens

_READ = {"DOUBLE": float, "INT": int, "BIGINT": int, "BOOLEAN": lambda text: text == "true"}

# The reserved words of Trino (its documentation, Keywords and identifiers), and those that begin a
# clause after a value or a table.
NO_ALIASES = """
ALTER AND AS BETWEEN BY CASE CAST CONSTRAINT CREATE CROSS CUBE CURRENT_CATALOG CURRENT_DATE
CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER
DEALLOCATE DELETE DESCRIBE DISTINCT DROP ELSE END ESCAPE EXCEPT EXECUTE EXISTS EXTRACT FALSE
FETCH FILTER FOR FROM FULL GROUP GROUPING HAVING IN INNER INSERT INTERSECT INTO IS JOIN
LATERAL LEFT LIKE LIMIT LOCALTIME LOCALTIMESTAMP MATCH_RECOGNIZE NATURAL NOT NULL OFFSET ON OR
ORDER OUTER OVER PREPARE RECURSIVE RIGHT ROLLUP SELECT TABLE TABLESAMPLE THEN TRUE UNION
UNNEST USING VALUES WHEN WHERE WINDOW WITH
"""


@pytest.fixture
def computed(run):
    """A function that returns the values of expressions."""

    def computed(*expressions):
        result = run(f"SELECT {', '.join(expressions)}")
        kinds = [type_.this.value for _, type_ in result.columns]
        return [_READ.get(kind, str)(text) for kind, text in zip(kinds, *result.rows, strict=True)]

    return computed


@pytest.mark.parametrize("statement", FOREIGN)
def test_syntax_of_another_database_is_refused_in_one_sentence(refusal, statement):
    assert "\n" not in refusal(statement)


@pytest.mark.parametrize(("expression", "value"), NATIVE.items())
def test_syntax_of_trino_has_its_value(computed, expression, value):
    assert computed(expression) == [value]


@pytest.mark.parametrize(
    "query",
    [
        *(f"SELECT {expression} FROM t" for expression in OF_TRINO),
        *(f"SELECT a FROM t {clause}" for clause in CLAUSES_OF_TRINO),
    ],
)
def test_syntax_of_trino_is_no_mistake(query):
    assert first_mismatch(tokens(query)) is None


@pytest.mark.parametrize(
    "expression", ["current_timestamp(3)", "localtime", "now() AT TIME ZONE INTERVAL '1' HOUR"]
)
def test_syntax_of_trino_without_a_value_here_is_refused_by_name(refusal, expression):
    assert refusal(f"SELECT {expression}").startswith("NOT_SUPPORTED: ")


def test_arithmetic_has_the_values_of_duckdb(computed, refusal):
    chance = random.Random(17)
    drawn = [arithmetic(chance) for _ in range(200)]
    with duckdb.connect() as connection:
        expected = {each: in_duckdb(connection, each) for each in drawn}
    undefined = [each for each, value in expected.items() if value is None]
    defined = [each for each in expected if expected[each] is not None]
    for first in range(0, len(defined), 100):
        some = defined[first : first + 100]
        values = computed(*(each.trino for each in some))
        assert [*zip(some, map(repr, values), strict=True)] == [
            (each, repr(expected[each])) for each in some
        ]
    for each in undefined[:10]:
        assert refusal(f"SELECT {each.trino}").startswith(("DIVISION_BY_ZERO", "NUMERIC_VALUE"))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT 12abc", "line 1:8: '12abc' is neither a number nor a name; write a blank after"),
        ("SELECT\n  1.5x", "line 2:3: '1.5x' is neither a number nor a name"),
        ("SELECT 1e+", "line 1:8: '1e+' is neither a number nor a name"),
        ("SELECT 1 == 1", "line 1:10: Athena has no '=='; write ="),
        ("SELECT '1'::int", "line 1:11: Athena has no '::'; write CAST(… AS …)"),
        ("SELECT 1 // 2", "line 1:10: Athena has no '//'; write /, which"),
        ("SELECT `a`", "line 1:8: Athena has no '`'; write a name in double quotes"),
        ("SELECT 1 # one", "line 1:10: mismatched input '#'"),
        ("SELECT INTERVAL 1 DAY", "line 1:17: mismatched input '1'"),
        ("SELECT 1\nLIMIT 5, 2", "line 2:8: mismatched input ','"),
        ("SELECT 9223372036854775808", "line 1:8: Invalid numeric literal: 9223372036854775808"),
        (f"SELECT {'1' * 5_000}", "line 1:8: Invalid numeric literal: 11111111111111111111…"),
        (
            "SELECT CAST('1' AS array)",
            "NOT_SUPPORTED: line 1:13: CAST of varchar to array(unknown)",
        ),
        ("SELECT sum(1) OVER", "line 1:19: mismatched input '<EOF>'"),
        ("SELECT sum(1) FILTER WHERE true", "line 1:22: mismatched input 'WHERE'"),
        ("SELECT +'a'", "TYPE_MISMATCH: line 1:9: Cannot negate varchar"),
    ],
)
def test_the_refusal_names_the_place_and_the_way_out(refusal, statement, message):
    assert refusal(statement).startswith(message)


def test_a_refusal_does_not_repeat_a_word_of_a_megabyte(refusal):
    assert len(refusal(f"SELECT 1 FROM t 1{'a' * 200_000}")) < 1_100


def test_a_comment_reaches_no_other_parser(run):
    query = athena.parse("SELECT /* */ 1 -- 'x\n+ 2 /* ; DROP */")
    assert "/*" not in query.sql()
    assert run(query).rows == [["3"]]


@pytest.mark.parametrize("blanks", [" " * 10_000, "--" * 10_000, "/**/" * 10_000])
def test_many_blanks_after_a_word_take_no_longer_than_others(refusal, blanks):
    assert "mismatched input" in refusal(f"SELECT 1 FROM (SELECT 1) GROUP {blanks}")


def test_subqueries_without_names_stand_side_by_side(ask):
    query = "SELECT a + b FROM (SELECT 1 AS a), (SELECT 2 AS b) JOIN (SELECT 2 AS c) ON b = c"
    assert ask(query) == [["3"]]


def test_a_word_of_another_database_is_a_name(catalogue):
    names, words = set(), set(re.findall("[A-Z_]+", " ".join(Trino.Tokenizer.KEYWORDS)))
    for word in sorted(words):
        query = f"SELECT sum(a) {word}, 1 = 1 {word} FROM (SELECT 1 AS a) {word}, (SELECT 2 AS b)"
        with suppress(athena.QueryError):
            found = athena.translate(query, catalogue, database="tidemark")
            assert [column.name for column in found.columns] == [word, word], query
            names.add(word)
    assert words - names == words & {*NO_ALIASES.split()}
    assert len(names) > 190
