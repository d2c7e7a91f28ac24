"""Patterns: clusters of texts with the same structure."""

from datetime import UTC, datetime

import pytest
from logs import Logs

from cwli.insights import QueryError, run
from cwli.insights import compile as compile_query
from cwli.insights.plan import Comparison
from cwli.insights.syntax import Span


def patterns(ask, *events, query="pattern @message"):
    return {row["@pattern"]: float(row["@sampleCount"]) for row in ask(query, *events)}


def test_the_documented_events_have_the_documented_pattern(ask):
    # AWS documentation, CloudWatch Logs: pattern analysis.
    events = [
        f"2023-01-01 19:00:0{second} [INFO] Calling DynamoDB to store for resource id {resource}"
        for second, resource in enumerate(
            ["12342342k124-12345", "324892398123-12345", "3ff231242342-12345"], 1
        )
    ]
    (row,) = ask("pattern @message", *events)
    assert row == {
        "@pattern": "<Time-1> [INFO] Calling DynamoDB to store for resource id <ID-2>",
        "@ratio": "1",
        "@sampleCount": "3",
        "@severityLabel": "Info",
    }


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("took 327 ms, 1.5e3 B, 4GB", "took <Number-1> ms, <Number-2> B, <Number-3>GB"),
        ("02/Jun/2024:14:26:00 +0000 a", "<Time-1> a"),
        ("Jun  2 14:26:00 host a", "<Time-1> host a"),
        ("at 14:26:00,123 of 2024-06-02", "at <Time-1> of <Time-2>"),
        ("from 10.0.0.1:443", "from <IPAddress-1>:<Number-2>"),
        ("id abcdefab-cdef-abcd-efab-cdefabcdefab", "id <ID-1>"),
        ("at 0x7fff in i-0abcdef1234567890", "at <ID-1> in i-<ID-2>"),
        ("worker-3 of eth0", "worker-<Number-1> of eth0"),
        ("<Number-7> 'é' \\ \0 ☃", "<Number-<Number-1>> 'é' \\ \0 ☃"),
    ],
)
def test_times_ids_addresses_and_numbers_vary(ask, text, pattern):
    assert patterns(ask, text) == {pattern: 1}


def test_the_marks_of_what_varies_are_replaced_in_texts(ask):
    marks = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
    assert patterns(ask, f"a {marks} 7") == {"a \ufffd\ufffd\ufffd\ufffd\ufffd <Number-1>": 1}


def test_texts_that_share_most_words_are_one_pattern(ask):
    users = ("alice", "bob", "carol2", "dave")
    counts = patterns(ask, *(f"user {user} has logged in" for user in users), "user alice left")
    assert counts == {"user <Token-1> has logged in": 4, "user alice left": 1}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("started the worker", "stopped the worker"),
        ("user alice left", "user bob slept"),
        ("INFO the disk is full", "ERROR the disk is full"),
        ("the disk is full", "the disk is full!"),
    ],
)
def test_other_texts_are_patterns_of_their_own(ask, one, other):
    assert patterns(ask, one, other) == {one: 1, other: 1}


def test_patterns_do_not_depend_on_the_order_of_events(ask):
    events = [f"job {name} of {kind} ended" for name in "abc" for kind in ("x", "y", "y")]
    assert patterns(ask, *events) == patterns(ask, *reversed(events))


def test_the_fields_of_a_json_event_are_words(ask):
    events = (f'{{"level":"warn","user":"{user}","ms":{ms}}}' for user, ms in [("a", 1), ("b", 2)])
    (row,) = ask("pattern @message", *events)
    assert row["@pattern"] == '{"level":"warn","user":"<Token-1>","ms":<Number-2>}'
    assert row["@severityLabel"] == "Warning"


def test_later_commands_read_the_patterns_of_a_field(ask):
    events = ("n=1 a", "n=2 a", "n=x b", "other")
    query = "parse @message 'n=* *' as n, rest | pattern n | filter @ratio > 0.5 | fields @pattern"
    (row,) = ask(query, *events)
    assert (row["@pattern"], row["@sampleCount"]) == ("<Number-1>", "2")
    assert ask("limit 1 | pattern @message | fields @sampleCount * 2 as n", *events)[0]["n"] == "2"
    assert ask("filter @message like 'none' | pattern @message", *events) == []


def test_every_event_that_passes_the_filters_counts_as_matched(source):
    result = run("filter @message like 'a' | pattern @message", source("a 1", "a 2", "b"))
    assert result.statistics["recordsMatched"] == 2
    assert any("pattern is an approximation" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("pattern @message | pattern @pattern", "a query takes only one pattern"),
        ("filter a in (SOURCE 'g' | pattern @message)", "patterns are not supported in a subquery"),
    ],
)
def test_a_second_pattern_is_refused(query, sentence):
    with pytest.raises(QueryError, match=sentence):
        compile_query(query)


DAY = 86_400
NOW = [("left 1", 2 * DAY + 1), ("left 2", 2 * DAY + 2), ("came 3", 2 * DAY + 3)]
BEFORE = [("came 4", 2 * DAY - 1), ("came 5", 2 * DAY - 2), ("gone 6", 2 * DAY - 3)]
DAY_BEFORE = [("came 7", DAY + 1), ("same 8", DAY + 9), ("out of range", 9)]


@pytest.fixture
def timed(tmp_path):
    store = Logs(tmp_path / "logs")
    for message, second in (*NOW, *BEFORE, *DAY_BEFORE):
        store.append("/group", "stream", [(second * 1000, message)], ingestion_time=0)
    return store.events(["/group"])


def differences(events, query):
    rows = run(query, events, start=2 * DAY, end=2 * DAY + 9).records
    return {
        row["@pattern"]: (
            row["@sampleCount"], row["@differenceEventCount"], row["@differenceDescription"]
        )
        for row in rows
    }  # fmt: skip


def test_diff_compares_patterns_with_those_of_the_time_before(timed):
    expected = {
        "left <Number-1>": ("2", "2", "new"),
        "came <Number-1>": ("1", "-1", "fewer"),
        "gone <Number-1>": ("0", "-1", "gone"),
    }
    assert differences(timed, "pattern @message | diff") == expected
    assert differences(timed, "diff") == expected


def test_diff_compares_patterns_with_those_of_a_day_before(timed):
    query = "parse @message '* *' as word, n | filter word != 'left' | pattern word | diff"
    expected = {"came": ("1", "0", "same"), "same": ("0", "-1", "gone")}
    assert differences(timed, f"{query} previousDay") == expected
    assert list(differences(timed, f"{query} previousday | limit 1")) == ["same"]


@pytest.mark.parametrize(
    ("period", "start", "first"),
    [
        ("", "2024-03-10T12:00:00", "2024-03-10T11:59:50"),
        ("previousday", "2024-03-10T12:00:00", "2024-03-09T12:00:00"),
        ("previousweek", "2024-03-10T12:00:00", "2024-03-03T12:00:00"),
        ("previousmonth", "2024-03-10T12:00:00", "2024-02-10T12:00:00"),
        ("previousmonth", "2024-03-31T12:00:00", "2024-02-29T12:00:00"),
        ("previousmonth", "2024-01-31T00:00:00", "2023-12-31T00:00:00"),
    ],
)
def test_the_earlier_time_range_is_as_long(period, start, first):
    begin, earlier = (
        int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()) for time in (start, first)
    )
    comparison = Comparison(Span("diff", 0, 4), period)
    assert comparison.earlier(begin, begin + 9) == (earlier, earlier + 9)


@pytest.mark.parametrize(
    ("query", "window", "sentence"),
    [
        ("diff", (None, 9), "diff needs the start and the end of a time range"),
        ("diff previousDay", (0, DAY), "diff needs a time range that the earlier one ends before"),
        ("pattern @message | limit 1 | diff", (0, 9), "diff must follow pattern"),
        ("diff | diff", (0, 9), "diff must follow pattern"),
        ("diff yesterday", (0, 9), "expected previousday or previousweek"),
        ("diff 7", (0, 9), "expected '|'"),
        ("stats count(*) by @logStream | diff", (0, 9), "diff must come before stats"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_refused(timed, query, window, sentence):
    with pytest.raises(QueryError) as error:
        run(query, timed, *window)
    assert sentence in str(error.value)
