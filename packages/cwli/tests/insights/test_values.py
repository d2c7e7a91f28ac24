import ipaddress
import random
from itertools import product

import duckdb
import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from logs import Logs

from cwli.insights import run, values
from cwli.insights.values import Type, Value

NUMBERS = {
    "12": "12",
    "+1.50": "1.5",
    "-.5": "-0.5",
    "5.": "5",
    "1.25e3": "1250",
    "2E-3": "0.002",
    # DuckDB's casts accept these texts; a single one would spoil an average.
    "nan": None,
    "NaN": None,
    "inf": None,
    "Infinity": None,
    "∞": None,
    "1_000": None,
    "1e999": None,
    "0x10": None,
    "1,000": None,
    " 1": None,
    "1 ": None,
    "": None,
    "٣": None,
}


def test_a_text_is_a_number_only_if_it_is_a_finite_decimal(ask):
    rows = ask("fields @message, @message + 0 as n", *NUMBERS)
    assert {row["@message"]: row.get("n") for row in rows} == NUMBERS


def test_columns_and_expressions_convert_texts_to_the_same_numbers():
    texts = ["".join(letters) for n in range(6) for letters in product("1.+-e_ ", repeat=n)]
    column, expression = (values.number(Value(sql, Type.TEXT)) for sql in ("text", "(text)"))
    select = f"SELECT text, {column}, {expression} FROM (SELECT unnest(?) AS text)"
    different = [row for row in duckdb.execute(select, [texts]).fetchall() if row[1] != row[2]]
    assert different == []


def test_texts_that_are_no_numbers_do_not_spoil_an_average(ask):
    lines = ["1", "∞", "NaN", "nan", "inf", "1_000", "x", "", "4"]
    query = "stats avg(@message) as a, sum(@message) as s, count(@message) as n"
    assert ask(query, *lines) == [{"a": "2.5", "s": "5", "n": "9"}]


@fuzz(40)
@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=200))
def test_a_number_is_shown_as_the_shortest_text_of_the_same_double(tmp_path_factory, numbers):
    store = Logs(tmp_path_factory.mktemp("logs"))
    store.append("g", "s", enumerate(map(repr, numbers)), 0)
    result = run(
        "fields @message + 0 as x | display x | sort @timestamp", store.events(["g"]), 0, 9
    )
    shown = [row[0]["value"] for row in result.rows]
    # Adding zero turns -0.0 into 0.0, here as in the engine.
    assert shown == [repr(number + 0.0).removesuffix(".0") for number in numbers]


# Arithmetic gives a finite number or nothing.
ARITHMETIC = [
    ("7 / 2", "3.5"),
    ("6 / 2", "3"),
    ("1 / 0", None),
    ("0 / 0", None),
    ("1 % 0", None),
    ("1 + 'x'", None),
    ("'2' * '3'", "6"),
    ("1" + "0" * 300 + " * 1" + "0" * 300, None),
    ("10 ^ 20", "1e+20"),
    ("0 ^ -1", None),
    ("-8 ^ 0.5", None),
    ("0.1 + 0.2", "0.30000000000000004"),
    ("-0", "0"),
    ("1 / 3", "0.3333333333333333"),
]


CONDITIONS = [
    # Two numbers are compared as numbers, in any notation, but = compares texts in quotes.
    ("'200' = 200", True),
    ("'200.0' = '200'", False),
    ("'200.0' = 200", True),
    ("'9' < '10'", True),
    ("9 < 10", True),
    ("'1e2' = 100", True),
    # Other values are compared as texts.
    ("'9a' < '10a'", False),
    ("'abc' = 'abc'", True),
    ("'abc' != 'abd'", True),
    # A text that is not a number is neither smaller nor larger than a number.
    ("'a' > 5", False),
    ("'a' < 5", False),
    ("'a' != 5", True),
    ("5 >= 'a'", False),
    ("'A' = 'a'", False),
    ("'10' in [1, '10.0']", False),
    ("'10' in [1, 10.0]", True),
    ("'b' in [1, 'b']", True),
    ("'B' in ['b']", False),
    ("2 in ['2', 3]", True),
    ("'x' not in ['y', 1]", True),
    ("'to S3' like 'S3'", True),
    ("'to S3' like 's3'", False),
    ("'100%' like '%'", True),
    ("'axb' like 'a_b'", False),
    ("'abc' not like 'x'", True),
    ("1234 like '23'", True),
    ("(1 = 1) = 1", True),
    ("@timestamp > 999 and @timestamp < 1001", True),
    ("1 and not 0", True),
]


def test_a_comparison_is_numeric_if_both_sides_are_numbers(values_of):
    assert truths(values_of, CONDITIONS, "line") == CONDITIONS


def truths(values_of, conditions, message, before=""):
    """Return conditions with their values, as (condition, holds)."""
    values = values_of([condition for condition, _ in conditions], message, before)
    assert set(values.values()) <= {"0", "1"}
    return [(condition, value == "1") for condition, value in values.items()]


def test_the_largest_of_times_and_numbers_is_a_number(ask):
    query = "stats max(if(@message = 'end', @timestamp, 0)) as end, max(coalesce(@timestamp, 0))"
    assert ask(query, "begin", "end", "more") == [
        {"end": "2000", "max(coalesce(@timestamp, 0))": "3000"}
    ]


SNOWFLAKE = '{"id": "4611686018427387905", "n": -9007199254740993, "code": "01234", "x": "1.0"}'


OF_SNOWFLAKE = [
    ("id = '4611686018427387904'", False),
    ("id = 4611686018427387904", False),
    ("id > 4611686018427387904", True),
    ("id = 4611686018427387905", True),
    ("id != 4611686018427387906", True),
    ("id in [4611686018427387904, 1]", False),
    ("id in ['4611686018427387905', 1]", True),
    ("id in ['4611686018427387904', 4611686018427387905]", True),
    ("id = concat('46116860184273879', '04')", False),
    ("id > concat('46116860184273879', '04')", True),
    ("n = -9007199254740992", False),
    ("n < -9007199254740992", True),
    ("n in [-9007199254740993]", True),
    ("code = '1234'", False),
    ("code = 1234", True),
    ("code in ['1234']", False),
    ("x = '1'", False),
    ("x = 1", True),
    # A time has no text that a query could name.
    ("@timestamp = '1000'", True),
]


def test_a_text_in_quotes_is_equal_by_its_characters_and_an_integer_by_all_digits(values_of):
    assert truths(values_of, OF_SNOWFLAKE, SNOWFLAKE) == OF_SNOWFLAKE


def test_the_least_and_the_largest_integer_keep_their_digits(ask):
    times = ["1717338360123456789", "1717338360123456790", "1717338360123456788", "7", "-", "7.5"]
    query = "stats max(@message) as high, min(@message) as low"
    assert ask(query, *times) == [{"high": "1717338360123456790", "low": "7"}]
    assert ask(query, *times[:3]) == [{"high": "1717338360123456790", "low": "1717338360123456788"}]
    assert ask(query, *times, "1e300", "-1e300") == [{"high": "1e+300", "low": "-1e+300"}]


OF_MISSING = [
    ("gone = 'x'", False),
    ("gone < 1", False),
    ("gone like 'x'", False),
    ("gone like /x/", False),
    ("gone in ['x', 1]", False),
    ("strcontains(gone, 'x')", False),
    # Not documented; assumed to be negations of the comparisons above.
    ("gone != 'x'", True),
    ("gone not like 'x'", True),
    ("gone not in ['x']", True),
    ("not gone = 'x'", True),
    ("gone = gone", False),
]


def test_a_comparison_with_a_missing_field_fails_and_its_negation_holds(values_of):
    before = "parse @message 'no=*' as gone | "
    assert truths(values_of, OF_MISSING, "line", before) == OF_MISSING


def test_conditions_count_as_one_and_zero(ask):
    # AWS documentation, CloudWatch Logs Insights sample queries: sum of a comparison.
    query = (
        "stats sum(@message = 'b') as b, avg(@message like /a|b/) as ab, "
        "sum(ispresent(@message) + 1) as n, max(strcontains(@message, 'a')) as any"
    )
    assert ask(query, "a", "b", "b", "c") == [{"b": "2", "ab": "0.75", "n": "8", "any": "1"}]


# AWS documentation, CloudWatch Logs Insights query syntax: functions.
FUNCTIONS = [
    ("strlen('añ☃')", "3"),
    ("toupper('aé')", "AÉ"),
    ("tolower('AÉ')", "aé"),
    ("unmask('a')", "a"),
    ("concat('a', 1.50, '', 1 = 1)", "a1.51"),
    ("concat(trim(' a '), '|', ltrim(' b '), '|', rtrim(' c '))", "a|b | c"),
    ("trim('xyaxy', 'yx')", "a"),
    ("substr('hello', 1)", "ello"),
    ("substr('hello', 1, 3)", "ell"),
    ("substr('hello', 9)", ""),
    ("substr('hello', -1)", None),
    ("substr('hello', 'x')", None),
    ("substr('hello', 4294967295)", None),
    ("replace('a.b.c', '.', '')", "abc"),
    ("strcontains('abc', 'bc')", "1"),
    ("isempty('')", "1"),
    ("isempty(' ')", "0"),
    ("isblank(' \t')", "1"),
    ("isblank('x')", "0"),
    ("ispresent(@message)", "1"),
    ("coalesce(@message + 1, 'no number')", "no number"),
    ("abs(-2.5)", "2.5"),
    ("ceil(1.2)", "2"),
    ("floor(-1.2)", "-2"),
    ("greatest(1, '3', 2)", "3"),
    ("greatest(@message, 0)", "0"),
    ("least(2, 1)", "1"),
    ("log(1)", "0"),
    ("log(0)", None),
    ("sqrt(16)", "4"),
    ("sqrt(-1)", None),
    ("round(2.5)", "3"),
    ("round(1234.567, 2)", "1234.57"),
    ("round(1234.567, -2)", "1200"),
    ("fromMillis(1717338360123)", "2024-06-02 14:26:00.123"),
    ("fromMillis('x')", None),
    ("fromMillis(1e1)".replace("1e1", "9" * 30), None),
    ("toMillis(@timestamp)", "1000"),
    ("if(1 = 1, 'a', 2)", "a"),
    ("case(1 = 2, 'a', 1 = 1, 'b', 'c')", "b"),
    # Times and conditions are numbers beside numbers: milliseconds, 1 and 0.
    ("if(1 = 1, @timestamp, 0)", "1000"),
    ("coalesce(@timestamp, 0) + 1", "1001"),
    ("if(1 = 2, 5, 1 = 1)", "1"),
    ("case(1 = 1, @timestamp, '')", "1970-01-01 00:00:01.000"),
    ("case(1 = 2, 'a')", None),
    ("isNumeric('1.5')", "1"),
    ("isNumeric('x')", "0"),
    ("startsWith('abc', 'ab')", "1"),
    ("endsWith('abc', 'ab')", "0"),
    ("urlencode('a b&c')", "a%20b%26c"),
    ("urldecode('a%20b')", "a b"),
    ("urldecode('%ff')", None),
    ("base64decode(base64encode('é'))", "é"),
    ("base64decode('!')", None),
    ("md5('a')", "0cc175b9c0f1b6a831c399e269772661"),
    ("toInt('2.7')", "2"),
    ("round(haversine(0, 0, 0, 180))", "20015"),
    ("decToHex(255.9)", "0xff"),
    ("decToHex(-255)", "-0xff"),
    ("decToHex('x')", None),
    ("hexToDec('0xff')", "255"),
    ("hexToDec('ff')", "255"),
    ("hexToAscii('48656c6c6f')", "Hello"),
    ("hexToAscii('4g')", None),
    ("messageSize('añ☃')", "6"),
    ("strcontains('abc', 'BC', true)", "1"),
    ("strcontains('abc', 'BC', false)", "0"),
    (r"regexReplace('a1b22', '[0-9]+', '#')", "a#b#"),
    (r"regexReplace('a1', '(?P<n>[0-9])', '\\')", "a\\"),
    (r"regexReplace('a1', '[0-9]', @message)", "aline"),
    ("formatDate(fromMillis(1717338360123), '%Y-%m-%d', 'UTC')", "2024-06-02"),
    ("formatDate(1717338360123, '%F %T %b 100%%', 'Asia/Tokyo')", "2024-06-02 23:26:00 Jun 100%"),
    ("strftime(fromMillis(1717338360123), '%H:%M')", "14:26"),
    ("formatDate('x', '%Y')", None),
    ("formatDate(" + "9" * 18 + ", '%Y')", None),
    ("parseDate('2024-06-02', 'yyyy-MM-dd', 'UTC')", "1717286400000"),
    ("parseDate('2024-06-02', 'yyyy-MM-dd', 'Asia/Tokyo')", "1717254000000"),
    ("parseDate('2024-06-02T14:26:00.123Z', \"yyyy-MM-dd'T'HH:mm:ss.SSSX\")", "1717338360123"),
    ("parseDate('02/Jun/2024:16:26:00 +0200', 'dd/MMM/yyyy:HH:mm:ss Z')", "1717338360000"),
    ("parseDate('2/6/24 2 PM', 'd/M/yy h a')", "1717336800000"),
    ("parseDate('2024-06-31', 'yyyy-MM-dd')", None),
    ("parseDate('x', 'yyyy-MM-dd')", None),
    ("hexToDec('g')", None),
    ("queryStartTime()", "0"),
    ("queryEndTime()", "1000999"),
    ("queryTimeRange()", "1000999"),
    ("split('a,b', ',')", '["a","b"]'),
    ("jsonArraySize('[1, 2]')", "2"),
    ("jsonArraySize('x')", None),
    ("jsonArrayContains('[1, 2]', 2)", "1"),
    ("jsonArrayContains('x', 2)", "0"),
    ("jsonArrayContains('{}', 2)", "0"),
    ("jsonStringify(jsonParse('[1]'))", "[1]"),
    # AWS documentation, CloudWatch Logs Insights query syntax: structure types.
    ("strlen(jsonParse('[1]'))", None),
    ("jsonParse('[1]') = '[1]'", "0"),
    ("jsonParse('[1]') != '[1]'", "1"),
    ("jsonParse('[1]') in ['[1]']", "0"),
    ("jsonParse('[1')", None),
    ("toMillis(@timestamp) + 1", "1001"),
    ("@timestamp + 1", "1970-01-01 00:00:01.001"),
    ("9h + @timestamp", "1970-01-01 09:00:01.000"),
    ("datefloor(@timestamp - 1d, 1d) + 500", "1969-12-31 00:00:00.500"),
    ("@timestamp - fromMillis(1)", "999"),
    ("@timestamp - strlen(@message)", "996"),
    ("bin(1m)", "1970-01-01 00:00:00.000"),
    ("datefloor(fromMillis(1717338360123), 5m)", "2024-06-02 14:25:00.000"),
    ("dateceil(fromMillis(1717338360123), 1h)", "2024-06-02 15:00:00.000"),
    # AWS does not document the begin of weeks, months and years: the calendar's, and Mondays.
    ("datefloor(fromMillis(1717338360123), 1w)", "2024-05-27 00:00:00.000"),
    ("datefloor(fromMillis(1717338360123), 1mo)", "2024-06-01 00:00:00.000"),
    ("datefloor(fromMillis(1717338360123), 1qtr)", "2024-04-01 00:00:00.000"),
    ("datefloor(fromMillis(1717338360123), 2years)", "2024-01-01 00:00:00.000"),
    ("dateceil(fromMillis(1717338360123), 1mo)", "2024-07-01 00:00:00.000"),
    ("dateceil(fromMillis(1717200000000), 1mo)", "2024-06-01 00:00:00.000"),
    ("datefloor(fromMillis(" + "9" * 18 + "), 1y)", None),
    ("datefloor(fromMillis(-1), 1d)", "1969-12-31 00:00:00.000"),
    ("datefloor(fromMillis(1717338360123), 10ms)", "2024-06-02 14:26:00.120"),
]


# AWS documentation, CloudWatch Logs Insights query syntax: IP address string functions.
OF_ADDRESSES = [
    ("isValidIp('10.0.0.7')", "1"),
    ("isValidIp('fe80::1')", "1"),
    ("isValidIpV4('fe80::1')", "0"),
    ("isValidIpV6('10.0.0.7')", "0"),
    ("isIpInSubnet('10.1.2.3', '10.0.0.0/8')", "1"),
    ("isIpInSubnet('11.1.2.3', '10.0.0.0/8')", "0"),
    ("isIpInSubnet('fe80::1', 'fe80::/10')", "1"),
    ("isIpInSubnet('10.1.2.3', '::/0')", "0"),
    ("isIpInSubnet('10.1.2.3', '10.0.0.0/33')", "0"),
    ("isIpInSubnet('10.1.2.3', 'here')", "0"),
    ("isIpv4InSubnet('fe80::1', 'fe80::/10')", "0"),
    ("isIpv6InSubnet('fe80::1', 'fe80::/10')", "1"),
    ("isPrivateIP('172.31.0.1')", "1"),
    ("isPrivateIP('172.32.0.1')", "0"),
    ("isPrivateIP('fc00::1')", "0"),
    ("isReservedIP('127.0.0.1')", "1"),
    ("isReservedIP('fe80::1')", "1"),
    ("isReservedIP('10.0.0.1')", "0"),
    ("isReservedIP('8.8.8.8')", "0"),
    ("isPublicIP('8.8.8.8')", "1"),
    ("isPublicIP('2600::1')", "1"),
    ("isPublicIP('10.0.0.1')", "0"),
    ("isPublicIP('169.254.169.254')", "0"),
    ("isPublicIP('AWS Internal')", "0"),
    ("ipv4ToNumber('10.0.0.7')", "167772167"),
    ("ipv4ToNumber('fe80::1')", None),
]
# Operators bind as in most languages.
PRECEDENCE = [
    ("1 + 2 * 3", "7"),
    ("(1 + 2) * 3", "9"),
    ("2 ^ 3 ^ 2", "512"),
    ("-2 ^ 2", "4"),
    ("2 ^ -1", "0.5"),
    ("7 % 4 - 1", "2"),
    ("1 + 1 = 2 and not 1 > 2", "1"),
    ("1 = 2 and 1 = 1 or 1 = 1", "1"),
    ("not 1 = 2", "1"),
    ("1 < 2 = 1", "1"),
    ("2500000 / 1e6 + 2.5E-1", "2.75"),
]


@pytest.mark.parametrize("expected", [FUNCTIONS, OF_ADDRESSES, ARITHMETIC, PRECEDENCE])
def test_an_expression_has_the_documented_value(values_of, expected):
    assert list(values_of([expression for expression, _ in expected]).items()) == expected


def test_a_missing_field_is_empty_and_blank_and_not_present(ask):
    query = (
        "parse @message 'no=*' as gone "
        "| display isempty(gone) as e, isblank(gone) as b, ispresent(gone) as p, strlen(gone) as n"
    )
    assert ask(query, "line") == [{"e": "1", "b": "1", "p": "0"}]


def test_texts_sort_naturally_with_missing_values_last_in_either_direction(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: sort (the order of its example).
    texts = ["!", "#", "*%04", "0# ", "5A", "111A   ", "2345_", "@", "@_", "A", "A9876fghj"]
    texts += ["a12345hfh", "01", "1", "2", "10", "12.5", "100"]
    lines = [f"v={text}" for text in reversed(texts)]
    query = "parse @message 'v=*' as v | display v | sort v"
    assert [row.get("v") for row in ask(query, "none", *lines)] == [*texts, None]
    assert [row.get("v") for row in ask(f"{query} desc", "none", *lines)] == [*texts[::-1], None]


def test_computed_values_sort_as_numbers(ask):
    query = "stats max(@message) as m, avg(@message) as a by @logStream | sort a desc"
    rows = ask(query, ("a", "9.5"), ("b", "10"), ("c", "x"))
    assert [row["@logStream"] for row in rows] == ["b", "a", "c"]
    assert [row["m"] for row in rows] == ["10", "9.5", "x"]


def test_rows_with_equal_sort_keys_are_newest_first(ask):
    query = "sort @logStream | display @message"
    rows = ask(query, ("b", "1"), ("a", "2"), ("b", "3"), ("a", "4"))
    assert [row["@message"] for row in rows] == ["4", "2", "3", "1"]


@pytest.mark.parametrize("condition", ["on = false", "on = 0", "off = true", "`true` = 'x'"])
def test_true_and_false_are_one_and_zero_not_fields(ask, condition):
    message = '{"on": false, "off": true, "true": "x"}'
    assert len(ask(f"filter {condition}", message, "{}")) == 1


NEAR_MISSES = ["1::2::3", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8"]
NEAR_MISSES += ["12345::", "1.2.3.4.", "1.2.3", "256.1.1.1", "01.2.3.4", "", ":", "g::"]


def test_addresses_and_subnets_agree_with_python(source):
    generator = random.Random(7)
    texts = list(NEAR_MISSES)
    for _ in range(100):
        low = generator.randrange(2**32) << generator.choice([16, 64, 96])
        texts.append(str(ipaddress.IPv6Address(low)))
        texts.append(str(ipaddress.IPv4Address(generator.randrange(2**32))))
    network = ipaddress.ip_network("64.0.0.0/3")
    query = (
        "display isValidIp(@message) as ok, isIpInSubnet(@message, '64.0.0.0/3') as in "
        "| sort @timestamp"
    )
    rows = run(query, source(*texts), 0, 1000).records
    for text, cells in zip(texts, rows, strict=True):
        address = None if text in NEAR_MISSES else ipaddress.ip_address(text)
        assert cells["ok"] == str(int(address is not None)), text
        assert cells["in"] == str(int(address is not None and address in network)), text
