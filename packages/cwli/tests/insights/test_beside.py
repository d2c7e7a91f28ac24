"""Commands that add columns of other queries or lookup tables: AWS documentation, by command."""

import json

import pytest
from logs import Logs

from cwli import insights
from cwli.insights import EventSource, LookupTableError, QueryError, run

REQUESTS = [{"id": 1, "status": 500}, {"id": 2, "status": 200}, {"id": 3, "status": 502}, {}]
CALLS = [{"id": 1, "ms": 10}, {"id": 1, "ms": 20}, {"id": 2, "ms": 30}, {"ms": 40}]
JOIN = "join type={} left=api right=fn where api.id=fn.id (SOURCE '/fn')"


@pytest.fixture
def events(tmp_path) -> EventSource:
    store = Logs(tmp_path / "logs")
    for group, messages in {"/api": REQUESTS, "/fn": CALLS}.items():
        store.append(group, "s", [(n * 1000, json.dumps(m)) for n, m in enumerate(messages)], 0)
    return store.events(["/api", "/fn"])


@pytest.fixture
def tables(tmp_path):
    files = {
        "users": '\ufeffid,name,team\n1,Ann,"a, b"\n1,Bob,c\n2,,d\n',
        "nets": "range,owner\n10.0.0.0/8,ten\n10.1.0.0/16,eleven\n::/0,six\n1.2.3.4,one\nx/8,no\n",
        "twice": "a,A\n1,2\n",
        "table[1]*": "a,b\n1,ok\n",
        "cut": "a,b\n1\n",
        "binary": b"\xff\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return {name: tmp_path / name for name in (*files, "none")}


def answer(query: str, events: EventSource, tables=None) -> list[dict[str, str]]:
    return run(f"SOURCE '/api' | {query}", events, 0, 10, tables=tables).records


def test_fields_of_a_join_have_the_name_of_their_side(events):
    # AWS documentation, CloudWatch Logs Insights query syntax: join (its first example).
    query = f"filter status >= 500 | {JOIN.format('inner')} | fields api.id, api.status, fn.ms"
    assert answer(query, events) == [
        {"api.id": "1", "api.status": "500", "fn.ms": "20"},
        {"api.id": "1", "api.status": "500", "fn.ms": "10"},
    ]


def test_a_left_join_keeps_rows_without_a_match(events):
    query = f"{JOIN.format('left')} | fields id, fn.ms, fn.@timestamp as at | sort fn.ms desc"
    assert answer(query, events) == [
        {"id": "2", "fn.ms": "30", "at": "1970-01-01 00:00:02.000"},
        {"id": "1", "fn.ms": "20", "at": "1970-01-01 00:00:01.000"},
        {"id": "1", "fn.ms": "10", "at": "1970-01-01 00:00:00.000"},
        {},
        {"id": "3"},
    ]
    counts = f"{JOIN.format('left')} | stats count(*) as n, sum(fn.ms) as ms by api.id as id"
    assert answer(counts, events)[:2] == [
        {"id": "1", "n": "2", "ms": "30"},
        {"id": "2", "n": "1", "ms": "30"},
    ]


def test_a_join_shows_the_fields_that_its_subquery_shows(events):
    inner = "SOURCE '/fn' | stats max(ms) as most, count(*) by id"
    query = f"stats count(*) as n by id | join left=l right=r where l.id=r.id ({inner})"
    assert answer(f"{query} | filter r.most > 20", events) == [
        {"id": "2", "n": "1", "r.id": "2", "r.most": "30", "r.count(*)": "1"}
    ]
    assert answer(f"{query} | fields r.ms", events)[1] == {
        "id": "2",
        "n": "1",
        "r.id": "2",
        "r.most": "30",
        "r.count(*)": "1",
    }


def test_two_joins_have_separate_names(events):
    twice = "join left=l right=r where l.fn.ms=r.ms (SOURCE '/fn' | filter ms > 15)"
    query = f"{JOIN.format('inner')} | {twice} | fields api.status, l.fn.ms as ms, r.id as id"
    assert answer(query, events) == [
        {"api.status": "200", "ms": "30", "id": "2"},
        {"api.status": "500", "ms": "20", "id": "1"},
    ]


def test_a_query_has_the_groups_and_patterns_of_its_join():
    inner = "SOURCE '/fn' | filter @message like /a{1001}/"
    compiled = insights.compile(f"join left=a right=b where a.x=b.x ({inner})")
    assert [groups.names for groups in compiled.plan.named] == [("/fn",)]
    with pytest.raises(QueryError, match="not a regular expression of RE2"):
        run(compiled, EventSource.union([]))


def test_appendcols_joins_rows_by_number(events):
    # AWS documentation, CloudWatch Logs Insights query syntax: appendcols (its example).
    left = "filter ispresent(id) | stats count(*) as n by id"
    append = "appendcols {} (SOURCE '/fn' | stats avg(ms) as ms, count(*) as n by id | limit 2)"
    assert answer(f"{left} | {append.format('')}", events) == [
        {"id": "1", "n": "1", "ms": "15"},
        {"id": "2", "n": "1", "ms": "30"},
        {"id": "3", "n": "1"},
    ]
    assert answer(f"{left} | {append.format('override=true max=1')}", events) == [
        {"id": "1", "n": "2", "ms": "15"},
        {},
        {},
    ]


def test_a_lookup_table_may_have_any_path(events, tables):
    odd_path = {"odd": tables["table[1]*"]}
    query = "lookup odd a as id OUTPUT b | stats count(b) as n, max(b) as b"
    assert answer(query, events, odd_path) == [{"n": "1", "b": "ok"}]


def test_a_lookup_takes_columns_of_the_first_equal_row(events, tables):
    query = "fields id | lookup users id OUTPUT name, team as t | sort id"
    assert answer(query, events, tables) == [
        {"id": "1", "name": "Ann", "t": "a, b"},
        {"id": "2", "t": "d"},
        {"id": "3"},
        {},
    ]
    query = "fields id as key | lookup users id as key, team as status OUTPUT name | stats count(*)"
    assert answer(query, events, tables) == [{"count(*)": "4"}]


@pytest.mark.parametrize(
    ("output", "owners"),
    [
        ("OUTPUT owner", ["ten", "eleven", "six", "one", None, None]),
        ("as range OUTPUTNEW owner", ["ten", "mine", "six", "one", None, None]),
        ("OUTPUT range as owner", ["10.0.0.0/8", "10.1.0.0/16", "::/0", "1.2.3.4", None, None]),
    ],
)
def test_the_narrowest_range_of_an_address_counts(ask_with, tables, output, owners):
    addresses = ["10.2.3.4", "10.1.2.3", "fe80::1", "1.2.3.4", "1.2.3.5", "x"]
    lines = [
        json.dumps({"ip": ip, "owner": {"10.1.2.3": "mine", "10.2.3.4": ""}.get(ip)})
        for ip in addresses
    ]
    query = f"cidrlookup nets ip {output} | sort @timestamp | display owner"
    rows = ask_with(tables, query, *lines)
    assert [row.get("owner") for row in rows] == owners


@pytest.fixture
def ask_with(source):
    def rows(tables, query, *lines):
        return run(query, source(*lines), 0, 1000, tables=tables).records

    return rows


@pytest.mark.parametrize(
    ("query", "error", "sentence"),
    [
        ("lookup user id OUTPUT name", QueryError,
         "column 24: there is no lookup table 'user'; th"),
        ("lookup users i OUTPUT name", QueryError,
         "column 30: the lookup table 'users' has no col"),
        ("lookup users id OUTPUT a", QueryError, "column 40: the lookup table 'users' has no col"),
        ("lookup none a OUTPUT b", LookupTableError, "this file cannot be read: No such file"),
        ("lookup twice a OUTPUT a", LookupTableError,
         "first line of a lookup table must have uniq"),
        ("lookup binary a OUTPUT b", LookupTableError, "this file is not CSV in UTF-8"),
        ("lookup cut a OUTPUT b", LookupTableError, "cut, line 2: Expected Number of Columns"),
    ],
)  # fmt: skip
def test_the_error_of_an_unusable_lookup_table_names_it(events, tables, query, error, sentence):
    with pytest.raises(error) as caught:
        answer(query, events, tables)
    assert sentence in str(caught.value)
