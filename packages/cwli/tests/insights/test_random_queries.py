"""Random and changed queries give a result, or a `QueryError` with its place."""

from contextlib import suppress

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from logs import Logs
from random_queries import queries

from cwli.insights import QueryError, QueryResult, run
from cwli.insights import compile as compile_query
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


@fuzz(150)
@given(query=shaped)
def test_random_commands_give_a_result_or_a_query_error(events, query):
    check_answer(query, events)


# Every command with every option.
QUERIES = [
    "FIELDS @timestamp, strlen( @message )  as n, a.b[0].c | display `odd name`, n",
    "filter not (a = 1 or b == 'it\\'s') and c not in [1, -2.5, 'x'] and d =~ /a\\/[/]b/",
    "filter a in (SOURCE 'g' | filter b = 1 | fields c) | limit 5",
    "SOURCE 'a', 'b' | SOURCE logGroups(namePrefix: ['x', 'y'], accountIdentifiers: ['1'])",
    "parse '* - *' as a, b | parse b /(?<c>x+)/ | parse c csv as d, e | parse @message logfmt as f",
    "parse /(a)(?<b>.)/ as c, `odd name` multi | parse c /(?<d>x)/ multi | parse d /(y)/ as e",
    "parse concat(a, b) '*' as c | fields -2 ^ 2 ^ -1, (1 + 2) * 3 as `the sum`",
    "stats count(*), pct(a, 99.5) as p group by bin( 5m ), b as c | sort by c desc, p | dedup c",
    "where a like 'x' | unnest a into b | expand b | unmask b | filterIndex b in [1]",
    "accum a as b | autoregress a p=1-3 | autoregress a as c | filldown a b* | countFrequent a, b",
    "json field=a 'b.c' as d | addtotals | addtotals row=true fieldname=`the sum` col=false a, b",
    "addtotals col=true a | outlier a b | outlier action=remove param=.5 mark=true uselower=true a",
    "sessionize a, b | sessionize a maxspan 2h as c | stats rate(a, 1m), histogram(a, 4) as h",
    "stats count(*) as n by bin(5m), a offset 1d",
    "join left=a right=b where a.x = b.`odd name` (SOURCE g | limit 1) | fields a.x, b.y",
    "join type=left left=a right=b where a.x.0=b.x (filter a = 1 | fields x) | limit 1",
    "appendcols (limit 1) | appendcols max=3 override=true (stats count(*) by a)",
    "lookup t a OUTPUT b | lookup t a as b, c OUTPUT d as e, `odd name`",
    "cidrlookup t a OUTPUT b | cidrlookup t a as b OUTPUTNEW c as d, e",
    "stats avg(a) as n by bin(300s) | fillmissing with 0 for n | tail 7",
    "stats avg(a) as n by bin(1m) | fillmissing with -1 for n, 'x' for `bin(1m)` | filldown",
    "fields j.`a.b`[0].`c d` | display `a.b`.c, a[1].`b.c` | dedup j.`a.b`",
    "filldown *a b*c* `odd name`*, d | fillmissing",
    "fields 0.0000001 as tiny, 100000000000000000000000 as huge # a comment\n| sort tiny",
]


PIECES = (
    "| , ( ) [ ] . : = == ' \" ` / # \\ 1 5m -1 1e9 in not like as by ( SOURCE 'g' ) case( if( "
    "pct( bin( bin(1m) @message a.b a[0] ☃ \n"
)
pieces = st.sampled_from(PIECES.split(" "))


@fuzz(300)
@given(
    query=st.sampled_from(QUERIES) | queries,
    changes=st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 12), pieces), min_size=1, max_size=4
    ),
)
def test_a_changed_query_is_accepted_or_refused_with_its_place(query, changes):
    for place, length, piece in changes:
        start = place % (len(query) + 1)
        query = query[:start] + piece + query[start + length :]
    error = refusal(query)
    if error:
        lines = query.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


def refusal(query: str) -> QueryError | None:
    try:
        compile_query(query)
    except QueryError as error:
        return error
    return None
