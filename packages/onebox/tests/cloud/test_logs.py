"""CloudWatch Logs on one machine, through the Logs API."""

import json
import time
from contextlib import closing

import pytest
from botocore.exceptions import ClientError
from endless import EVENTS

from cwli.insights import EventSource
from onebox.cloud import log_queries
from onebox.cloud.logs import CloudWatchLogs, metrics_of
from onebox.logs.store import LogStore


def now_ms():
    return time.time_ns() // 1_000_000


@pytest.fixture
def api(endpoint, logs):
    api = endpoint.client("logs")
    api.create_log_group(logGroupName="group")
    return api


def put(api, *messages, stream="stream", start=None):
    """Put events one millisecond apart; return the first one's time."""
    start = now_ms() if start is None else start
    api.create_log_stream(logGroupName="group", logStreamName=stream)
    api.put_log_events(
        logGroupName="group",
        logStreamName=stream,
        logEvents=[
            {"timestamp": start + number, "message": message}
            for number, message in enumerate(messages)
        ],
    )
    return start


def messages(answer):
    return [event["message"] for event in answer["events"]]


def test_events_that_are_put_can_be_read_in_order_with_their_times(api):
    start = put(api, "one", "two", "three")
    events = api.get_log_events(logGroupName="group", logStreamName="stream", startFromHead=True)[
        "events"
    ]
    assert [event["message"] for event in events] == ["one", "two", "three"]
    assert [event["timestamp"] - start for event in events] == [0, 1, 2]
    assert all(event["ingestionTime"] >= start for event in events)


def test_a_stream_is_read_in_pages_and_between_two_times(api):
    start = put(api, *map(str, range(10)))
    where = {"logGroupName": "group", "logStreamName": "stream", "startFromHead": True}
    first = api.get_log_events(**where, limit=4)
    second = api.get_log_events(**where, limit=4, nextToken=first["nextForwardToken"])
    assert messages(first) + messages(second) == list("01234567")
    assert messages(api.get_log_events(**where, startTime=start + 3, endTime=start + 5)) == [
        "3",
        "4",
        "5",
    ]


def test_the_output_of_a_program_creates_its_stream_and_can_be_read(api, logs):
    logs.write("group", "program", ["one", "two"])
    answer = api.get_log_events(logGroupName="group", logStreamName="program", startFromHead=True)
    assert messages(answer) == ["one", "two"]


def test_a_stream_is_described_with_its_first_and_last_event(api):
    start = put(api, "one", "two", "three")
    api.create_log_stream(logGroupName="group", logStreamName="empty")
    empty, stream = api.describe_log_streams(logGroupName="group")["logStreams"]
    assert "firstEventTimestamp" not in empty
    assert stream["logStreamName"] == "stream"
    assert (stream["firstEventTimestamp"], stream["lastEventTimestamp"]) == (start, start + 2)
    assert stream["lastIngestionTime"] >= start


def test_streams_are_described_by_prefix(api, logs):
    for stream in ("trial/a/1", "trial/a/2", "other"):
        logs.write("group", stream, ["line"])
    described = api.describe_log_streams(logGroupName="group", logStreamNamePrefix="trial/")
    names = [stream["logStreamName"] for stream in described["logStreams"]]
    assert names == ["trial/a/1", "trial/a/2"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", ["Wrote 10 records", "read 5 records", "nothing"]),
        ("records", ["Wrote 10 records", "read 5 records"]),
        ("Wrote records", ["Wrote 10 records"]),
        ('"10 records"', ["Wrote 10 records"]),
    ],
)
def test_events_are_filtered_by_words_or_a_phrase(api, pattern, found):
    put(api, "Wrote 10 records", "read 5 records", "nothing")
    answer = api.filter_log_events(logGroupName="group", filterPattern=pattern)
    assert messages(answer) == found


def test_filtered_events_come_in_pages(api):
    put(api, "one", "two", "three")
    pages = api.get_paginator("filter_log_events").paginate(
        logGroupName="group", PaginationConfig={"PageSize": 2}
    )
    assert [messages(page) for page in pages] == [["one", "two"], ["three"]]


@pytest.mark.parametrize(
    "pattern", ["?ERROR ?WARN", "-debug", "{ $.level = 1 }", "%a+%", "[a, b]", 'a "b c"']
)
def test_an_unsupported_filter_pattern_is_refused_by_name(api, pattern):
    with pytest.raises(ClientError, match=r"filterPattern .* is not supported on one machine"):
        api.filter_log_events(logGroupName="group", filterPattern=pattern)


def test_an_unknown_group_is_not_found(api):
    with pytest.raises(api.exceptions.ResourceNotFoundException):
        api.put_log_events(
            logGroupName="unknown",
            logStreamName="stream",
            logEvents=[{"timestamp": now_ms(), "message": "lost"}],
        )
    with pytest.raises(api.exceptions.ResourceNotFoundException):
        api.filter_log_events(logGroupName="unknown")


def test_an_unsupported_action_is_refused_by_name(api):
    put(api, "one")
    with pytest.raises(ClientError, match="DeleteLogStream is not supported on one machine"):
        api.delete_log_stream(logGroupName="group", logStreamName="stream")


def test_streams_of_an_earlier_cloud_are_restored(api, logs, store, endpoint):
    logs.write("group", "old", ["a line of long ago"])
    api.delete_log_group(logGroupName="group")
    api.create_log_group(logGroupName="group")
    assert messages(api.filter_log_events(logGroupName="group")) == ["a line of long ago"]


def test_closing_restores_the_methods_of_moto(store, endpoint):
    logs = CloudWatchLogs(store, endpoint)
    logs.close()
    api = endpoint.client("logs")
    api.create_log_group(logGroupName="group")
    put(api, "one")
    assert messages(api.filter_log_events(logGroupName="group")) == ["one"]
    assert list(store.streams("group")) == []


@pytest.fixture
def query(api):
    """Return a way to run a query over the last and the next minute to its final answer."""

    def query(text, **request):
        if not request:
            request = {"logGroupName": "group"}
        now = int(time.time())
        times = {"startTime": now - 60, "endTime": now + 60}
        started = api.start_query(queryString=text, **{**times, **request})
        return await_end(api, started["queryId"])

    return query


def await_end(api, query_id):
    deadline = time.monotonic() + 30
    while (answer := api.get_query_results(queryId=query_id))["status"] in RUNNING:
        assert time.monotonic() < deadline, "the query did not end"
        time.sleep(0.01)
    return answer


RUNNING = {"Scheduled", "Running"}


def test_a_query_reads_the_events_that_were_put(api, query):
    put(api, "Wrote 10 records at 2.5 per second", "Wrote 10 records at 3.5 per second", "nothing")
    answer = query('parse @message "at * per second" as rate | stats avg(rate), count(rate)')
    assert answer["status"] == "Complete"
    assert answer["results"] == [
        [{"field": "avg(rate)", "value": "3"}, {"field": "count(rate)", "value": "2"}]
    ]
    assert answer["statistics"]["recordsScanned"] == 3
    assert answer["statistics"]["recordsMatched"] == 3
    assert answer["statistics"]["logGroupsScanned"] == 1
    assert answer["statistics"]["bytesScanned"] > 0


def test_a_query_reads_the_output_of_programs_by_stream(query, logs):
    logs.write("group", "one", ["a", "b"])
    logs.write("group", "two", ["c"])
    answer = query("stats count(*) as lines by @logStream | sort @logStream")
    values = [[cell["value"] for cell in row] for row in answer["results"]]
    assert values == [["one", "2"], ["two", "1"]]


def test_a_query_is_limited_to_its_times_and_rows(api, query):
    start = put(api, "one", "two", "three")
    assert len(query("fields @message", logGroupName="group", limit=2)["results"]) == 2
    later = start // 1000 + 5
    answer = query("fields @message", logGroupName="group", startTime=later, endTime=later + 5)
    assert answer["results"] == []


def test_groups_may_be_named_together_or_by_arn(api, query, logs):
    api.create_log_group(logGroupName="other")
    logs.write("group", "stream", ["one"])
    logs.write("other", "stream", ["two"])
    count = "stats count(*) as lines"
    arn = "arn:aws:logs:us-east-1:123456789012:log-group:other"
    both = query(count, logGroupNames=["group", "other"])
    by_arn = query(count, logGroupIdentifiers=[arn])
    assert both["results"] == [[{"field": "lines", "value": "2"}]]
    assert by_arn["results"] == [[{"field": "lines", "value": "1"}]]


def test_a_query_can_name_its_groups_by_source(api, query, logs):
    api.create_log_group(logGroupName="other")
    logs.write("group", "stream", ["one", "two"])
    logs.write("other", "stream", ["two"])
    named = query("SOURCE logGroups(namePrefix: ['oth']) | stats count(*) as lines", limit=1)
    inside = query("filter @message in (SOURCE 'other' | fields @message) | stats count(*) as n")
    assert named["results"] == [[{"field": "lines", "value": "1"}]]
    assert named["statistics"]["logGroupsScanned"] == 1
    assert inside["results"] == [[{"field": "n", "value": "1"}]]
    assert inside["statistics"]["logGroupsScanned"] == 2
    with pytest.raises(api.exceptions.ResourceNotFoundException, match="is named 'unknown'"):
        query("SOURCE 'unknown' | limit 1", limit=1)
    with pytest.raises(ClientError, match="and SOURCE must be given; 2 are"):
        query("SOURCE 'other' | limit 1")


def test_a_query_that_does_not_compile_is_malformed_and_names_the_position(api, query):
    text = "fields @message\n| fliter 1"
    with pytest.raises(api.exceptions.MalformedQueryException) as raised:
        query(text)
    answer = raised.value.response
    assert "line 2, column 3" in answer["Error"]["Message"]
    fault = answer["queryCompileError"]
    assert fault["location"]["startCharOffset"] == text.index("fliter")
    assert fault["message"] == answer["Error"]["Message"]


def test_a_query_over_an_unknown_group_is_not_found(api, query):
    with pytest.raises(api.exceptions.ResourceNotFoundException, match="'unknown' does not exist"):
        query("fields @message", logGroupName="unknown")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"logGroupName": "group", "limit": 10_001}, "limit is 10001; accepted: 1 to 10000"),
        ({"logGroupName": "group", "queryLanguage": "SQL"}, "queryLanguage is SQL"),
        ({"logGroupName": "group", "startTime": 2, "endTime": 1}, "End time should not be earlier"),
        ({"logGroupName": "group", "logGroupNames": ["group"]}, "Exactly one of logGroupName"),
        ({"limit": 1}, "Exactly one of logGroupName"),
    ],
)
def test_an_unsupported_query_request_is_refused_by_name(query, request_, words):
    with pytest.raises(ClientError, match=words):
        query("fields @message", **request_)


def test_a_failed_query_has_the_status_failed_and_is_logged(api, query, logs, caplog):
    logs.write("group", "stream", ["one"])
    # RE2 repeats at most 1000 times; the error shows only when the query runs.
    answer = query("parse @message /(?<a>.{2000})/")
    assert answer["status"] == "Failed"
    assert answer["results"] == []
    assert "A log query failed" in caplog.text


@pytest.fixture
def damaged_list(tmp_path):
    """Have a log group whose list of merged segments is damaged."""
    with closing(LogStore(tmp_path / "logs")) as store:
        store.append("group", "stream", [(1, "line")], 1)
    (segment,) = (tmp_path / "logs" / "group").glob("*.parquet")
    merged = segment.rename(segment.with_stem(f"{segment.stem}-merged"))
    merged.with_suffix(".sources").write_text("[")
    return merged.with_suffix(".sources")


def test_a_query_of_damaged_logs_fails_and_names_the_file(api, query, damaged_list, caplog):
    answer = query("fields @message")

    assert (answer["status"], answer["results"]) == ("Failed", [])
    assert caplog.messages == [
        f"A log query failed: {damaged_list} is damaged: it is not a list of segments; "
        "`tidemark doctor` says what can be done"
    ]


def test_a_request_for_damaged_lines_is_answered_with_the_name_of_the_file(api, damaged_list):
    api.create_log_stream(logGroupName="group", logStreamName="stream")

    with pytest.raises(ClientError, match=f"{damaged_list} is damaged: .*`tidemark doctor`"):
        api.get_log_events(logGroupName="group", logStreamName="stream")


def test_queries_are_described_by_group_and_status(api, query):
    api.create_log_group(logGroupName="other")
    query("fields @message")
    query("fields @logStream", logGroupName="other")
    (described,) = api.describe_queries(logGroupName="other", status="Complete")["queries"]
    assert described["queryString"] == "fields @logStream"
    assert api.describe_queries(status="Failed")["queries"] == []


@pytest.fixture
def endless(api, monkeypatch):
    """Return a way to start a query over events without end."""
    monkeypatch.setattr(LogStore, "events", lambda *_: EVENTS)
    request = {"logGroupName": "group", "startTime": 0, "endTime": 2_000_000_000}
    return lambda: api.start_query(queryString="filter @message = ''", **request)["queryId"]


def test_stopped_queries_end_and_others_are_answered_meanwhile(api, endless, monkeypatch):
    queries = [endless() for _ in range(4)]
    monkeypatch.setattr(LogStore, "events", lambda *_: EventSource.union([]))
    now = int(time.time())
    waiting = api.start_query(
        queryString="stats count(*)", logGroupName="group", startTime=now, endTime=now
    )
    assert len(api.describe_queries(logGroupName="group")["queries"]) == 5
    for query_id in queries:
        api.stop_query(queryId=query_id)
    assert {await_end(api, query_id)["status"] for query_id in queries} == {"Cancelled"}
    assert await_end(api, waiting["queryId"])["status"] == "Complete"


def test_the_first_answer_about_a_short_query_is_its_result(api, monkeypatch):
    monkeypatch.setattr(log_queries, "LONGEST_ANSWER_SECONDS", 60.0)
    request = {"logGroupName": "group", "startTime": 0, "endTime": 2_000_000_000}
    query_id = api.start_query(queryString="stats count(*)", **request)["queryId"]
    assert api.get_query_results(queryId=query_id)["status"] == "Complete"


def test_a_query_beyond_the_time_limit_ends_as_timeout(api, endless, monkeypatch):
    monkeypatch.setattr(log_queries, "MOST_SECONDS", 0.0)
    assert await_end(api, endless())["status"] == "Timeout"


def test_a_query_whose_client_has_died_is_cancelled(api, endless, monkeypatch):
    monkeypatch.setattr("cwli.cancellation.SILENCE_SECONDS", 0.0)  # each request is the last
    assert await_end(api, endless())["status"] == "Cancelled"


def test_closing_cancels_the_running_queries(endless):
    endless()  # the end of the test closes the logs


def test_an_ended_query_cannot_be_stopped(api, query):
    query("fields @message")
    (described,) = api.describe_queries()["queries"]
    with pytest.raises(ClientError, match="has already ended with status Complete"):
        api.stop_query(queryId=described["queryId"])


def test_an_unknown_query_is_not_found(api):
    with pytest.raises(api.exceptions.ResourceNotFoundException, match="Query 1 does not exist"):
        api.get_query_results(queryId="1")


def embedded(**changes):
    document = {
        "_aws": {
            "Timestamp": 1_700_000_000_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "Tidemark",
                    "Dimensions": [["suite", "version"]],
                    "Metrics": [{"Name": "Rate", "Unit": "Count/Second"}],
                }
            ],
        },
        "suite": "rocksdb",
        "version": "9.8.4",
        "Rate": [476190.5, 2.0],
    }
    return json.dumps({**document, **changes})


def test_a_line_in_the_embedded_format_holds_a_datum_per_value():
    (first_namespace, first), (_, second) = metrics_of(embedded())
    assert first_namespace == "Tidemark"
    assert first["MetricName"] == "Rate"
    assert first["Unit"] == "Count/Second"
    assert first["Dimensions"] == [
        {"Name": "suite", "Value": "rocksdb"},
        {"Name": "version", "Value": "9.8.4"},
    ]
    assert first["Timestamp"].timestamp() == 1_700_000_000
    assert (first["Value"], second["Value"]) == (476190.5, 2.0)


@pytest.mark.parametrize(
    "line",
    [
        "Wrote 10 records",
        '{"rate": 1}',
        'text that mentions "_aws"',
        '["_aws"]',
        '{"_aws": {"Timestamp": "today"}}',
        '{"_aws": {"Timestamp": 1, "CloudWatchMetrics": [{"Metrics": [{"Name": "Rate"}]}]}}',
        embedded(Rate="fast"),
        embedded(Rate=True),
    ],
)
def test_a_line_without_embedded_metrics_holds_no_datum(line):
    assert list(metrics_of(line)) == []


def test_a_dimension_set_with_a_missing_member_is_ignored():
    line = json.loads(embedded())
    del line["version"]
    assert list(metrics_of(json.dumps(line))) == []


def test_embedded_metrics_in_events_reach_cloudwatch(api, endpoint):
    put(api, embedded(), "a line between", embedded(Rate=8.5))
    answer = endpoint.client("cloudwatch").get_metric_statistics(
        Namespace="Tidemark",
        MetricName="Rate",
        Dimensions=[
            {"Name": "suite", "Value": "rocksdb"},
            {"Name": "version", "Value": "9.8.4"},
        ],
        StartTime=1_699_999_000,
        EndTime=1_700_001_000,
        Period=3600,
        Statistics=["Sum", "SampleCount"],
    )
    (point,) = answer["Datapoints"]
    assert point["SampleCount"] == 3
    assert point["Sum"] == pytest.approx(476190.5 + 2.0 + 8.5)
