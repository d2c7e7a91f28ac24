"""Commands over neighbouring rows and numbers over time: AWS documentation, by command."""

import json

import pytest

from cwli.insights import QueryError

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
