"""Every function and operator has its value of Trino, and its text; other calls are refused."""

import math
import struct
from itertools import chain

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from trino_functions import AGGREGATES, ROWS, VALUES, WINDOWS

from onebox.athena import api as athena
from onebox.athena.execution import double_text
from onebox.athena.functions import FUNCTIONS


def asked(expressions, source=""):
    """Return the rows of queries for 24 expressions at a time, joined."""
    parts = (expressions[first : first + 24] for first in range(0, len(expressions), 24))
    found = [athena.run(f"SELECT {', '.join(part)} {source}", None, {}).rows for part in parts]
    return [[*chain.from_iterable(rows)] for rows in zip(*found, strict=True)]


@pytest.fixture(scope="module")
def values():
    """Return the value of each expression."""
    expressions = [expression for expression, _ in VALUES]
    found = dict(zip(expressions, *asked(expressions), strict=True))
    aggregates = [expression for expression, _ in AGGREGATES]
    return found | dict(zip(aggregates, *asked(aggregates, f"FROM {ROWS}"), strict=True))


@pytest.mark.parametrize(("expression", "expected"), [*VALUES, *AGGREGATES])
def test_an_expression_has_its_value_in_trino(values, expression, expected):
    assert values[expression] == expected


def test_window_functions_have_their_values_in_trino():
    rows = asked([expression for expression, _ in WINDOWS], f"FROM {ROWS} ORDER BY n, s")

    assert [list(column) for column in zip(*rows, strict=True)] == [each for _, each in WINDOWS]


def test_a_mean_over_an_ordered_window_adds_in_its_order():
    numbers = [math.exp(number % 7) / 3 for number in range(40)]
    total = 0.0
    for number in numbers:
        total += number
    places = [*enumerate(numbers)]
    mean = "avg(x) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"

    for stored in (places, places[::-1], places[1::2] + places[::2]):
        rows = ", ".join(f"({place}, CAST('{number}' AS double))" for place, number in stored)
        found = asked([mean], f"FROM (VALUES {rows}) AS t(place, x)")
        assert {text for (text,) in found} == {double_text(total / len(numbers))}


def test_every_function_is_tested():
    texts = [expression.lower() for expression, _ in (*VALUES, *AGGREGATES, *WINDOWS)]
    # The others are syntax, or need a GROUP BY.
    names = filter(str.isidentifier, FUNCTIONS.keys() - {"grouping"})
    assert [name for name in names if not any(f"{name}(" in text for text in texts)] == []


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("7 / 0", "DIVISION_BY_ZERO: Division by zero"),
        ("7 % 0", "DIVISION_BY_ZERO: Division by zero"),
        ("CAST('x' AS integer)", "INVALID_CAST_ARGUMENT: Cannot cast 'x' to INT"),
        ("CAST('1_000' AS bigint)", "INVALID_CAST_ARGUMENT: Cannot cast '1_000' to BIGINT"),
        ("split_part('a', '-', 0)", "INVALID_FUNCTION_ARGUMENT: Index must be greater than zero"),
        ("lpad('a', -1, 'b')", "INVALID_FUNCTION_ARGUMENT: Target length must be in the range"),
        ("rpad('a', 1, '')", "INVALID_FUNCTION_ARGUMENT: Padding string must not be empty"),
        ("split('a', '')", "INVALID_FUNCTION_ARGUMENT: The delimiter may not be the empty string"),
        ("date_parse('a', '%Y')", "INVALID_FUNCTION_ARGUMENT: "),
        ("date_parse('2026 ', '%Y')", "INVALID_FUNCTION_ARGUMENT: Invalid format: 2026 "),
        ("ARRAY[1][2]", "INVALID_FUNCTION_ARGUMENT: Array subscript must be less than or equal to"),
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
        ("date_parse('1 PM', '%h %p')",
         "NOT_SUPPORTED: line 1:8: format '%h %p' of date_parse is not supported on one machine"),
        ("regexp_extract('a', '(a)|b', 1)", "NOT_SUPPORTED: line 1:8: pattern '(a)|b' of regexp_e"),
        ("regexp_replace('a', 'a', '${name}')", "NOT_SUPPORTED: line 1:8: replacement '${name}' "),
        ("date_format(DATE '2020-01-31', '%v')",
         "NOT_SUPPORTED: line 1:8: format '%v' of date_format is not supported on one machine"),
        ("format('%x', 1)",
         "NOT_SUPPORTED: line 1:8: format '%x' of format is not supported on one machine"),
        ("format('%s', 1e0)", "NOT_SUPPORTED: line 1:21: format '%s' of double is not"),
        ("format_datetime(DATE '2026-11-20', 'EEE')", "NOT_SUPPORTED: line 1:8: format 'EEE' of f"),
        ("current_timestamp AT TIME ZONE 'CET'", "NOT_SUPPORTED: line 1:39: zone 'CET' of at_tim"),
        ("from_iso8601_timestamp('2026-11-20T12:44+01:00')", "NOT_SUPPORTED: from_iso8601_timest"),
        ("INTERVAL '1' MONTH * 2", "NOT_SUPPORTED: line 1:17: Arithmetic of months"),
        ("date_trunc(lower('DAY'), DATE '2020-01-31')",
         "NOT_SUPPORTED: line 1:8: A unit of date_trunc that is not a literal"),
        ("reduce(ARRAY[1e0], 0e0, (s, x) -> s + x, s -> s / 2)", "NOT_SUPPORTED: line 1:8: reduce"),
        ("CAST('a' AS varchar(3))", "NOT_SUPPORTED: line 1:13: CAST to VARCHAR(3)"),
        ("TIMESTAMP '2026-11-20 12:44:55.123456'", "NOT_SUPPORTED: line 1:18: A timestamp of 6"),
    ],
)  # fmt: skip
def test_a_call_that_would_differ_from_trino_is_refused_by_name(refusal, expression, reason):
    assert refusal(f"SELECT {expression}").startswith(reason)


@pytest.mark.parametrize(
    "name",
    [
        *("multimap_agg", "read_csv", "list_reduce"),
    ],
)
def test_an_unsupported_function_is_refused_by_name(refusal, name):
    message = f"NOT_SUPPORTED: line 1:8: Function '{name}' is not supported on one machine"
    assert refusal(f"SELECT {name}(1)") == message


@fuzz(500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_reads_as_the_same_double(value):
    assert struct.pack("d", float(double_text(value))) == struct.pack("d", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # Java documentation, Double.toString
        (100.0, "100.0"),
        (-0.0, "-0.0"),
        (1e7, "1.0E7"),
        (1.23456789e8, "1.23456789E8"),
        (9_999_999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (-1.5e-10, "-1.5E-10"),
        (5e-324, "5.0E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_a_double_has_its_text_in_java(value, expected):
    assert double_text(value) == expected
