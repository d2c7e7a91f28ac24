import pytest

from cwli import insights


def test_an_item_of_stats_may_use_the_names_of_earlier_items_and_of_keys(ask):
    # AWS documentation, CloudWatch Logs Insights sample queries (over-provisioned memory).
    query = (
        "stats max(strlen(@message)) as most, min(strlen(@message)) as least, "
        "most - least as spread, concat(@logStream, ':', spread) as text by @logStream"
    )
    assert ask(query, "a", "abcd") == [
        {"@logStream": "stream", "most": "4", "least": "1", "spread": "3", "text": "stream:3"}
    ]


def test_a_name_inside_an_aggregate_is_a_field_of_the_row(ask):
    query = "fields strlen(@message) as n | stats avg(n) as n, max(n), n + 1 as more"
    assert ask(query, "a", "abc") == [{"n": "2", "max(n)": "3", "more": "3"}]


def test_a_second_stats_sees_the_results_of_the_first(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: stats, multiple stats commands.
    query = (
        "stats count(*) as n by @logStream | filter n > 1 | stats count(*), sum(n) / count(*) as m"
    )
    events = [("a", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("c", "5"), ("c", "6")]
    assert ask(query, *events) == [{"count(*)": "2", "m": "2.5"}]


def test_the_source_text_names_a_column_without_alias(ask):
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


def test_a_query_without_fields_shows_time_message_and_parsed_fields(ask):
    assert ask("limit 1", "k=v") == [{"@timestamp": "1970-01-01 00:00:01.000", "@message": "k=v"}]
    assert ask("parse '*=*' as key, value", "k=v") == [
        {"@timestamp": "1970-01-01 00:00:01.000", "@message": "k=v", "key": "k", "value": "v"}
    ]
    assert ask("fields @message | parse '*=*' as key, value", "k=v") == [
        {"@message": "k=v", "key": "k", "value": "v"}
    ]


def test_a_parsed_field_hides_an_earlier_one_of_its_name(ask):
    query = "parse '*=*' as k, v | parse v '*.*' as v, rest | display k, v, rest"
    assert ask(query, "a=1.2") == [{"k": "a", "v": "1", "rest": "2"}]


def test_case_matters_in_field_names_and_not_in_function_names(ask):
    assert ask("fields toUpper(@message) as A | display A", "x") == [{"A": "X"}]
    assert ask("fields 1 as A | display a, A", "x") == [{"A": "1"}]


def test_a_bin_beyond_the_cap_of_its_unit_is_capped_with_a_warning(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: bin caps seconds at 60.
    compiled = insights.compile("stats count(*)\nby bin(300s) as t")
    assert compiled.plan.warnings == (
        "line 2, column 8: Logs Insights reads 300s as 60s, the largest amount of this unit",
    )
    assert len(ask("stats count(*) by bin(300s)", *["x"] * 61)) == 2
    assert insights.compile("stats count(*) by bin(60s), bin(24h), bin(400d)").plan.warnings == ()


def test_percent_signs_around_a_text_to_find_get_a_warning():
    # AWS documentation, CloudWatch Logs Insights query syntax: filter (like finds a substring).
    assert insights.compile("filter @message like '%a%b%'").plan.warnings == (
        "line 1, column 22: % is an ordinary character in Logs Insights; "
        "write like 'a%b' to find the text anywhere",
    )
    assert insights.compile("filter @message like '5% of'").plan.warnings == ()


@pytest.mark.parametrize(
    "query",
    [
        "fields a as x | fields b as x",
        "fields x | display toupper(x) as x",
        "fields x | parse @message '* *' as x, y",
        "stats count(*) as x | fields x * 2 as x",
    ],
)
def test_a_value_that_a_later_one_hides_gets_a_warning(query):
    (warning,) = insights.compile(query).plan.warnings
    assert "'x' is another value from here on; Logs Insights refuses this" in warning


def test_a_field_that_is_shown_twice_gets_no_warning():
    query = "parse @message '* *' as x, y | fields x, a | fields x, a, y as z | display x, @message"
    assert insights.compile(query).plan.warnings == ()


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("stats count(*) as total | sort totl", "column 32: 'totl' is missing, because stats does"),
        ("stats count(*)\n| sort @timestamp", "line 2, column 8: '@timestamp' is missing, beca"),
        ("stats count() by @log | sort count desc", "did you mean 'count()'?"),
        ("stats count(*) as n | fields m + 1 as x, m + 2 as y",
         "'m' is missing, because stats does not return it; the results are n"),
    ],
)  # fmt: skip
def test_a_field_that_stats_does_not_return_is_missing_with_a_warning(source, query, warning):
    result = insights.run(query, source("a"), 0, 10)
    assert warning in result.warnings[0]
    assert len(result.rows) == ("filter" not in query)


@pytest.mark.parametrize(
    ("query", "warned"),
    [
        ("dedup m", ["column 41: 'm' is a map or a list, which dedup does not take on AWS"]),
        ("sort m desc", ["column 40: 'm' is a map or a list, which sort does not take on AWS"]),
        ("stats max(m) by m.b", ["column 45: 'm' is a map or a list, which stats does not take"]),
        ("fields m as n | stats count(*) by n", ["column 69: 'n' is a map or a list, which stats"]),
        ("pattern m", ["column 43: 'm' is a map or a list, which pattern does", "approximation"]),
        ("stats max(m.a), count(*) by jsonStringify(m) | sort m", ["'m' is missing"]),
    ],
)
def test_maps_and_lists_are_warned_of_where_aws_takes_none(query, warned):
    warnings = insights.compile(f"fields jsonParse(@message) as m | {query}").plan.warnings
    assert len(warnings) == len(warned)
    assert all(text in warning for text, warning in zip(warned, warnings, strict=True))


def test_a_field_that_no_event_has_and_filterindex_names_is_told_of_indexes(source):
    result = insights.run("filterIndex a = 1", source('{"b": 1}'), 0, 10)
    rule = "on AWS filterIndex reads only log groups that have an index of the field"
    assert f"no event has a field 'a'; {rule}" in result.warnings


def test_field_is_fields():
    assert insights.compile("field a, b").commands == insights.compile("fields a, b").commands


@pytest.mark.parametrize(
    ("query", "undefined"),
    [
        ("parse @message 'took * ms' as valeu\n| stats avg(value)",
         [(2, 13, "no command makes 'value', so JSON in the message must have it; did you mean "
         "'valeu'?", False)]),
        ("parse @message 'took * ms' as ms | filter ms > 1 | stats avg(ms)", []),
        # Without a command that takes fields from texts, the fields come from JSON.
        ("stats avg(value)", []),
        ("fields size / 2 as half | stats avg(value)", []),
        ("stats count(*) as n | sort m",
         [(1, 28, "'m' is missing, because stats does not return it; the results are n", True)]),
        ("fields @logstream", [(1, 8, "no log has a field '@logstream'; did you mean "
                                "'@logStream'?", True)]),
    ],
)  # fmt: skip
def test_a_field_that_no_command_makes_is_named_with_its_place(query, undefined):
    assert list(insights.compile(query).plan.undefined) == undefined


def test_a_field_as_a_condition_holds_if_it_is_a_number_other_than_zero(ask):
    lines = ['{"a": true, "n": 1}', '{"a": false, "n": 2}', '{"a": "x", "n": 3}', '{"n": 4}']
    assert ask("filter a | fields n", *lines) == [{"n": "1"}]
    assert ask("stats sum(a and n) as s, sum(!a) as m", *lines) == [{"s": "1", "m": "3"}]
