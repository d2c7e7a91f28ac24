"""Printed queries keep their meaning; changed queries are accepted or refused with a place."""

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from random_queries import queries

from cwli.insights import QueryError
from cwli.insights import compile as compile_query
from cwli.insights.parser import parse

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


@pytest.mark.parametrize("query", QUERIES)
def test_a_printed_query_has_the_same_meaning(query):
    commands = parse(query)
    printed = " | ".join(map(str, commands))
    assert parse(printed) == commands
    assert " | ".join(map(str, parse(printed))) == printed


@fuzz(200)
@given(query=queries)
def test_any_random_query_has_the_same_meaning_when_printed(query):
    commands = parse(query)
    assert parse(" | ".join(map(str, commands))) == commands


def test_the_stages_of_a_compiled_query_are_its_commands():
    compiled = compile_query("fields @message | FILTER a==1 # only these\n| limit 3")
    assert compiled.stages == ("fields @message", "filter a = 1", "limit 3")


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
