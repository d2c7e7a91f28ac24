import re

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from cwli import insights
from cwli.insights import EventSource, QueryError, run
from cwli.insights import compile as compile_query
from cwli.insights.regexes import Pattern, gaps_of, literals_of_pattern
from cwli.insights.source import events_of
from cwli.insights.syntax import Regex, Span
from cwli.insights.values import quoted


def pattern(text: str) -> Pattern:
    query = f"/{text}/"
    return Pattern(Regex(Span(query, 0, len(query)), text))


def test_only_named_groups_become_fields(ask):
    query = r"parse @message /(?<key>\w+)(=|:)(?P<value>\d+)/ | display key, value"
    assert ask(query, "a=1", "b:2") == [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]


def test_only_the_requested_group_captures():
    groups = pattern(r"(?<a>x(y))(?<b>[(]\)\Q(\E)(?i:z)(?i)")
    assert groups.names == ("a", "b")
    assert groups.capturing("a") == r"(x(?:y))(?:[(]\)\Q(\E)(?i:z)(?i)"
    assert groups.matching() == r"(?:x(?:y))(?:[(]\)\Q(\E)(?i:z)(?i)"
    assert groups.inside("a") == r"x(?:y)"


@pytest.mark.parametrize("group", [r"\d", r"\d+", "[0-9]+?", r"\d{2}", "[0-9]{1,3}"])
def test_a_group_of_digits_is_one(group):
    assert pattern(f"x(?<n>{group})").is_digits("n")


@pytest.mark.parametrize(
    "group", [r"\d*", r"\d{0,2}", r"-?\d+", r"\D+", r"\d+|x", "[0-9.]+", r"(?:\d+ )", r"\S+"]
)
def test_another_group_is_not_one_of_digits(group):
    assert not pattern(f"x(?<n>{group})").is_digits("n")


def test_digits_are_the_numbers_that_any_text_of_them_is(ask):
    lines = ["n=007", "n=1_000", "n=12 ", "n=x", f"n={'9' * 400}", "n=٣"]
    results = [
        ask(f"parse @message /n=(?<n>{group})/ | display n + 0 as number", *lines)
        for group in (r"\d+", r"(?:\d+)")
    ]
    assert results[0] == results[1]
    assert [row.get("number") for row in results[0]] == [None, None, None, "12", "1", "7"]


def test_the_total_of_digits_is_a_number(ask):
    query = r"parse @message /n=(?<n>\d+)/ | fields n | addtotals row=false col=true"
    rows = ask(f"{query} | display n + 0 as number", "n=1", f"n=1{'0' * 21}")
    assert [row["number"] for row in rows] == ["1e+21", "1", "1e+21"]


def test_a_regular_expression_that_does_not_match_leaves_its_fields_absent(ask):
    query = r"parse @message /n=(?<n>\d*)/ | display ispresent(n) as there, n"
    assert ask(query, "n=", "m=1") == [{"there": "0"}, {"there": "1", "n": ""}]


def test_a_group_that_took_no_part_in_the_match_is_absent(ask):
    assert ask(r"parse @message /a(?<b>\d+)?c/ | display ispresent(b) as x", "ac") == [{"x": "0"}]


def test_a_regular_expression_matches_anywhere_and_distinguishes_case(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: filter.
    lines = ["xERRORx", "error", "fine"]
    assert ask("filter @message like /ERR/ | fields @message", *lines) == [{"@message": "xERRORx"}]
    query = "filter @message =~ /(?i)^err/ | fields @message"
    assert ask(query, *lines) == [{"@message": "error"}]


def test_the_empty_match_of_a_whole_pattern_is_a_match(ask):
    assert ask("parse @message /(?<all>.*)/ | display ispresent(all) as x", "") == [{"x": "1"}]


@pytest.mark.parametrize(
    ("regex", "offset", "message"),
    [
        ("a(?=b)", 1, "look-around is not supported in a regular expression: (?="),
        ("(?!b)", 0, "look-around is not supported"),
        ("a(?<=b)", 1, "look-around is not supported"),
        ("(?<!b)", 0, "look-around is not supported"),
        (r"(a)\1", 3, r"a back-reference is not supported in a regular expression: \1"),
        (r"a\k<n>", 1, "a back-reference is not supported"),
        ("(?>a)", 0, "this kind of group is not supported in a regular expression: (?>"),
        ("(?<odd-name>a)", 0, "this kind of group is not supported"),
        ("(a", 0, "this parenthesis is not closed"),
        ("a)", 1, "this parenthesis was not opened"),
        ("(?<x>a)(?<x>b)", 7, "the group name 'x' is used twice"),
    ],
)
def test_syntax_that_re2_lacks_is_refused_with_its_place(regex, offset, message):
    before = "parse @message /"
    with pytest.raises(QueryError) as caught:
        insights.compile(f"{before}{regex}/")
    assert (caught.value.line, caught.value.column) == (1, len(before) + offset + 1)
    assert message in caught.value.message


@pytest.mark.parametrize("regex", ["a{1001}", "[z-a]", "a**", "[[:nope:]]", "(?z)a"])
def test_an_error_that_only_re2_finds_is_raised_when_the_query_runs(regex, source):
    with pytest.raises(QueryError, match="not a regular expression of RE2") as caught:
        run(f"filter @message like /{regex}/", source("a"), 0, 10)
    assert (caught.value.line, caught.value.column) == (1, 22)


def test_a_pattern_that_python_warns_of_is_accepted_without_a_warning(ask):
    assert ask(r"parse @message /(?<a>[[x]+)/ | display a", "a [x") == [{"a": "[x"}]


@pytest.mark.parametrize(
    ("pattern", "texts", "groups"),
    [
        (r"user=(?<user>\S+) took (?<ms>\d+)", ["user=", " took ", ""], [0, 1]),
        (r'^(\S+) - \[([^\]]+)\] "', ["", " - [", '] "'], [0, 1]),
        (r"\.x\/(?:\d+)% ([^ ]{2,}) y", [".x/", "% ", " y"], [1]),
    ],
)
def test_a_gap_ends_where_the_next_text_first_occurs(pattern, texts, groups):
    found = gaps_of(pattern)
    assert (found and found.texts, found and found.groups) == (texts, groups)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(\S+) x", r"a(\w+)b", "a.*b", "ab+(\\d)", r"a(\d)(\w)", r"a(\d)$", r"a(\d|x) ",
        r"(a(\d)b)", r"a(\d)+ ", "(?i)a(\\d) ", r"a([[:digit:]]+) ", r"a(\d) |b",
        r"a\b(\d)", r"^(\d)^",
    ],
)  # fmt: skip
def test_other_regular_expressions_have_no_gaps(pattern):
    assert gaps_of(pattern) is None


PIECES = ["a", "b", " ", "1", "=", "é", "\n"]
lines = st.lists(st.sampled_from([*PIECES, "a1 ", "a= ", "b12 "]), max_size=12).map("".join)
sets = st.sampled_from([r"\S", r"\d", "[a-b]", "[^ ]", r"\D", r"[^\n=]"])
gaps = st.builds("{}{}".format, sets, st.sampled_from(["", "+", "*", "?", "{2}", "+?", "*?"]))
literals = st.lists(st.sampled_from(["a", "b", " ", "1", "=", r"\.", "é"]), min_size=1, max_size=2)


@st.composite
def patterns(draw):
    """Return a regular expression of texts and gaps; its first gap is a group."""
    parts = [draw(st.sampled_from(["^", "^a", "a", " ", "="]))]
    for number in range(draw(st.integers(1, 3))):
        gap = draw(gaps)
        parts.append(f"(?<g{number}>{gap})" if number == 0 or draw(st.booleans()) else gap)
        parts += draw(literals)
    return "".join(parts[: draw(st.sampled_from([len(parts), -1]))])


def events(messages):
    rows = ", ".join(f"({n}, {quoted(message)})" for n, message in enumerate(messages))
    return events_of(
        f"(VALUES {rows}) AS t(n, m)",
        timestamp="n::BIGINT",
        ingestion_time="n::BIGINT",
        log="''",
        log_stream="''",
        message="m",
        ptr="n::VARCHAR",
    )


def captured(pattern: str, source: EventSource) -> list[dict[str, str]]:
    rows = run(f"parse @message /{pattern}/ | sort @timestamp", source).records
    return [{k: v for k, v in row.items() if k.startswith("g")} for row in rows]


def test_five_groups_are_captured_also_where_the_first_text_occurs_twice():
    pattern = r"a=(?<ga>\d+) b=(?<gb>\d*) c=(?<gc>\S+) d=(?<gd>\d+) e=(?<ge>\S+)"
    messages = ["a=1 b= c=xa=2 d=3 e=a=4", "a=x a=1 b=2 c=3 d=4 e=5 a=6", "a=1 b=2"]
    first, second = ("1", "", "xa=2", "3", "a=4"), ("1", "2", "3", "4", "5")
    names = ["ga", "gb", "gc", "gd", "ge"]
    expected = [dict(zip(names, row, strict=True)) for row in (first, second)]
    assert captured(pattern, events(messages)) == [*expected, {}]


@fuzz(150)
@given(pattern=patterns(), messages=st.lists(lines, min_size=1, max_size=8))
def test_the_captures_are_those_of_the_regular_expression(pattern, messages):
    compiled = re.compile(pattern.replace("?<g", "?P<g"), re.ASCII)
    matches = [compiled.search(message) for message in messages]
    expected = [match.groupdict() if match else {} for match in matches]
    assert captured(pattern, events(messages)) == expected


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("filter @message like 'abc'", {"abc"}),
        ("fields a, b | filter a = 1 | filter @message like 'abc'", {"abc"}),
        ("filter @message like 'abc' and @message like 'abcdef' and b > 1", {"abcdef"}),
        ("filter @message like 'abc' or @message like /def+/", {"abc", "def"}),
        ("filter @message =~ /took \\d+ ms/ | stats count(*) by bin(1m)", {"took "}),
        ("parse @message '* abc' as a | filter @message like 'abc' | dedup a", {"abc"}),
    ],
)  # fmt: skip
def test_filters_name_the_texts_of_an_event(query, texts):
    assert compile_query(query).plan.prefilter == texts


@pytest.mark.parametrize(
    "query",
    [
        "stats count(*)",
        "filter @message not like 'abc'",
        "filter not (@message like 'abc')",
        "filter @message like 'ab'",
        "filter @message like 'abc' or level = 'x'",
        "filter @message like 'a\nbc'",
        "filter @message like 'abc\ufffd'",
        "filter @logStream like 'abc'",
        "limit 5 | filter @message like 'abc'",
        "parse @message /(?<a>x)/ multi | filter @message like 'abc'",
        "fields 'abc' as @message | filter @message like 'abc'",
        "filter @message like 'abc' and a in (SOURCE 'x' | fields a)",
        "filter @message like 'abc' | join left=l right=r where l.a=r.a (SOURCE 'x')",
        "filter @message like /(?i)abc/",
    ],
)
def test_a_query_that_may_need_other_events_names_no_text(query):
    assert not compile_query(query).plan.prefilter


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("timeout after [0-9]{3,} ms", {"timeout after "}),
        ("(timeout|refused) of", {"timeout", "refused"}),
        ("abc(?:def)?ghij", {"ghij"}),
        (r"x\.y\/zz*", {"x.y/z"}),
        ("((?<a>lock) found)+", {" found"}),
        ("no (such|any) file.*folder", {"folder"}),
    ],
)
def test_a_regular_expression_names_texts(pattern, texts):
    assert literals_of_pattern(pattern) == texts


@pytest.mark.parametrize(
    "pattern",
    [
        "", "ab", "(?i)abc", "(?i:abc)", r"\x41bcd", r"\Qa|b\E", "abc|", "abc|x?", r"\pLabc",
        "abc|def|ghi|jkl|mno",
    ],
)  # fmt: skip
def test_a_regular_expression_of_another_kind_names_none(pattern):
    assert not literals_of_pattern(pattern)


def _nested(inner):
    many = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        many.map("".join),
        many.map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,1}", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    )


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "ab", "a*", "b?", "aa+", ".", "[ab]", "[^a]", r"\w", "abc", "a{2}"]),
    _nested,
    max_leaves=8,
)


@fuzz(500)
@given(pattern=PATTERNS, data=st.data())
def test_every_match_of_a_regular_expression_holds_one_of_its_texts(pattern, data):
    texts = literals_of_pattern(pattern)
    match = data.draw(st.from_regex(pattern, fullmatch=True))
    assert not texts or any(text in match for text in texts)
    assert re.fullmatch(pattern, match)
