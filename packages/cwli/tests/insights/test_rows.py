"""Commands, and several log groups: AWS documentation, query syntax, by command."""

import json

import pytest
from logs import Logs

from cwli import insights
from cwli.insights import EventSource, QueryError, run
from cwli.insights.source import NoLogGroupError, chosen


@pytest.fixture
def three_groups(tmp_path) -> EventSource:
    store = Logs(tmp_path / "logs", account="111122223333")
    for group, messages in {
        "/app/a": ["id=1", "id=2"],
        "/app/b": ["id=2"],
        "/db": ["id=3"],
    }.items():
        store.append(group, "s", enumerate(messages), 0)
    return store.events(["/app/a", "/app/b", "/db"])


def shown(query: str, events: EventSource) -> list[str]:
    return [row[0]["value"] for row in run(query, events, 0, 10).rows]


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        ("SOURCE '/db'", ["id=3"]),
        ("SOURCE '/app/b' | SOURCE '/db'", ["id=2", "id=3"]),
        ("SOURCE '/app/b', '/db'", ["id=2", "id=3"]),
        ("SOURCE 'arn:aws:logs:eu-west-1:111122223333:log-group:/db:*'", ["id=3"]),
        ("SOURCE logGroups(namePrefix: ['/app/'])", ["id=1", "id=2", "id=2"]),
        ("SOURCE logGroups(namePrefix: ['/d'], class: ['STANDARD'])", ["id=3"]),
        ("SOURCE logGroups()", ["id=1", "id=2", "id=2", "id=3"]),
        ("SOURCE db", []),
        ("SOURCE logGroups(accountIdentifiers: ['444455556666'])", []),
        ("SOURCE '/none'", []),
    ],
)
def test_source_selects_log_groups(three_groups, source, messages):
    query = f"{source} | fields @message | sort @message"
    assert shown(query, three_groups) == messages
    assert run(query, three_groups, 0, 10).statistics["recordsScanned"] == len(messages)


def test_a_compiled_query_has_the_groups_that_it_names():
    (by_name,) = insights.compile("SOURCE '/db' | limit 1").plan.sources
    (by_prefix,) = insights.compile("SOURCE logGroups(namePrefix: ['/app'])").plan.sources
    assert [by_name.has("1", "/db"), by_name.has("1", "/db2")] == [True, False]
    assert [by_prefix.has("1", "/app/a"), by_prefix.has("1", "/db")] == [True, False]


def test_statistics_count_only_the_events_of_the_named_groups(three_groups):
    result = run("SOURCE '/app/a' | filter @message = 'id=2' | stats count(*)", three_groups, 0, 10)
    assert result.statistics == {"recordsMatched": 1, "recordsScanned": 2, "bytesScanned": 8}


def test_a_subquery_may_name_other_groups_than_the_query(tmp_path):
    store = Logs(tmp_path / "logs", account="111122223333")
    for group, message in {"/app": "id=1", "/app/more": "id=2", "/db": "id=2"}.items():
        store.append(group, "s", [(0, message)], 0)
    query = "filter @message in (SOURCE '/db' | fields @message) | display @log"
    compiled = insights.compile(query)
    assert compiled.plan.sources == ()
    named = store.events(chosen(compiled.plan.named, "111122223333", ["/app", "/app/more", "/db"]))
    result = run(compiled, store.events(["/app", "/app/more"]), 0, 10, named=named)
    assert [row[0]["value"] for row in result.rows] == ["111122223333:/app/more"]
    assert result.statistics["recordsScanned"] == 2


def test_a_subquery_without_source_reads_the_groups_of_the_query(three_groups):
    inner = "filter id != '1' | display id"
    query = f"SOURCE '/app/a' | parse 'id=*' as id | filter id in (parse 'id=*' as id | {inner})"
    assert shown(f"{query} | display id", three_groups) == ["2"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("SOURCE '/app', '/dbs'", "SOURCE: no log group is named '/dbs'"),
        ("SOURCE logGroups(namePrefix: ['/no'])", "SOURCE: account 1 has no log group that "),
    ],
)
def test_the_error_of_a_missing_source_names_it(source, sentence):
    with pytest.raises(NoLogGroupError, match=sentence):
        chosen(insights.compile(source).plan.named, "1", ["/app", "/db"])


def test_a_subquery_may_have_stats_inside_a_query_with_stats(three_groups):
    inner = "SOURCE '/app/b' | stats max(@message) as m"
    assert shown(f"filter @message in ({inner}) | stats count(*)", three_groups) == ["2"]


def test_a_subquery_returns_the_field_of_its_last_fields_or_display(three_groups):
    # AWS documentation, CloudWatch Logs Insights query syntax: subqueries (its second example).
    inner = "parse 'id=*' as id | stats count(*) as n by id | filter n > 1 | fields id"
    query = f"parse 'id=*' as id | filter id in ({inner}) | stats count(*)"
    assert shown(query, three_groups) == ["2"]
    with pytest.raises(QueryError, match="must have one field, this one has n, id; choose one"):
        shown("filter id in (stats count(*) as n by id | display n, id)", three_groups)


def test_a_subquery_returns_the_accepted_values_of_a_field(three_groups):
    inner = "SOURCE '/app/b' | parse 'id=*' as i | fields i"
    query = f"parse 'id=*' as id | filter id in ({inner}) | display @log | sort @log"
    assert shown(query, three_groups) == ["111122223333:/app/a", "111122223333:/app/b"]
    assert shown(query.replace("id in", "id not in"), three_groups) == [
        "111122223333:/app/a",
        "111122223333:/db",
    ]


def test_unnest_makes_a_row_of_each_element(ask):
    message = json.dumps({"events": [{"name": "a", "n": 1}, {"name": "b"}], "host": "h"})
    query = "fields jsonParse(@message) as m | unnest m.events into e | display e.name, host"
    assert ask(query, message) == [{"e.name": "a", "host": "h"}, {"e.name": "b", "host": "h"}]
    assert ask("unnest host into h | display h", message) == [{"h": "h"}]
    assert ask("unnest events into e | stats sum(e.n) as n, count(*) as c", message, "{}") == [
        {"n": "1", "c": "3"}
    ]


def test_expand_keeps_the_name_of_the_list(ask):
    query = "expand items | stats count(*) as n by items, host"
    message = '{"items": ["apple", "banana", "apple"], "host": "web"}'
    assert ask(query, message) == [
        {"items": "apple", "host": "web", "n": "2"},
        {"items": "banana", "host": "web", "n": "1"},
    ]


def test_logfmt_is_read_as_a_map(ask):
    query = "parse @message logfmt as m | display m.level, m.msg, m.n, m.gone"
    line = r'at level=error msg="it \"is\" = so" n=5 level2='
    assert ask(query, line, "nothing") == [
        {},
        {"m.level": "error", "m.msg": 'it "is" = so', "m.n": "5"},
    ]


def test_csv_values_are_named_by_place(ask):
    query = "parse @message csv as a, b, c | display a, b, c"
    assert ask(query, '1,"two, ""too""",', "x") == [
        {"a": "x"},
        {"a": "1", "b": 'two, "too"', "c": ""},
    ]


def test_accum_autoregress_and_filldown_use_the_rows_before(ask):
    query = (
        "parse 'n=*' as n | sort @timestamp | accum n as total | autoregress n p=1-2 "
        "| autoregress n as before | filldown n | display n, total, n_p1, n_p2, before"
    )
    assert ask(query, "n=1", "x", "n=4") == [
        {"n": "1", "total": "1"},
        {"n": "1", "total": "1", "n_p1": "1", "before": "1"},
        {"n": "4", "total": "5", "n_p2": "1"},
    ]


def test_filldown_accepts_names_with_stars(ask):
    query = "parse 'a=* b=*' as aa, ab | display aa, ab | sort @timestamp | filldown {}"
    for patterns, second in {
        "a*": {"aa": "1", "ab": "2"},
        "*": {"aa": "1", "ab": "2"},
        "*b": {"ab": "2"},
        "a*a x": {"aa": "1"},
        "aa, ab": {"aa": "1", "ab": "2"},
    }.items():
        assert ask(query.format(patterns), "a=1 b=2", "x") == [{"aa": "1", "ab": "2"}, second]


def test_missing_bins_are_filled(ask):
    events = ["a", *["x"] * 4, "b"]
    query = "filter @message != 'x' | stats count(*) as n, max(@message) as m by bin(2s) as t"
    rows = ask(f"{query} | fillmissing with 0 for n", *events)
    assert [(row["t"][-5], row["n"], row.get("m")) for row in rows] == [
        ("0", "1", "a"),
        ("2", "0", None),
        ("4", "0", None),
        ("6", "1", "b"),
    ]
    both = ask(f"{query} | fillmissing with -1 for n, 'none' for m", *events)
    assert [(row["n"], row["m"]) for row in both[1:3]] == [("-1", "none")] * 2
    assert ask("filter @message = 'none' | stats count(*) by bin(1s) | fillmissing", "x") == []


def test_frequent_values_come_first(ask):
    assert ask("countFrequent @message", "a", "b", "b") == [
        {"@message": "b", "_approxcount": "2"},
        {"@message": "a", "_approxcount": "1"},
    ]


def test_older_and_alternative_words_are_accepted(ask):
    assert ask("fields @message | sort @timestamp | head 1", "1", "2") == [{"@message": "1"}]
    assert ask("fields @message | sort @timestamp | tail 1", "1", "2") == [{"@message": "2"}]
    assert ask("unmask @message | limit any 1", "1") == [{"@message": "1"}]
    assert ask("filterIndex @message in ['2'] | fields @message", "1", "2") == [{"@message": "2"}]
    assert ask("fields @message | order by @message desc", "1", "2") == [
        {"@message": "2"},
        {"@message": "1"},
    ]


def test_names_after_as_name_the_groups_of_a_regular_expression(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: parse (multi-match mode; JSON
    # field extraction, where `as` names a group that has a name already).
    query = r"parse /(?<ip>\d+):((?:x|y)?)/ as host, `the rest` | display host, `the rest`"
    assert ask(query, "1:x", "2:", "none") == [
        {},
        {"host": "2", "the rest": ""},
        {"host": "1", "the rest": "x"},
    ]


def test_multi_makes_a_row_of_each_match_and_keeps_rows_without_a_match(ask):
    query = r"parse @message /(\d+)(ms)?/ as n, unit multi | display @message, n, unit | sort n"
    assert ask(query, "10ms 20", "none") == [
        {"@message": "10ms 20", "n": "10", "unit": "ms"},
        {"@message": "10ms 20", "n": "20"},
        {"@message": "none"},
    ]
    assert ask(r"parse /(?<n>\d)/ multi | stats count(*) as rows, sum(n) as s", "1 2 3", "x") == [
        {"rows": "4", "s": "6"}
    ]
    assert ask(r"parse /(?<n>\d)/ multi | stats count(*) as rows", "1 2 3", "x") == [{"rows": "4"}]


def test_json_takes_a_field_from_the_json_in_another(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: parse (its example).
    query = (
        r"parse @message /(?<payload>\{.*\})/ as payload "
        '| json field=payload "user.name" as username | display username'
    )
    assert ask(query, 'x {"user": {"name": "a"}} y', "none", "{no json}") == [
        {},
        {},
        {"username": "a"},
    ]
    nested = '{"requestContext": {"identity": {"sourceIp": "10.0.0.1"}}}'
    query = 'json field=requestContext "identity.sourceIp" as ip | stats count(*) as n by ip'
    assert ask(query, nested) == [{"ip": "10.0.0.1", "n": "1"}]


def test_addtotals_sums_the_numbers_of_each_row(ask):
    message = '{"price": 10, "tax": 1.5, "note": "x"}'
    query = "fields price, tax, note | addtotals | display Total"
    assert ask(query, message, "{}") == [{}, {"Total": "11.5"}]
    query = "addtotals fieldname=RowSum price, note | display RowSum"
    assert ask(query, message) == [{"RowSum": "10"}]
    query = "stats count(*) as n, sum(price) as p by bin(1m) | addtotals"
    (row,) = ask(query, message)
    assert row["Total"] == "11"


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("limit", [1, 3, 5, 6, 7, 20])
def test_a_limit_after_a_sort_of_groups_takes_the_first_rows_of_all(ask, order, limit):
    events = [f"{key} {value}" for key in "abcdef" for value in ("x" if key in "ad" else "7", 9)]
    query = (
        f"parse @message '* *' as k, v | stats min(v) as low, sum(v) as s by k | sort low {order}"
    )
    whole = ask(query, *events, "g 1", "g 1")
    assert len(whole) == 7
    assert ask(f"{query} | limit {limit}", *events, "g 1", "g 1") == whole[:limit]


def test_dedup_keeps_whole_rows_and_those_without_the_field(ask):
    events = [
        '{"a": 1, "b": 7}',
        '{"a": 1, "b": 8}',
        '{"b": 9}',
        '{"b": 9}',
        '{"a": "1.0", "b": 5}',
    ]
    assert [row["b"] for row in ask("fields a, b | dedup a", *events)] == ["5", "9", "9", "8"]
    assert ask("fields a | dedup a | limit 1", *events) == [{"a": "1.0"}]
    assert [row["b"] for row in ask("fields a, b | sort b | dedup a", *events)] == [
        "5",
        "7",
        "9",
        "9",
    ]


CPU = [json.dumps({"cpu": cpu, "host": "ab"[cpu % 2]}) for cpu in (1, 2, 3, 4, 100)]


def test_column_totals_are_the_last_row(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: addtotals (its last example).
    messages = ['{"x": 1, "y": "a"}', '{"x": 2.5}']
    assert ask("fields x, y | addtotals col=true x", *messages) == [
        {"x": "2.5", "Total": "2.5"},
        {"x": "1", "y": "a", "Total": "1"},
        {"x": "3.5", "Total": "3.5"},
    ]
    sums = "stats sum(x) as s, count(*) as n by y | addtotals row=false col=true | limit 3"
    assert ask(sums, *messages) == [
        {"y": "a", "s": "1", "n": "1"},
        {"s": "2.5", "n": "1"},
        {"s": "3.5", "n": "2"},
    ]
    assert ask("filter x > 9 | fields x | addtotals col=true x", *messages) == []


def test_a_row_of_totals_is_not_an_event(ask):
    query = "addtotals col=true cpu | stats latest(cpu) as c, earliest(host) as h, count(*) as n"
    assert ask(query, *CPU) == [{"c": "100", "h": "b", "n": "6"}]


def test_outliers_are_replaced_by_the_bound_or_removed(ask):
    # The quartiles of 1, 2, 3, 4 and 100 are 2 and 4.
    assert ask("fields cpu | outlier cpu | sort cpu desc | limit 1", *CPU) == [{"cpu": "9"}]
    removal = "outlier action=remove param=3.0 uselower=true mark=true cpu | display cpu, outlier"
    assert ask(removal, *CPU) == [{"cpu": str(n), "outlier": "0"} for n in (4, 3, 2, 1)]
    both = "outlier param=0 uselower=true mark=true cpu | display cpu, outlier | sort cpu"
    assert [row["cpu"] for row in ask(both, *CPU)] == ["2", "2", "3", "4", "4"]
    assert ask("outlier param=0.0000001 cpu | stats max(cpu) as m", *CPU) == [{"m": "4.0000002"}]
    assert ask("outlier host | display host | limit 1", *CPU) == [{"host": "a"}]


def test_a_pause_longer_than_maxspan_begins_a_session(ask):
    query = "sessionize host maxspan 1s as visit | sort @timestamp | display visit"
    assert [row["visit"] for row in ask(query, *CPU)] == ["1", "2", "3", "4", "4"]
    query = "sessionize host | stats count(*) as n by session_id"
    assert ask(query, *CPU) == [{"session_id": "1", "n": "2"}, {"session_id": "2", "n": "3"}]
    with pytest.raises(QueryError, match="sessionize needs @timestamp, which is not a result"):
        ask("stats count(*) by host | sessionize host")


def test_an_offset_moves_bins_to_a_later_time(ask):
    query = "stats count(*) as n by bin(2s) as t, host offset 1h | display t, n | limit 1"
    assert ask(query, *CPU) == [{"t": "1970-01-01 01:00:00.000", "n": "1"}]


def test_a_rate_is_the_change_in_each_interval(ask):
    query = "stats rate(cpu, 1s) as r, rate(none, 1s) as none by host"
    assert ask(query, *CPU) == [{"host": "a", "r": "32.666666666666664"}, {"host": "b", "r": "1"}]


def test_a_rate_uses_a_redefined_timestamp(ask):
    rates = "stats rate(cpu, 1s) as r, count(*) as n"
    # No time is an outlier here; outlier makes numbers of them.
    assert ask(f"outlier @timestamp | {rates}", *CPU) == ask(rates, *CPU)
    doubled = "fields toMillis(@timestamp) * 2 as @timestamp | stats rate(cpu, 2s) as r"
    assert ask(doubled, *CPU[:3]) == [{"r": "1"}]


def test_a_histogram_counts_by_the_lower_end_of_each_range(ask):
    assert ask("stats histogram(cpu, 3) as h", *CPU) == [{"h": '{"1":4,"34":0,"67":1}'}]
    assert ask("stats histogram(cpu, 3) as h | display h.`1` as n", *CPU) == [{"n": "4"}]
    assert ask("filter cpu = 2 | stats histogram(cpu, 3) as h", *CPU) == [{"h": '{"2":1}'}]
    assert ask("stats histogram(host, 3) as h, count(*) as n", *CPU) == [{"n": "5"}]


def test_elements_and_matches_of_one_event_keep_their_order(ask):
    message = json.dumps({"l": [True, "true", 3, None, "é"]})
    assert [row.get("e") for row in ask("unnest l into e | display e", message)] == [
        "1",
        "true",
        "3",
        None,
        "é",
    ]
    many = " ".join(map(str, range(200)))
    rows = ask(r"parse /(?<n>\d+)/ multi | display n", many)
    assert [row["n"] for row in rows] == many.split()
