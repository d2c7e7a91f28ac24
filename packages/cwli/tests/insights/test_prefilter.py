"""The texts of which an event must hold one."""

import re

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from cwli.insights import compile as compile_query
from cwli.insights.regexes import literals_of_pattern


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
