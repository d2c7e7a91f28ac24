import statistics

import pytest

from cwli.insights import QueryError, run


def test_aggregates_agree_with_their_textbook_definitions(ask):
    values = [4.0, 8.5, 15.25, 16.0, 23.0, 42.0]
    query = (
        "stats avg(@message) as avg, sum(@message) as sum, min(@message) as min, "
        "max(@message) as max, count(@message) as count, median(@message) as median, "
        "pct(@message, 50) as p50, pct(@message, 90) as p90, stddev(@message) as stddev"
    )
    (row,) = ask(query, *map(str, values))
    # Interpolated percentiles and a sample's deviation: AWS documents neither.
    assert {name: float(value) for name, value in row.items()} == pytest.approx(
        {
            "avg": statistics.fmean(values),
            "sum": sum(values),
            "min": 4.0,
            "max": 42.0,
            "count": 6.0,
            "median": statistics.median(values),
            "p50": statistics.median(values),
            "p90": statistics.quantiles(values, n=10, method="inclusive")[-1],
            "stddev": statistics.stdev(values),
        },
        rel=1e-12,
    )


def test_count_counts_rows_with_a_star_and_values_with_a_field(ask):
    query = "parse @message 'n=*' as n | stats count(*), count(), count(n), count_distinct(n) as d"
    assert ask(query, "n=1", "n=1", "n=2", "x") == [
        {"count(*)": "4", "count()": "4", "count(n)": "3", "d": "2"}
    ]


def test_earliest_and_latest_go_by_time_and_skip_missing_values(ask):
    query = "parse @message 'n=*' as n | stats earliest(n) as first, latest(n) as last"
    assert ask(query, "x", "n=5", "n=9", "n=7", "x") == [{"first": "5", "last": "7"}]


def test_min_and_max_are_numeric_if_there_are_numbers_and_of_texts_otherwise(ask):
    query = "stats min(@message) as least, max(@message) as most by @logStream"
    assert ask(query, ("n", "9"), ("n", "10"), ("n", "x"), ("t", "b"), ("t", "a")) == [
        {"@logStream": "n", "least": "9", "most": "10"},
        {"@logStream": "t", "least": "a", "most": "b"},
    ]


def test_min_and_max_of_times_are_times(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: stats, multiple stats commands.
    query = (
        "stats sum(strlen(@message)) as size, max(@timestamp) as @t by @logStream "
        "| stats avg(size) as size by dateceil(@t, 5m) as until"
    )
    assert ask(query, ("a", "xx"), ("a", "x"), ("b", "xxxxx")) == [
        {"until": "1970-01-01 00:05:00.000", "size": "4"}
    ]


def test_rows_without_a_key_form_their_own_group(ask):
    query = "parse @message 'k=*' as k | stats count(*) as n by k"
    assert ask(query, "k=a", "x", "k=", "y") == [
        {"k": "", "n": "1"},
        {"k": "a", "n": "1"},
        {"n": "2"},
    ]


def test_groups_are_in_the_order_of_their_keys_unless_sorted(ask):
    events = [(stream, "x") for stream in ("task10", "task9", "task1", "task9")]
    query = "stats count(*) as n by @logStream"
    assert [row["@logStream"] for row in ask(query, *events)] == ["task1", "task9", "task10"]
    assert ask(f"{query} | sort n desc | limit 1", *events) == [{"@logStream": "task9", "n": "2"}]


def test_bins_group_by_time(ask):
    query = "stats count(*) as n by bin(2s) as t"
    assert ask(query, "a", "b", "c") == [
        {"t": "1970-01-01 00:00:00.000", "n": "1"},
        {"t": "1970-01-01 00:00:02.000", "n": "2"},
    ]


def test_stats_accepts_expressions_over_aggregates_and_as_keys(ask):
    query = (
        "stats sum(@message) / count(*) * 100 as share, round(avg(@message), 1) as mean "
        "by strlen(@message) > 1 as long"
    )
    assert ask(query, "1", "2", "10", "0.25") == [
        {"long": "0", "share": "150", "mean": "1.5"},
        {"long": "1", "share": "512.5", "mean": "5.1"},
    ]


def test_stats_returns_no_row_without_rows_and_no_value_without_numbers(ask):
    # Not documented; assumed.
    assert ask("filter @message = 'gone' | stats count(*), avg(@message)", "x") == []
    assert ask("stats count(*) as n, avg(@message), sum(@message)", "x") == [{"n": "1"}]


def test_a_sum_beyond_the_range_of_a_double_is_absent(ask):
    query = "stats sum(@message) as s, avg(@message) as a, stddev(@message) as d, count(*) as n"
    assert ask(query, "1.5e308", "1.5e308", "-1e300") == [{"n": "3"}]


def test_sortsfirst_and_sortslast_use_natural_order(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: stats, sortsFirst and sortsLast.
    query = "stats sortsFirst(@message) as f, sortsLast(@message) as l"
    assert ask(query, "10", "9", "a10", "a9") == [{"f": "a9", "l": "10"}]


def test_attributes_of_parsed_json_may_be_keys(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: structure types.
    query = "fields jsonParse(@message) as js | stats count(*) as n, sum(js.l[1]) as s by js.m.x"
    assert ask(query, '{"m": {"x": "a"}, "l": [1, 2]}', "text", '{"m": {"x": "a"}}') == [
        {"js.m.x": "a", "n": "2", "s": "2"},
        {"n": "1"},
    ]


PODS = [
    '{"Type": "Pod", "PodName": "a", "restarts": 3}',
    '{"Type": "Pod", "PodName": "b", "restarts": 1}',
    '{"Type": "Node", "PodName": "a", "restarts": 99}',
]


@pytest.mark.parametrize(
    "condition",
    [
        "filter Type = 'Pod' | filter n > 1",
        "filter n > 1 and Type = 'Pod'",
        "stats max(n) as n by PodName | filter Type = 'Pod' and n > 1",
    ],
)
def test_a_filter_by_a_field_that_stats_does_not_return_filters_before_stats(source, condition):
    # AWS documentation, Container Insights: sample queries (restarts and CPU usage by pod).
    query = f"stats avg(restarts) as n by PodName | {condition}"
    result = run(query, source(*PODS))
    assert [[cell["value"] for cell in row] for row in result.rows] == [["a", "3"]]
    (warning,) = {each.partition(": ")[2] for each in result.warnings}
    assert warning.startswith("'Type' is not a result of stats, so this filter works before stats")


def test_a_filter_names_the_result_of_stats_that_may_be_meant(source):
    result = run("stats count(*) as total by Type | filter totl > 1", source(*PODS))
    assert result.warnings[0].endswith("works before stats; did you mean 'total'?")
    assert result.rows == []


def test_a_condition_on_results_of_stats_and_other_fields_is_refused(source):
    with pytest.raises(QueryError, match="'Type' is not a result of stats, but other fields"):
        run("stats count(*) as n by PodName | filter Type = 'Pod' or n > 1", source(*PODS))
