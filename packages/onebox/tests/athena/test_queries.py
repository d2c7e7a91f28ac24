"""Whole queries: their results and the messages of refused queries."""

import sys

import pytest
from tables import LOCATION
from trino_syntax import REFUSED

from onebox.athena import api as athena
from onebox.athena import execution
from onebox.athena.values import trino_name


@pytest.fixture(autouse=True)
def _stored(objects):
    rows = {
        ("rocksdb", 2025): [("a", 2.0, 1), ("b", None, 2)],
        ("rocksdb", 2026): [("c", 4.0, 7)],
        ("sleeper", 2026): [("d", 3.0, None)],
    }
    for (suite, year), values in rows.items():
        objects.put(
            f"{LOCATION}suite={suite}/year={year}/run.jsonl.gz",
            *(
                {"run_id": run_id, "value": value, "samples": samples, "versions": [run_id, "x"]}
                for run_id, value, samples in values
            ),
        )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT run_id FROM rates ORDER BY value", [["a"], ["d"], ["c"], ["b"]]),
        ("SELECT run_id FROM rates ORDER BY value DESC", [["c"], ["d"], ["a"], ["b"]]),
        ("SELECT run_id FROM rates ORDER BY value NULLS FIRST LIMIT 1", [["b"]]),
        ("SELECT run_id AS r FROM rates ORDER BY r DESC OFFSET 1 LIMIT 2", [["c"], ["b"]]),
        ("SELECT suite, count(*) FROM rates GROUP BY suite ORDER BY 2 DESC",
         [["rocksdb", "3"], ["sleeper", "1"]]),
        ("SELECT suite, sum(samples) FROM rates GROUP BY 1 HAVING sum(samples) > 5",
         [["rocksdb", "10"]]),
        ("SELECT DISTINCT year FROM rates ORDER BY year", [["2025"], ["2026"]]),
        ("SELECT run_id FROM rates WHERE samples / 2 = 3", [["c"]]),
        ("SELECT run_id FROM rates WHERE value BETWEEN 2 AND 3.5 ORDER BY 1", [["a"], ["d"]]),
        ("SELECT r.run_id FROM rates r JOIN rates s ON r.value = s.value + 1 ORDER BY 1",
         [["c"], ["d"]]),
        ("SELECT run_id, year FROM rates JOIN (SELECT 2025 AS year) AS y USING (year) ORDER BY 1",
         [["a", "2025"], ["b", "2025"]]),
        ("SELECT max_suite.best - r.value FROM rates AS r JOIN (SELECT suite, max(value) AS best "
         "FROM rates GROUP BY suite) AS max_suite ON r.suite = max_suite.suite "
         "WHERE r.run_id = 'a'", [["2.0"]]),
        ("SELECT run_id FROM rates AS r WHERE value = (SELECT max(value) FROM rates AS s "
         "WHERE s.suite = r.suite) ORDER BY 1", [["c"], ["d"]]),
        ("SELECT run_id FROM rates AS r WHERE NOT EXISTS (SELECT 1 FROM rates AS s "
         "WHERE s.value > r.value)", [["c"], ["b"]]),
        ("SELECT run_id FROM rates WHERE suite NOT IN (SELECT suite FROM rates WHERE year = 2025)",
         [["d"]]),
        ("SELECT v, n FROM rates CROSS JOIN UNNEST(versions) WITH ORDINALITY AS t(v, n) "
         "WHERE run_id = 'a' ORDER BY n", [["a", "1"], ["x", "2"]]),
        ("SELECT 1 UNION ALL SELECT 2e0 ORDER BY 1", [["1.0"], ["2.0"]]),
        ("SELECT run_id FROM rates EXCEPT SELECT 'a' INTERSECT SELECT 'a' ORDER BY 1",
         [["b"], ["c"], ["d"]]),
        ("SELECT r.run_id FROM awsdatacatalog.tidemark.rates AS r WHERE year = 2025 "
         "AND value IS NULL", [["b"]]),
        ("SELECT run_id || ?, ? FROM rates WHERE samples = ?", [["ax", "2020-01-01", ]]),
        ("select 1;", [["1"]]),
    ],
)  # fmt: skip
def test_a_query_has_its_result_in_athena(ask, query, expected):
    parameters = ["'x'", "DATE '2020-01-01'", "1"] if "?" in query else []
    rows = ask(query, *parameters)
    assert rows == expected or ("ORDER" not in query and sorted(rows) == sorted(expected))


def test_columns_have_the_names_and_types_of_the_query(run):
    query = (
        "SELECT run_id, Value AS Best, count(*) OVER (), versions, NULL, DATE '2020-01-01', "
        "true, samples, records, started_at FROM rates"
    )
    assert [(name, trino_name(type_)) for name, type_ in run(query).columns] == [
        ("run_id", "varchar"),
        ("Best", "double"),
        ("_col2", "bigint"),
        ("versions", "array(varchar)"),
        ("_col4", "unknown"),
        ("_col5", "date"),
        ("_col6", "boolean"),
        ("samples", "integer"),
        ("records", "bigint"),
        ("started_at", "timestamp(3)"),
    ]


def test_an_integer_and_a_larger_one_have_the_type_of_the_larger(run):
    both = "CAST(1 AS BIGINT)"

    query = f"SELECT CASE WHEN true THEN 0 ELSE {both} END, CASE WHEN true THEN {both} ELSE 0 END"
    assert [trino_name(type_) for _, type_ in run(query).columns] == ["bigint", "bigint"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT valu FROM rates",
         "COLUMN_NOT_FOUND: line 1:8: Column 'valu' cannot be resolved or requester is not "
         "authorized to access requested resources"),
        ("SELECT r.valu\nFROM rates AS r", "COLUMN_NOT_FOUND: line 1:8: Column 'r.valu' cannot"),
        ("SELECT run_id,\n  s.value FROM rates", "COLUMN_NOT_FOUND: line 2:3: Column 's.value'"),
        ("SELECT value AS v FROM rates WHERE v > 1", "COLUMN_NOT_FOUND: line 1:36: Column 'v'"),
        ("SELECT run_id FROM rates AS a JOIN rates AS b ON a.year = b.year",
         "AMBIGUOUS_NAME: line 1:8: Column 'run_id' is ambiguous"),
        ("SELECT 1 FROM nothing",
         "TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.tidemark.nothing' does not exist"),
        ("SELECT 1 FROM nowhere.rates", "SCHEMA_NOT_FOUND: line 1:15: Schema 'nowhere' does not"),
        ("SELECT 1 FROM other.tidemark.rates", "NOT_SUPPORTED: line 1:15: Catalogue 'other'"),
        ("SELECT run_id, value FROM rates GROUP BY run_id", "SYNTAX_ERROR: column \"value\" must"),
        *REFUSED.items(),
        ("SELECT 1.5 / 0", "DIVISION_BY_ZERO: Division by zero"),
        ("SELECT sum(samples) OVER w FROM rates",
         "INVALID_WINDOW_REFERENCE: Cannot resolve WINDOW name w"),
        ("SELECT 2.5 % 0", "DIVISION_BY_ZERO: Division by zero"),
        (f"SELECT {'9' * 38}.0", "line 1:8: Invalid numeric literal"),
        ("SELECT map(ARRAY['a'], ARRAY[1])['b']", "INVALID_FUNCTION_ARGUMENT: Key not present in"),
        ("SELECT k FROM UNNEST(map(ARRAY[1], ARRAY[1])) AS t(k, v)",
         "NOT_SUPPORTED: line 1:22: UNNEST of a map"),
        ("SELECT sum(samples) OVER (), lower(run_id) OVER () FROM rates",
         "NOT_SUPPORTED: line 1:30: WINDOW of LOWER"),
        ("SELECT count(*) FILTER (WHERE true) OVER () FROM rates",
         "NOT_SUPPORTED: line 1:8: FILTER is not yet supported for window functions"),
        ("SELECT started_at * started_at FROM rates", "TYPE_MISMATCH: line 1:8: Cannot apply"),
        ("SELECT started_at * INTERVAL '1' DAY FROM rates", "TYPE_MISMATCH: line 1:8: Cannot app"),
        ("SELECT max(value ORDER BY value) FROM rates", "NOT_SUPPORTED: line 1:8: ORDER BY in max"),
        ("SELECT lower(DISTINCT run_id) FROM rates", "NOT_SUPPORTED: line 1:8: DISTINCT in lower"),
        ("SELECT value IN (SELECT value FROM rates) FROM rates", "NOT_SUPPORTED: line 1:8: IN "),
        ("SELECT CASE value WHEN 1e0 THEN 1 END FROM rates", "NOT_SUPPORTED: line 1:13: CASE of a"),
        ("SELECT count(x -> x) FROM rates", "NOT_SUPPORTED: line 1:8: A lambda in count"),
    ],
)  # fmt: skip
def test_a_refused_query_has_the_message_of_athena(refusal, query, message):
    assert refusal(query).startswith(message)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        *((statement, f"NOT_SUPPORTED: {statement.split()[0]} is not supported on one machine")
          for statement in (
              "CREATE TABLE x AS SELECT 1", "INSERT INTO rates SELECT 1", "DROP TABLE rates",
              "UNLOAD (SELECT 1) TO 's3://b/'", "SHOW VIEWS", "MSCK REPAIR x",
              "DELETE FROM rates", "EXPLAIN SELECT 1", "PREPARE a FROM SELECT 1", "EXECUTE a",
              "ALTER TABLE rates ADD COLUMNS (a int)",
          )),
        *((f"\n  {word} 1", f"line 2:3: mismatched input '{word}'")
          for word in ("SELEC", "SET", "ATTACH", "COPY")),
        ("WITH x AS (SELECT 1) DELETE FROM rates", "line 1:22: mismatched input 'DELETE'"),
        ("SELECT 1; SELECT 2", "NOT_SUPPORTED: Only one sql statement is allowed. Got: 2"),
        ("", "NOT_SUPPORTED: Only one sql statement is allowed. Got: 0"),
        ("SELECT FROM rates", "line 1:8: mismatched input 'FROM'"),
        ("SELECT 1, FROM rates", "line 1:11: mismatched input 'FROM'"),
        ("SELECT a b c FROM rates", "line 1:12: mismatched input 'c'"),
        ("SELECT (1", "line 1:10: mismatched input '<EOF>'"),
        ("SELECT 'a", "line 1:8: mismatched input ' (a quote without its second one)"),
        (f"SELECT {'(' * 5_000}1{')' * 5_000}", "NOT_SUPPORTED: A query with this many brackets"),
        ("SELECT * FROM rates TABLESAMPLE BERNOULLI (10)", "NOT_SUPPORTED: line 1:15: TABLE w"),
        ("SELECT 1 FROM rates NATURAL JOIN rates AS b", "NOT_SUPPORTED: line 1:34: JOIN with N"),
        ("WITH RECURSIVE a(n) AS (SELECT 1) SELECT n FROM a", "NOT_SUPPORTED: line 1:16: WITH"),
        ("SELECT first_value(value) IGNORE NULLS OVER () FROM rates", "NOT_SUPPORTED: line 1:8: "),
        ("SELECT 1 = ANY (SELECT 1)", "NOT_SUPPORTED: line 1:24: ANY"),
        ("SELECT current_time", "NOT_SUPPORTED: CURRENT_TIME is not supported on one machine"),
        ("SELECT current_user", "NOT_SUPPORTED: CURRENT_USER is not supported on one machine"),
        ("SELECT JSON '1'", "NOT_SUPPORTED: line 1:13: JSON is not supported on one machine"),
        (
            "SELECT 1 FROM runs CROSS JOIN LATERAL (SELECT 2) AS t(a)",
            "NOT_SUPPORTED: line 1:47: LATERAL is not supported on one machine",
        ),
        ("SHOW PARTITIONS rates", "NOT_SUPPORTED: SHOW PARTITIONS lists no projected partitions"),
        ("SELECT ?", "INVALID_PARAMETER_USAGE: Incorrect number of parameters: expected"),
    ],
)  # fmt: skip
def test_an_unsupported_query_is_not_started(query, message):
    with pytest.raises(athena.MalformedQuery) as raised:
        athena.parse(query)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("SHOW TABLES", [["rates"]]),
        ("show tables in tidemark 'r*'", [["rates"]]),
        ("SHOW TABLES LIKE 'x%';", []),
        ("SHOW DATABASES", [["tidemark"]]),
        ("SHOW COLUMNS FROM tidemark.rates", None),
        ("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'tidemark'", [["1"]]),
        ("VALUES (1, 'a'), (2, 'b')", [["1", "a"], ["2", "b"]]),
        ("SELECT n FROM (VALUES 3, 1, 2) AS t(n) ORDER BY n FETCH FIRST ROW ONLY", [["1"]]),
        ("SELECT a, sum(a) OVER w, sum(a) OVER (v ORDER BY a DESC), count(*) OVER V FROM "
         "(VALUES 1, 2) AS t(a) WINDOW v AS (PARTITION BY a / 5), w AS (v ORDER BY a) ORDER BY 1",
         [["1", "1", "3", "2"], ["2", "3", "2", "2"]]),
        ("SELECT a, grouping(a) FROM (VALUES 1, 1) AS t(a) GROUP BY ROLLUP (a) ORDER BY 1",
         [["1", "0"], [None, "1"]]),
        ("SELECT a FROM (VALUES 0.5, 2) AS t(a) ORDER BY 1", [["0.5"], ["2.0"]]),
        ("SELECT 1.5 AS a UNION ALL SELECT 2 ORDER BY 1", [["1.5"], ["2.0"]]),
        ("SELECT a, count(*) FROM (VALUES 1, 1) AS t(a) GROUP BY ROLLUP (a) ORDER BY 1",
         [["1", "2"], [None, "2"]]),
        ("SELECT a, b, count(*) FROM (VALUES (1, 2)) AS t(a, b) GROUP BY GROUPING SETS ((a, b), ())"
         " ORDER BY 1", [["1", "2", "1"], [None, None, "1"]]),
    ],
)  # fmt: skip
def test_a_statement_about_the_catalogue_or_in_another_form_is_answered(ask, statement, rows):
    assert ask(statement) == rows or (rows is None and ["value"] in ask(statement))


def test_a_described_table_has_its_columns_and_their_types(run, refusal):
    result = run("DESCRIBE rates")
    assert [name for name, _ in result.columns] == ["col_name", "data_type", "comment"]
    assert ["value", "double", ""] in result.rows
    assert refusal("DESCRIBE nothing") == "TABLE_NOT_FOUND: Table 'nothing' does not exist"


@pytest.mark.parametrize(
    "parameter",
    ["rocksdb", "", "1, 2", "1 FROM rates", "1; DROP TABLE rates", "lower('A')", "(SELECT 1)", "'"],
)
def test_a_parameter_that_is_not_a_literal_is_refused(parameter):
    with pytest.raises(athena.MalformedQuery) as raised:
        athena.parse("SELECT ?", [parameter])
    assert str(raised.value) == (
        f"INVALID_PARAMETER_USAGE: Execution parameter {parameter} is not a literal; "
        "a text is written in single quotes"
    )


def test_a_text_parameter_is_never_read_as_sql(ask):
    assert ask("SELECT ?", "'x''; DROP TABLE rates --'") == [["x'; DROP TABLE rates --"]]


def test_a_query_cannot_read_a_file_of_the_machine(refusal):
    assert refusal('SELECT * FROM "/etc/passwd"').startswith("TABLE_NOT_FOUND")


def test_a_table_needs_a_database(objects, catalogue):
    with pytest.raises(athena.QueryError, match=r"^MISSING_SCHEMA_NAME: line 1:15: Schema must be"):
        athena.run("SELECT 1 FROM rates", objects, catalogue)


def test_a_result_file_has_every_value_in_quotes_and_nothing_for_null(run):
    result = run("SELECT run_id, value, 'say \"hi\", ' AS greeting FROM rates WHERE year = 2025")
    assert athena.csv(result) == (
        b'"run_id","value","greeting"\n"a","2.0","say ""hi"", "\n"b",,"say ""hi"", "\n'
    )


def test_pages_begin_with_the_names_of_the_columns(run):
    result = run("SELECT run_id, value FROM rates WHERE year = 2025 ORDER BY 1")
    first, after = athena.page(result, 0, 2)
    last, end = athena.page(result, after, 2)
    assert [row["Data"] for row in first["Rows"] + last["Rows"]] == [
        [{"VarCharValue": "run_id"}, {"VarCharValue": "value"}],
        [{"VarCharValue": "a"}, {"VarCharValue": "2.0"}],
        [{"VarCharValue": "b"}, {}],
    ]
    assert (after, end) == (2, None)
    types = [column["Type"] for column in last["ResultSetMetadata"]["ColumnInfo"]]
    assert types == ["varchar", "double"]


def test_a_result_with_more_rows_than_one_machine_holds_is_refused(run, monkeypatch):
    monkeypatch.setattr(execution, "MOST_ROWS", 3)
    reason = "EXCEEDED_LOCAL_MEMORY_LIMIT: The result has more than 3 rows, the most on one machine"

    assert len(run("SELECT run_id FROM rates LIMIT 3").rows) == 3
    with pytest.raises(athena.QueryError, match=f"^{reason}$"):
        run("SELECT run_id FROM rates")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("abs(", ")"),
        ("CASE WHEN true THEN ", " END"),
        ("(", ")"),
        ("coalesce(NULL, ", ")"),
        ("CAST(", " AS int)"),
        ("(SELECT ", ")"),
    ],
)
def test_a_hundred_expressions_within_each_other_have_their_value(ask, before, after):
    assert ask(f"SELECT {before * 100}1{after * 100}") == [["1"]]


def test_sixty_subqueries_within_each_other_have_their_rows(ask):
    assert ask(f"SELECT * FROM {'(SELECT * FROM ' * 60}(SELECT 1 AS a){')' * 60}") == [["1"]]


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [("abs(", ")", 500), ("CASE WHEN true THEN ", " END", 500), ("(", ")", 20_000)],
)
def test_more_expressions_within_each_other_are_refused_in_one_sentence(
    refusal, before, after, count
):
    limit = sys.getrecursionlimit()

    assert refusal(f"SELECT {before * count}1{after * count}") == (
        "NOT_SUPPORTED: A query with this many brackets is not supported on one machine"
    )
    assert sys.getrecursionlimit() == limit
