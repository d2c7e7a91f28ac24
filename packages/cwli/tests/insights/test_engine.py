import os
import pty
import subprocess
import sys
import threading
import time

import duckdb
import pytest
from logs import Logs

from cwli import insights
from cwli.insights import EventSource, engine, run


@pytest.fixture
def store(tmp_path) -> Logs:
    return Logs(tmp_path / "logs")


def test_a_time_window_includes_its_first_and_last_second(store):
    # AWS documentation, StartQuery: the range is inclusive.
    store.append("g", "s", [(t, str(t)) for t in (9_999, 10_000, 20_000, 20_999, 21_000)], 0)
    result = run("fields @message | sort @timestamp", store.events(["g"]), 10, 20)
    assert [row["@message"] for row in result.records] == ["10000", "20000", "20999"]


def test_system_fields_come_from_the_event(store):
    store.append("/aws/group", "task/1", [(1717338360123, "hello")], 1717338361000)
    query = "fields @timestamp, @message, @logStream, @log, @ingestionTime"
    result = run(query, store.events(["/aws/group"]), 0, 2_000_000_000)
    (row,) = result.records
    assert row == {
        "@timestamp": "2024-06-02 14:26:00.123",
        "@message": "hello",
        "@logStream": "task/1",
        "@log": "123456789012:/aws/group",
        "@ingestionTime": "2024-06-02 14:26:01.000",
    }


def test_only_rows_of_events_end_with_a_unique_pointer(source):
    events = source("a", "b", "c")
    result = run("fields @message", events, 0, 10)
    assert result.columns == ("@message", "@ptr")
    assert [row[-1]["field"] for row in result.rows] == ["@ptr"] * 3
    assert len({row[-1]["value"] for row in result.rows}) == 3
    assert run("stats count(*)", events, 0, 10).columns == ("count(*)",)


def test_rows_are_newest_first_unless_sorted(ask):
    assert ask("fields @message", "1", "2", "3") == [{"@message": m} for m in "321"]
    assert ask("sort @timestamp asc | display @message", "1", "2") == [
        {"@message": "1"},
        {"@message": "2"},
    ]


@pytest.mark.parametrize("part", ["S3", "to S3", "to S", " S3", "into s", "o S3A"])
def test_like_finds_a_part_with_any_first_character(ask, part):
    messages = ["S3", "to S3", "into S3A", "S3, to S", "into s3", ""]
    matches = [message for message in messages if part in message]
    others = [message for message in messages if part not in message]
    for operator, expected in (("like", matches), ("not like", others)):
        query = f"filter @message {operator} '{part}' | sort @timestamp asc | display @message"
        assert [row["@message"] for row in ask(query, *messages)] == expected


def test_later_commands_keep_the_sort_order(ask):
    query = "sort @message desc | filter @message != '2' | parse @message '*' as m | display m"
    assert [row["m"] for row in ask(query, "2", "3", "1")] == ["3", "1"]


def test_events_with_equal_times_keep_the_order_of_writing(store):
    store.append("g", "s", [(5, message) for message in "dacb"], 0)
    result = run("fields @message | sort @timestamp", store.events(["g"]), 0, 1)
    assert [row["@message"] for row in result.records] == list("dacb")


def test_statistics_count_events_bytes_and_matching_events(source):
    # AWS documentation, GetQueryResults: QueryStatistics.
    events = source("aé", "b", "ab")
    result = run("filter @message like 'a' | filter @message like 'b' | limit 1", events, 0, 10)
    assert result.statistics == {"recordsScanned": 3.0, "recordsMatched": 1.0, "bytesScanned": 6.0}
    query = "parse @message 'a*' as x | filter ispresent(x) | stats count(*) as n | filter n > 9"
    assert run(query, events, 0, 10).statistics["recordsMatched"] == 2.0
    assert run("stats count(*)", events, 0, 0).statistics["recordsScanned"] == 0.0


def test_the_smallest_limit_applies(ask):
    lines = [str(n) for n in range(6)]
    assert len(ask("limit 4", *lines)) == 4
    assert len(ask("limit 4 | limit 2", *lines)) == 2
    assert len(ask("limit 4", *lines, limit=3)) == 3
    assert len(ask("fields @message", *lines, limit=5)) == 5


def test_a_query_without_limit_returns_ten_thousand_rows(store):
    # AWS documentation, StartQuery: limit.
    store.append("g", "s", ((n, "x") for n in range(10_050)), 0)
    events = store.events(["g"])
    cut = run("fields @message", events, 0, 100)
    assert len(cut.rows) == 10_000
    assert cut.warnings == ("there are more than 10,000 rows; write limit 100000 for more",)
    whole = run("fields @message | limit 10020", events, 0, 100)
    assert (len(whole.rows), whole.warnings) == (10_020, ())
    assert run("fields @message", events, 0, 100, limit=10_000).warnings == ()


def test_dedup_keeps_the_first_row_of_each_key_and_every_row_without_a_key(ask):
    # AWS documentation, CloudWatch Logs Insights query syntax: dedup.
    lines = ["k=a 1", "k=b 2", "x 3", "k=a 4", "x 5"]
    query = "parse @message 'k=* *' as k, n | display @message"
    newest = [row["@message"] for row in ask(f"{query} | dedup k", *lines)]
    assert newest == ["x 5", "k=a 4", "x 3", "k=b 2"]
    oldest = [row["@message"] for row in ask(f"{query} | sort @timestamp | dedup k", *lines)]
    assert oldest == ["k=a 1", "k=b 2", "x 3", "x 5"]
    assert len(ask(f"{query} | dedup k, n | limit 2", *lines)) == 2


def test_now_is_the_second_of_the_start_of_the_query(ask):
    before = int(time.time())
    (row,) = ask("fields now() as now", "x")
    assert before <= int(row["now"]) <= int(time.time())


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP VIEW events; --",
        "x') OR TRUE --",
        "$1 ? {} %s",
        "{0}{1}{all}",
        'say "hi"; -- \\',
        "E'\\x41'",
        "*/ SELECT 1 /*",
    ],
)
def test_texts_of_the_query_never_become_sql(ask, text):
    literal = text.replace("\\", "\\\\").replace("'", "\\'")
    query = (
        f"filter @message = '{literal}' or @message like '{literal}' or @message in ['{literal}'] "
        f"| parse @message '{literal.replace('*', '')}*' as rest "
        f"| fields concat('{literal}', '') as `{text.replace('`', '')}` | display @message"
    )
    assert ask(query, text, "other") == [{"@message": text}]


def test_a_compiled_query_may_run_more_than_once(source):
    compiled = insights.compile("stats count(*) as n")
    assert run(compiled, source("a"), 0, 9).records == [{"n": "1"}]
    assert run(compiled, source("a", "b"), 0, 9).records == [{"n": "2"}]


QUERIES = (
    "filter @message like 'a' | parse @message '*=*' as k, n | stats sum(n), count(*) by k",
    "filter @message like 'a' | stats count(*) as c by @message | filter c > 5 | stats max(c)",
    "filter @message like 'a' | limit 1 | stats count(*)",
    "filter @message like 'a' | dedup @message",
)


@pytest.mark.parametrize("query", QUERIES)
def test_an_event_matches_if_it_passes_every_filter_before_the_first_stats(source, query):
    statistics = run(query, source("a=1", "b=2", "a=3", "é"), 0, 10).statistics
    assert statistics == {"recordsMatched": 2, "recordsScanned": 4, "bytesScanned": 11}


def test_a_query_without_bounds_reads_every_event(source):
    assert run("fields @message", source("a", "b")).statistics["recordsScanned"] == 2


def test_a_union_of_no_sources_has_no_events():
    assert run("fields @message", EventSource.union([]), 0, 10).rows == []


def test_progress_is_reported_only_while_a_statement_runs(monkeypatch):
    monkeypatch.setattr(engine, "_PROGRESS_SECONDS", 0.001)
    enough = threading.Event()
    percentages = []

    def receive(percentage):
        percentages.append(percentage)
        if len(percentages) == 3:
            enough.set()

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar_print = FALSE")
        with engine.report_progress(connection, receive):
            connection.execute("SELECT 1")
            assert enough.wait(60)
        count = len(percentages)
        connection.execute("SELECT 1")
    assert len(percentages) == count
    assert all(0 <= percentage <= 100 for percentage in percentages)


def test_a_receiver_of_progress_does_not_change_the_answer(source):
    events = source("n=1", "n=3")
    query = "parse 'n=*' as n | stats avg(n)"
    assert run(query, events, on_progress=lambda percentage: None) == run(query, events)


def test_progress_goes_to_the_terminal_and_not_to_standard_output(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("x\n")
    outer, inner = pty.openpty()
    code = "from cwli.command import command; command()"
    command = [sys.executable, "-c", code, "stats count(*) as n", log, "--format", "csv"]
    # The tests may start in any terminal; this one can move its cursor.
    env = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=inner, check=True, text=True
    )
    os.close(inner)
    assert done.stdout == "n\n1\n"
    with os.fdopen(outer, "rb") as terminal:
        assert b"reading events" in terminal.read1()
