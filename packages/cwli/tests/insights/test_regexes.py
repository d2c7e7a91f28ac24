import pytest

from cwli import insights
from cwli.insights import QueryError, run
from cwli.insights.regexes import Pattern
from cwli.insights.syntax import Regex, Span


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
