"""Every function and operator, compared with the documentation of Trino."""

import pytest

from onebox.athena import api as athena
from onebox.athena.functions import FUNCTIONS

T = "TIMESTAMP '2026-11-20 12:44:55.678'"
D = "DATE '2026-11-20'"
NAN = "(0e0 / 0e0)"

VALUES = [
    # Numbers
    ("7 / 2", "3"),
    ("-7 / 2", "-3"),
    ("7e0 / 2", "3.5"),
    ("1 / 0e0", "Infinity"),
    ("-7 % 3", "-1"),
    ("mod(7, 4)", "3"),
    ("mod(-7.5e0, 2)", "-1.5"),
    ("2 + 3 * 4 - 1", "13"),
    ("2 * 7 / 4 * 2", "6"),
    ("-(2 + 3)", "-5"),
    ("1e0 * 1.5", "1.5"),
    ("abs(-3)", "3"),
    ("abs(-3.5e0)", "3.5"),
    ("ceil(1.2e0)", "2.0"),
    ("ceiling(-1.2e0)", "-1.0"),
    ("ceil(3)", "3"),
    ("floor(-1.2e0)", "-2.0"),
    ("floor(3)", "3"),
    ("round(2.5e0)", "3.0"),
    ("round(-2.5e0)", "-3.0"),
    ("round(3)", "3"),
    ("round(2.345e0, 2)", "2.35"),
    ("round(1.005e0, 2)", "1.0"),
    ("sign(-2)", "-1"),
    ("sign(2.5e0)", "1.0"),
    ("sqrt(2)", "1.4142135623730951"),
    ("sqrt(-1)", "NaN"),
    ("exp(0)", "1.0"),
    ("ln(1)", "0.0"),
    ("ln(0)", "-Infinity"),
    ("log10(1000)", "3.0"),
    ("power(2, 10)", "1024.0"),
    ("pow(2, -1)", "0.5"),
    (f"is_nan({NAN})", "true"),
    ("is_nan(1)", "false"),
    # NaN is neither equal, less nor greater, and the last choice of greatest and least.
    (f"{NAN} = {NAN}", "false"),
    (f"{NAN} <> {NAN}", "true"),
    (f"{NAN} > 1", "false"),
    (f"{NAN} >= 1", "false"),
    (f"{NAN} < 1", "false"),
    (f"{NAN} <= 1", "false"),
    (f"{NAN} = CAST(NULL AS double)", None),
    (f"{NAN} IN ({NAN}, 1e0)", "false"),
    (f"{NAN} BETWEEN 0 AND 1", "false"),
    (f"NOT {NAN} BETWEEN 0 AND 1", "true"),
    (f"{NAN} IS DISTINCT FROM {NAN}", "false"),
    (f"greatest({NAN}, 1e0)", "1.0"),
    (f"least({NAN}, 1e0)", "1.0"),
    (f"nullif({NAN}, {NAN})", "NaN"),
    # Conditions
    ("coalesce(NULL, NULL, 3)", "3"),
    ("coalesce(NULL, 2.5e0)", "2.5"),
    ("nullif(3, 3)", None),
    ("nullif(3, 4)", "3"),
    ("nullif('a', 'a')", None),
    ("nullif(2e0, 2)", None),
    ("if(1 < 2, 'a', 'b')", "a"),
    ("if(1 > 2, 'a')", None),
    ("greatest(1, 3, 2)", "3"),
    ("greatest('a', 'b')", "b"),
    ("greatest(1, NULL)", None),
    ("greatest(1e0, NULL)", None),
    ("least(1, 3, 2e0)", "1.0"),
    ("least(NULL, 1)", None),
    ("CASE WHEN 1 > 2 THEN 'a' WHEN NULL THEN 'b' ELSE 'c' END", "c"),
    ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "b"),
    ("NULL IS NULL", "true"),
    ("1 IS NOT NULL", "true"),
    ("1 IS DISTINCT FROM NULL", "true"),
    ("1 IS NOT DISTINCT FROM NULL", "false"),
    ("3 BETWEEN 1 AND 3", "true"),
    ("3 NOT BETWEEN 1 AND 3", "false"),
    ("3 NOT IN (1, 2)", "true"),
    ("3 IN (1, NULL)", None),
    ("true AND NULL", None),
    ("false AND NULL", "false"),
    # Texts
    ("'a' || 'b' || 'c'", "abc"),
    ("'a' || NULL", None),
    ("concat('a', 'b', 'c')", "abc"),
    ("concat('a', NULL)", None),
    ("'it''s'", "it's"),
    ("'a%' LIKE 'a!%' ESCAPE '!'", "true"),
    ("'abc' LIKE 'a_c'", "true"),
    ("'abc' NOT LIKE 'A%'", "true"),
    ("'a%' NOT LIKE 'a!%' ESCAPE '!'", "false"),
    ("lower('AbC')", "abc"),
    ("upper('AbC')", "ABC"),
    ("length('héllo')", "5"),
    ("substr('hello', 2)", "ello"),
    ("substr('hello', 2, 3)", "ell"),
    ("substring('hello', -2)", "lo"),
    ("substring('hello', -9)", ""),
    ("substr('hello', 0)", ""),
    ("substr('hello', 9)", ""),
    ("substr('hello', 2, -1)", ""),
    ("substr('hello', 2, 99)", "ello"),
    ("trim(' \t a \n')", "a"),
    ("ltrim(' a ')", "a "),
    ("rtrim(' a ')", " a"),
    ("replace('abcabc', 'b', 'xx')", "axxcaxxc"),
    ("split_part('a-b-c', '-', 2)", "b"),
    ("split_part('a-b-c', '-', 4)", None),
    ("strpos('hello', 'l')", "3"),
    ("strpos('hello', 'z')", "0"),
    ("starts_with('hello', 'he')", "true"),
    ("format('%,d', 1234567)", "1,234,567"),
    ("format('%,d', BIGINT '-9223372036854775808')", "-9,223,372,036,854,775,808"),
    ("format('%,d', CAST(NULL AS bigint))", "null"),
    (r"regexp_like('1a 2b 14m', '\d+b')", "true"),
    (r"regexp_like('1a', '^\d+$')", "false"),
    ("json_extract_scalar('{\"a\": {\"b\": \"x\"}}', '$.a.b')", "x"),
    ("json_extract_scalar('[1, 2, 3]', '$[2]')", "3"),
    ("json_extract_scalar('{\"a\": [1]}', '$.a')", None),
    ("json_extract_scalar('{\"a\": true}', '$.a')", "true"),
    ("json_extract_scalar('{\"a\": null}', '$.a')", None),
    ("json_extract_scalar('no json', '$.a')", None),
    # Time
    (T, "2026-11-20 12:44:55.678"),
    (D, "2026-11-20"),
    (f"date({T})", "2026-11-20"),
    ("current_date > DATE '2026-01-01'", "true"),
    (f"date_trunc('week', {T})", "2026-11-16 00:00:00.000"),
    (f"date_trunc('MONTH', {D})", "2026-11-01"),
    # Whole units, not the boundaries between units.
    ("date_diff('day', TIMESTAMP '2020-01-01 23:00:00', TIMESTAMP '2020-01-02 01:00:00')", "0"),
    ("date_diff('hour', TIMESTAMP '2020-03-01 01:59:59', TIMESTAMP '2020-03-01 00:00:00')", "-1"),
    ("date_diff('day', DATE '2020-03-01', DATE '2020-03-02')", "1"),
    ("date_diff('millisecond', TIMESTAMP '2020-06-01 12:30:45.001', "
     "TIMESTAMP '2020-06-01 12:30:45.123')", "122"),
    ("date_add('month', 1, TIMESTAMP '2020-01-31 08:00:00')", "2020-02-29 08:00:00.000"),
    (f"date_add('DAY', -1, {D})", "2026-11-19"),
    (f"date_add('quarter', 1, {D})", "2027-02-20"),
    (f"date_add('hour', 12, {T})", "2026-11-21 00:44:55.678"),
    (f"{T} + INTERVAL '1' day", "2026-11-21 12:44:55.678"),
    (f"{D} - INTERVAL '1' month", "2026-10-20"),
    (f"{D} + INTERVAL '-1' day", "2026-11-19"),
    (f"date_format({T}, '%Y-%m-%d %H:%i:%s %j %a %b %p 100%%')",
     "2026-11-20 12:44:55 324 Fri Nov PM 100%"),
    (f"date_format({T}, '%y %T %S %M %W')", "26 12:44:55 55 November Friday"),
    (f"to_iso8601({T})", "2026-11-20T12:44:55.678"),
    (f"to_iso8601({D})", "2026-11-20"),
    (f"to_unixtime({T})", "1.795178695678E9"),
    (f"year({D})", "2026"),
    (f"quarter({D})", "4"),
    (f"month({D})", "11"),
    (f"day({D})", "20"),
    (f"hour({T})", "12"),
    (f"minute({T})", "44"),
    (f"second({T})", "55"),
    (f"extract(YEAR FROM {T})", "2026"),
    (f"{D} < {T}", "true"),
    # Casts
    ("CAST('12' AS integer)", "12"),
    ("CAST('-12' AS bigint)", "-12"),
    ("CAST(' 1.5e3 ' AS double)", "1500.0"),
    ("CAST('NaN' AS double)", "NaN"),
    ("CAST('-Infinity' AS double)", "-Infinity"),
    ("CAST('T' AS boolean)", "true"),
    ("CAST('2026-11-20' AS date)", "2026-11-20"),
    ("CAST('2026-11-20 12:44:55.6' AS timestamp)", "2026-11-20 12:44:55.600"),
    ("CAST(2.5e0 AS integer)", "3"),
    ("CAST(-2.5e0 AS bigint)", "-3"),
    ("CAST(7 AS double)", "7.0"),
    ("CAST(7 AS varchar)", "7"),
    ("CAST(true AS varchar)", "true"),
    (f"CAST({T} AS varchar)", "2026-11-20 12:44:55.678"),
    (f"CAST({D} AS varchar)", "2026-11-20"),
    (f"CAST({D} AS timestamp)", "2026-11-20 00:00:00.000"),
    ("TRY_CAST('12' AS integer)", "12"),
    ("TRY_CAST('1_2' AS integer)", None),
    ("TRY_CAST(' 12' AS bigint)", None),
    ("TRY_CAST('inf' AS double)", None),
    ("TRY_CAST('yes' AS boolean)", None),
    ("TRY_CAST('99999999999' AS integer)", None),
    ("TRY_CAST('2026-02-30' AS date)", None),
    # Arrays
    ("ARRAY[1, 2, NULL]", "[1, 2, null]"),
    ("cardinality(ARRAY['a', NULL])", "2"),
    ("contains(ARRAY['a', 'b'], 'b')", "true"),
    ("contains(ARRAY['a', 'b'], 'c')", "false"),
    ("contains(ARRAY['a', NULL], 'c')", None),
    ("contains(NULL, 'c')", None),
    ("arrays_overlap(ARRAY['a'], NULL)", None),
    ("arrays_overlap(ARRAY['a', NULL], ARRAY['b', 'a'])", "true"),
    ("arrays_overlap(ARRAY['a'], ARRAY['b', 'c'])", "false"),
    ("arrays_overlap(ARRAY['a', NULL], ARRAY['b', NULL])", None),
    ("element_at(ARRAY['a', 'b'], 2)", "b"),
    ("element_at(ARRAY['a', 'b'], 3)", None),
    ("element_at(ARRAY['a', 'b'], -1)", "b"),
    ("array_join(ARRAY['a', NULL, 'b'], '-')", "a-b"),
    ("array_join(ARRAY[CAST(NULL AS varchar)], '-')", ""),
    ("reduce(ARRAY[5e0, 20e0, 50e0], 0e0, (s, x) -> s + x, s -> s)", "75.0"),
    ("reduce(ARRAY[5e0, NULL], 0e0, (s, x) -> s + x, s -> s)", None),
    ("reduce(ARRAY[5e0, 20e0], 0e0, (s, x) -> s + x * x, s -> s)", "425.0"),
    ("reduce(ARRAY[5e0, 20e0], 0e0, (s, x) -> s + x * s, s -> s)", "0.0"),
    ("reduce(ARRAY[5e0, 20e0], 1e0, (s, x) -> s + x, s -> s)", "26.0"),
    ("reduce(ARRAY[5e0, 20e0], 0e0, (s, x) -> x - s, s -> s)", "15.0"),
    ("reduce(ARRAY[1e16, 1e0, 1e0], 0e0, (s, x) -> s + x, s -> s)", "1.0E16"),
    # Texts of doubles: an exponent from 1e7 on and below 1e-3
    ("9999999.5e0", "9999999.5"),
    ("1e7", "1.0E7"),
    ("-12345678.9e0", "-1.23456789E7"),
    ("0.001e0", "0.001"),
    ("0.00012e0", "1.2E-4"),
    ("0e0", "0.0"),
    ("1e300", "1.0E300"),
]  # fmt: skip

ROWS = "(VALUES (1, 'a', 1e0, true), (2, 'b', 4e0, false), (2, NULL, NULL, NULL)) AS t(n, s, x, b)"
AGGREGATES = [
    ("count(*)", "3"),
    ("count(s)", "2"),
    ("count(DISTINCT n)", "2"),
    ("count(*) FILTER (WHERE n = 2)", "2"),
    ("count_if(b)", "1"),
    ("sum(n)", "5"),
    ("sum(x)", "5.0"),
    ("sum(n) FILTER (WHERE n > 5)", None),
    ("avg(n)", "1.6666666666666667"),
    ("avg(x)", "2.5"),
    ("min(n)", "1"),
    ("max(s)", "b"),
    ("max(x)", "4.0"),
    ("min(x)", "1.0"),
    ("max(CASE WHEN n = 1 THEN 0e0 / 0e0 ELSE x END)", "4.0"),
    ("min(CASE WHEN n = 1 THEN 0e0 / 0e0 ELSE x END)", "4.0"),
    ("max(0e0 / 0e0)", "NaN"),
    ("max_by(s, x)", "b"),
    ("max_by(s, n + coalesce(x, 9))", None),
    ("max_by(s, coalesce(x, 0e0 / 0e0))", "b"),
    ("min_by(s, n)", "a"),
    ("stddev(x)", "2.1213203435596424"),
    ("stddev_samp(x)", "2.1213203435596424"),
    ("stddev_pop(x)", "1.5"),
    ("variance(x)", "4.5"),
    ("var_samp(x)", "4.5"),
    ("var_pop(x)", "2.25"),
    ("stddev(x) FILTER (WHERE n = 1)", None),
    ("bool_and(b)", "false"),
    ("every(b)", "false"),
    ("bool_or(b)", "true"),
    ("arbitrary(s) FILTER (WHERE n = 1)", "a"),
    ("any_value(s) FILTER (WHERE n = 1)", "a"),
    ("array_agg(s ORDER BY s DESC)", "[b, a, null]"),
    ("array_agg(DISTINCT n ORDER BY n)", "[1, 2]"),
    ("array_agg(s) FILTER (WHERE n > 5)", None),
]
WINDOWS = [
    ("row_number() OVER (ORDER BY n, s)", ["1", "2", "3"]),
    ("rank() OVER (ORDER BY n)", ["1", "2", "2"]),
    ("dense_rank() OVER (ORDER BY n DESC)", ["2", "1", "1"]),
    ("percent_rank() OVER (ORDER BY n)", ["0.0", "0.5", "0.5"]),
    ("cume_dist() OVER (ORDER BY n)", ["0.3333333333333333", "1.0", "1.0"]),
    ("lag(s) OVER (ORDER BY n, s)", [None, "a", "b"]),
    ("lag(n, 1, 0) OVER (ORDER BY n, s)", ["0", "1", "2"]),
    ("lead(n, 2) OVER (ORDER BY n, s)", ["2", None, None]),
    ("first_value(s) OVER (ORDER BY n, s)", ["a", "a", "a"]),
    ("last_value(n) OVER (ORDER BY n)", ["1", "2", "2"]),
    ("sum(n) OVER (ORDER BY n, s ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", ["1", "3", "4"]),
    ("max(x) OVER (PARTITION BY n)", ["1.0", "4.0", "4.0"]),
    ("count(*) FILTER (WHERE n = 2) OVER ()", ["2", "2", "2"]),
]


@pytest.fixture(scope="module")
def values():
    """Return the value of each expression, from a query for every 24 of them."""
    found = {}
    for first in range(0, len(VALUES), 24):
        batch = [expression for expression, _ in VALUES[first : first + 24]]
        (row,) = athena.run(f"SELECT {', '.join(batch)}", None, {}).rows
        found |= dict(zip(batch, row, strict=True))
    return found


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_an_expression_has_its_value_in_trino(values, expression, expected):
    assert values[expression] == expected


@pytest.mark.parametrize(("expression", "expected"), AGGREGATES)
def test_an_aggregate_has_its_value_in_trino(ask, expression, expected):
    assert ask(f"SELECT {expression} FROM {ROWS}") == [[expected]]


@pytest.mark.parametrize(("expression", "expected"), WINDOWS)
def test_a_window_function_has_its_values_in_trino(ask, expression, expected):
    rows = ask(f"SELECT {expression}, n, s FROM {ROWS} ORDER BY n, s")
    assert [row[0] for row in rows] == expected


def test_every_function_is_tested():
    texts = [expression.lower() for expression, _ in (*VALUES, *AGGREGATES, *WINDOWS)]
    assert [name for name in FUNCTIONS if not any(f"{name}(" in text for text in texts)] == []


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("7 / 0", "DIVISION_BY_ZERO: Division by zero"),
        ("7 % 0", "DIVISION_BY_ZERO: Division by zero"),
        ("CAST('x' AS integer)", "INVALID_CAST_ARGUMENT: Cannot cast 'x' to INT"),
        ("CAST('1_000' AS bigint)", "INVALID_CAST_ARGUMENT: Cannot cast '1_000' to BIGINT"),
        ("split_part('a', '-', 0)", "INVALID_FUNCTION_ARGUMENT: Index must be greater than zero"),
        ("element_at(ARRAY[1], 0)", "INVALID_FUNCTION_ARGUMENT: SQL array indices start at 1"),
        ("2147483647 + 1", "NUMERIC_VALUE_OUT_OF_RANGE: Overflow in addition of INT32"),
    ],
)
def test_an_error_has_the_message_of_trino(refusal, expression, reason):
    assert refusal(f"SELECT {expression}").startswith(reason)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("replace('a', '', 'b')", "NOT_SUPPORTED: replace of an empty text"),
        ("split_part('a', '', 1)", "NOT_SUPPORTED: split_part with an empty delimiter"),
        ("json_extract_scalar('1.50', '$')", "NOT_SUPPORTED: json_extract_scalar of a number with"),
        ("json_extract_scalar('1', '$..a')", "NOT_SUPPORTED: line 1:8: path '$..a' of json_extr"),
        ("date_diff('month', DATE '2020-01-31', DATE '2020-02-29')",
         "NOT_SUPPORTED: line 1:8: unit 'month' of date_diff is not supported on one machine"),
        ("date_format(DATE '2020-01-31', '%f')",
         "NOT_SUPPORTED: line 1:8: format '%f' of date_format is not supported on one machine"),
        ("format('%s', 1)",
         "NOT_SUPPORTED: line 1:8: format '%s' of format is not supported on one machine"),
        ("date_trunc(lower('DAY'), DATE '2020-01-31')",
         "NOT_SUPPORTED: line 1:8: A unit of date_trunc that is not a literal"),
        ("reduce(ARRAY[1e0], 0e0, (s, x) -> s + x, s -> s / 2)", "NOT_SUPPORTED: line 1:8: reduce"),
        ("CAST(1.5e0 AS varchar)", "NOT_SUPPORTED: line 1:13: CAST of double to"),
        ("CAST('a' AS varchar(3))", "NOT_SUPPORTED: line 1:13: CAST to VARCHAR(3)"),
        ("TIMESTAMP '2026-11-20 12:44:55.123456'", "NOT_SUPPORTED: line 1:18: A timestamp of 6"),
    ],
)  # fmt: skip
def test_a_call_that_would_differ_from_trino_is_refused_by_name(refusal, expression, reason):
    assert refusal(f"SELECT {expression}").startswith(reason)


@pytest.mark.parametrize(
    "name",
    [
        *("map_agg", "approx_percentile", "approx_distinct", "try", "now"),
        *("regexp_extract", "from_unixtime", "read_csv", "list_reduce"),
    ],
)
def test_an_unsupported_function_is_refused_by_name(refusal, name):
    message = f"NOT_SUPPORTED: line 1:8: Function '{name}' is not supported on one machine"
    assert refusal(f"SELECT {name}(1)") == message
