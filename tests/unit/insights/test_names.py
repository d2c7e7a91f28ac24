import pytest

from local import insights
from local.insights import QueryError


@pytest.mark.parametrize(
    ("query", "line", "column", "message"),
    [
        (
            "stats count(*) as n, m",
            1,
            22,
            "'m' is neither a key of this stats nor an item before: n",
        ),
        ("stats count by a", 1, 7, "a function has parentheses: count(…)"),
        ("stats @message, count(*)", 1, 7, "nor an item before: there are none"),
        ("stats strlen('a')", 1, 1, "stats takes at least one aggregate"),
        ("stats avg(max(@message))", 1, 11, "max is accepted in stats only"),
        ("filter count(*) > 1", 1, 8, "count is accepted in stats only"),
        ("stats count(*) by @log | stats count(*) by bin(1m)", 1, 44, "bin needs @timestamp"),
        (" | ".join(["stats count(*)"] * 11), 1, 171, "at most 10 stats"),
        ("fields @log | SOURCE 'a'", 1, 15, "SOURCE stands before all other commands"),
        ("filter a in (fields b, c)", 1, 13, "gives one field, this one b, c"),
        ("filter a in (filter b in (fields c))", 1, 26, "a subquery inside a subquery"),
        ("stats count(*) by @log | limit 5 | stats count(*)", 1, 36, "follow the last stats only"),
        ("sort @log | stats count(*) by @log | stats count(*)", 1, 38, "follow the last stats"),
        ("dedup @log | sort @log", 1, 14, "only limit may follow dedup"),
        ("fields strlenn(@message)", 1, 8, "unknown function 'strlenn'; did you mean 'strlen'?"),
        ("fields formatTime(@message)", 1, 8, "unknown function 'formattime'"),
        ("stats count(*) by @log | fillmissing", 1, 26, "follows stats with one key, by bin"),
        (
            "stats count(*) by bin(1m) | fillmissing with 0 for m",
            1,
            29,
            "'m' is no result of stats",
        ),
        ("fields 1 as a | filldown b", 1, 17, "filldown finds none of these fields"),
        ("fields abs()", 1, 8, "abs takes 1 argument, not 0"),
        ("fields substr(@message)", 1, 8, "substr takes 2 to 3 arguments, not 1"),
        ("fields coalesce()", 1, 8, "coalesce takes 1 to any number of arguments, not 0"),
        ("fields bin()", 1, 8, "bin takes 1 argument, not 0"),
        ("fields bin(5)", 1, 12, "expected a period such as 5m"),
        ("fields bin('5m')", 1, 12, "expected a period such as 5m"),
        ("fields 5m", 1, 8, "a period stands in bin, datefloor, dateceil, or beside a time only"),
        ("fields abs(5m)", 1, 12, "a period stands in bin"),
        ("filter @timestamp > 5m", 1, 21, "a period stands in bin"),
        ("fields 5m * 2", 1, 8, "a period stands in bin"),
        ("fields 2 + 5m", 1, 12, "+: a period is added to a time only: @timestamp + 9h"),
        ("fields -5m", 1, 9, "-: a period is added to a time only"),
        ("fields bin(@timestamp, 5m)", 1, 8, "bin takes a period only, as in bin(5m)"),
        ("stats count(distinct a)", 1, 13, "values are counted by count_distinct(field)"),
        ("stats pct(@message, 101)", 1, 21, "pct takes a number from 0 to 100 second"),
        ("stats pct(@message, @message)", 1, 21, "pct takes a number from 0 to 100 second"),
        ("filter @message", 1, 8, "this is a text, but a condition is needed"),
        ("filter 1 = 1 and 'x'", 1, 18, "this is a text, but a condition is needed"),
    ],
)
def test_names_that_mean_nothing_are_refused_with_their_place(query, line, column, message):
    with pytest.raises(QueryError) as caught:
        insights.compile(query)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message


def test_an_item_of_stats_may_use_the_names_of_earlier_items_and_of_keys(ask):
    # AWS documentation, CloudWatch Logs Insights sample queries (over-provisioned memory).
    query = (
        "stats max(strlen(@message)) as most, min(strlen(@message)) as least, "
        "most - least as spread, concat(@logStream, ':', spread) as told by @logStream"
    )
    assert ask(query, "a", "abcd") == [
        {"@logStream": "stream", "most": "4", "least": "1", "spread": "3", "told": "stream:3"}
    ]


def test_inside_an_aggregate_a_name_means_the_row(ask):
    query = "fields strlen(@message) as n | stats avg(n) as n, max(n), n + 1 as more"
    assert ask(query, "a", "abc") == [{"n": "2", "max(n)": "3", "more": "3"}]


def test_a_second_stats_sees_the_results_of_the_first(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: stats, multiple stats commands.
    query = (
        "stats count(*) as n by @logStream | filter n > 1 | stats count(*), sum(n) / count(*) as m"
    )
    events = [("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("c", "5"), ("c", "6")]
    assert ask(query, *events) == [{"count(*)": "2", "m": "2.5"}]


def test_a_column_without_alias_may_be_used_by_its_source_text(ask):
    query = "stats count(*) by @logStream | filter count(*) > 1 | sort count(*) desc"
    events = [("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("c", "5"), ("c", "6")]
    assert ask(query, *events) == [
        {"@logStream": "c", "count(*)": "3"},
        {"@logStream": "a", "count(*)": "2"},
    ]


def test_fields_accumulate_and_the_last_display_wins(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: fields, display.
    assert ask("fields 1 as a | fields 2 as b", "x") == [{"a": "1", "b": "2"}]
    assert ask("fields 1 as a, 2 as b | display a | display b, a as c", "x") == [
        {"b": "2", "c": "1"}
    ]


def test_without_fields_the_time_the_message_and_what_was_parsed_are_shown(ask):
    assert ask("limit 1", "k=v") == [{"@timestamp": "1970-01-01 00:00:01.000", "@message": "k=v"}]
    assert ask("parse '*=*' as key, value", "k=v") == [
        {
            "@timestamp": "1970-01-01 00:00:01.000",
            "@message": "k=v",
            "key": "k",
            "value": "v",
        }
    ]
    assert ask("fields @message | parse '*=*' as key, value", "k=v") == [
        {"@message": "k=v", "key": "k", "value": "v"}
    ]


def test_a_parsed_field_hides_an_earlier_one_of_its_name(ask):
    query = "parse '*=*' as k, v | parse v '*.*' as v, rest | display k, v, rest"
    assert ask(query, "a=1.2") == [{"k": "a", "v": "1", "rest": "2"}]


def test_function_names_do_not_care_for_case_and_fields_do(ask):
    assert ask("fields toUpper(@message) as A | display A", "x") == [{"A": "X"}]
    assert ask("fields 1 as A | display a, A", "x") == [{"A": "1"}]


def test_bins_beyond_the_cap_of_their_unit_are_cut_with_a_warning(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: bin caps seconds at 60.
    compiled = insights.compile("stats count(*)\nby bin(300s) as t")
    assert compiled.warnings == (
        "line 2, column 8: 300s is 60s, the most that Logs Insights takes of this unit",
    )
    assert len(ask("stats count(*) by bin(300s)", *["x"] * 61)) == 2
    assert insights.compile("stats count(*) by bin(60s), bin(24h), bin(400d)").warnings == ()


def test_percent_signs_around_a_text_to_find_get_a_warning():
    # AWS documentation, CloudWatch Logs Insights query syntax: filter (like finds a substring).
    assert insights.compile("filter @message like '%a%b%'").warnings == (
        "line 1, column 22: % is a character like any other to Logs Insights; "
        "like 'a%b' finds this anywhere",
    )
    assert insights.compile("filter @message like '5% of'").warnings == ()


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("stats count(*) as total | sort totl", "column 32: stats gives no 'totl', which no row "),
        ("stats count(*)\n| sort @timestamp", "line 2, column 8: stats gives no '@timestamp'"),
        ("stats count() by @log | sort count desc", "did you mean 'count()'?"),
        (
            "stats count(*) as n | filter m > 1 or m < 1",
            "stats gives no 'm', which no row has then",
        ),
    ],
)
def test_what_stats_does_not_give_is_missing_and_warned_of(source, query, warning):
    result = insights.run(query, source("a"), 0, 10)
    assert warning in result.warnings[0]
    assert len(result.rows) == ("filter" not in query)


def test_a_field_alone_holds_if_it_is_a_number_other_than_zero(ask):
    lines = ['{"a": true, "n": 1}', '{"a": false, "n": 2}', '{"a": "x", "n": 3}', '{"n": 4}']
    assert ask("filter a | fields n", *lines) == [{"n": "1"}]
    assert ask("stats sum(a and n) as s, sum(!a) as m", *lines) == [{"s": "1", "m": "3"}]
