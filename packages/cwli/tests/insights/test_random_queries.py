"""Random queries return a result or raise a `QueryError`."""

from contextlib import suppress

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from logs import Logs

from cwli.insights import QueryError, QueryResult, run
from cwli.insights.functions import FUNCTIONS
from cwli.insights.values import OPERATORS

MESSAGES = (
    "[main] a INFO  - Wrote 10 records to S3 at 5.25 per second",
    "é\n☃ ∞",
    "",
    "17",
    "-3e2",
)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    store = Logs(tmp_path_factory.mktemp("logs"))
    store.append("g", "s", enumerate(MESSAGES), 0)
    return store.events(["g"])


VOCABULARY = (
    "join appendcols lookup cidrlookup outlier sessionize addtotals left=a where a.b=b.c ( SOURCE "
    "fields display filter parse stats sort limit dedup as by desc and or not like in count(*) | , "
    "( ) [ ] + - * / % ^ = != < > =~ @message @timestamp a b `c d` 'x' \"* *\" /a(?<b>.)/ 1 2.5 5m "
    "avg( max( bin( strlen( # \n ' ` \\ ☃"
)
words = st.sampled_from(VOCABULARY.split(" "))
fields = st.sampled_from(["@message", "@timestamp", "@logStream", "a", "b", "c"])
constants = st.sampled_from(["0", "1", "2.5", "'x'", "'12'", "'%'"])


def larger(inner):
    def call(name, arguments):
        return f"{name}({', '.join(arguments)})"

    periods = st.sampled_from(["5m", "300s", "2d"])
    return st.one_of(
        st.builds(call, st.sampled_from(sorted(FUNCTIONS)), st.lists(inner, max_size=3)),
        st.builds("{}({}, {})".format, st.sampled_from(["datefloor", "dateceil"]), inner, periods),
        st.builds("pct({}, 95)".format, inner),
        st.builds("bin({})".format, periods),
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(sorted(OPERATORS.keys() - {"like", "in", "not"})),
            inner,
        ),
        st.builds("{} not like /(?i)x|1/".format, inner),
        st.builds("{} in [1, 'x', -2]".format, inner),
        st.builds("not {}".format, inner),
    )


expressions = st.recursive(fields | constants, larger, max_leaves=5)
commands = st.one_of(
    st.builds("fields {} as a, {} as b".format, expressions, expressions),
    st.builds("display {}, a".format, expressions),
    st.builds("filter {}".format, expressions),
    st.builds("parse {} '*o*' as b, c".format, fields),
    st.builds(r"parse {} /(?<c>\w+)?(?<b>\d)/".format, fields),
    st.builds("stats count(*), {} as a by {} as b".format, expressions, expressions),
    st.builds("stats sum({}) as a, max({}) as b, b - a as c".format, expressions, expressions),
    st.builds("sort {} desc, {}".format, expressions, expressions),
    st.builds("dedup {}".format, fields),
    st.builds("stats rate({}, 5m) as a, histogram({}, 3) as b".format, expressions, expressions),
    st.builds("stats count(*) as a by bin(5m) as b, {} as c offset 2h".format, expressions),
    st.builds("outlier uselower=true {}".format, fields),
    st.builds("sessionize {} maxspan 1s as b".format, fields),
    st.builds("addtotals col=true {}, {}".format, fields, fields),
    st.builds("accum {0} as b | autoregress {0} | filldown a".format, fields),
    st.builds("unnest {} into b | expand c".format, fields),
    st.builds(
        "join left=l right=r where l.{}=r.{} (fields {} as b)".format, fields, fields, expressions
    ),
    st.builds("appendcols override=true (stats max({}) as b)".format, expressions),
    st.just("limit 3"),
)
shaped = st.lists(commands, min_size=1, max_size=4).map(
    lambda parts: " | ".join(["fields @message as a, 1 as b, strlen(@message) as c", *parts])
)


def check_answer(query: str, events) -> None:
    with suppress(QueryError):
        assert isinstance(run(query, events, 0, 10), QueryResult)


@fuzz(300)
@given(query=st.text(max_size=60))
def test_random_characters_give_a_result_or_a_query_error(events, query):
    check_answer(query, events)


@fuzz(300)
@given(query=st.lists(words, max_size=20).map(" ".join))
def test_random_words_give_a_result_or_a_query_error(events, query):
    check_answer(query, events)


@fuzz(150)
@given(query=shaped)
def test_random_commands_give_a_result_or_a_query_error(events, query):
    check_answer(query, events)
