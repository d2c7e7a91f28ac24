"""Logs Insights as the console and Grafana ask for it: saved queries, fields and records."""

import json
import time

import pytest
from botocore.exceptions import ClientError

from onebox.cloud import log_queries, replacements


@pytest.fixture
def api(endpoint, logs):
    api = endpoint.client("logs")
    api.create_log_group(logGroupName="/app")
    api.create_log_stream(logGroupName="/app", logStreamName="s")
    now = time.time_ns() // 1_000_000
    messages = ['{"a": {"b": 1}, "c": 2}', '{"c": 3}', "plain", "{"]
    events = [{"timestamp": now + i, "message": each} for i, each in enumerate(messages)]
    api.put_log_events(logGroupName="/app", logStreamName="s", logEvents=events)
    yield api
    log_queries.SAVED.clear()


def test_the_fields_of_a_group_have_their_shares(api):
    found = api.get_log_group_fields(logGroupName="/app")["logGroupFields"]
    shares = {field["name"]: field["percent"] for field in found}
    assert shares["@message"] == shares["@timestamp"] == 100
    assert (shares["c"], shares["a.b"]) == (50, 25)
    with pytest.raises(ClientError, match="The log group /none does not exist"):
        api.get_log_group_fields(logGroupName="/none")


def test_the_record_of_a_pointer_is_its_event(api):
    window = {"startTime": 0, "endTime": int(time.time()) + 60}
    query = "fields @message | filter c = 3"
    started = api.start_query(logGroupName="/app", queryString=query, **window)
    ((message, pointer),) = api.get_query_results(queryId=started["queryId"])["results"]
    record = api.get_log_record(logRecordPointer=pointer["value"])["logRecord"]
    assert record["@message"] == message["value"]
    assert record["@logStream"] == "s"
    with pytest.raises(ClientError, match="No event has the logRecordPointer x"):
        api.get_log_record(logRecordPointer="x")


def test_the_oldest_ended_queries_are_forgotten(api, monkeypatch):
    monkeypatch.setattr(replacements, "_MOST_CELLS", 1)
    monkeypatch.setattr(replacements, "_READ_SECONDS", 0.0)
    query = {"logGroupName": "/app", "queryString": "limit 1", "startTime": 0, "endTime": 1}
    ids = []
    for _ in range(3):
        ids.append(api.start_query(**query)["queryId"])
        assert api.get_query_results(queryId=ids[-1])["status"] == "Complete"

    with pytest.raises(ClientError, match=f"Query {ids[0]} does not exist"):
        api.get_query_results(queryId=ids[0])
    assert api.get_query_results(queryId=ids[1])["status"] == "Complete"


def test_log_groups_are_listed_by_a_part_of_their_names(api):
    api.create_log_group(logGroupName="/other")
    listed = api.list_log_groups(logGroupNamePattern="app")["logGroups"]
    assert [group["logGroupName"] for group in listed] == ["/app"]
    assert api.describe_field_indexes(logGroupIdentifiers=["/app"])["fieldIndexes"] == []


def test_a_query_is_saved_changed_and_deleted(api):
    saved = {"name": "slow", "queryString": "limit 3", "logGroupNames": ["/app"]}
    id_ = api.put_query_definition(**saved)["queryDefinitionId"]
    api.put_query_definition(**saved | {"name": "slower"}, queryDefinitionId=id_)
    (found,) = api.describe_query_definitions(queryDefinitionNamePrefix="sl")["queryDefinitions"]
    assert (found["name"], found["queryString"]) == ("slower", "limit 3")
    assert api.describe_query_definitions(queryDefinitionNamePrefix="x")["queryDefinitions"] == []
    assert api.delete_query_definition(queryDefinitionId=id_)["success"]
    assert api.describe_query_definitions()["queryDefinitions"] == []


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"queryString": "dance"}, "queryString: line 1, column 1: unknown command 'dance'"),
        ({"queryDefinitionId": "x"}, "There is no query definition x"),
    ],
)
def test_a_query_that_cannot_be_saved_is_refused(api, more, sentence):
    with pytest.raises(ClientError, match=sentence):
        api.put_query_definition(**{"name": "a", "queryString": "limit 3", **more})


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("logs", "list_anomalies", {}),
        ("athena", "list_engine_versions", {}),
        ("athena", "list_sessions", {"WorkGroup": "primary"}),
    ],
)
def test_an_operation_that_is_lacking_is_answered_by_its_name(
    endpoint, caplog, service, operation, parameters
):
    with pytest.raises(ClientError) as caught:
        getattr(endpoint.client(service), operation)(**parameters)
    answer = caught.value.response
    name = operation.title().replace("_", "")
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert answer["Error"]["Message"] == f"{name} is not supported on one machine."
    assert "Traceback" not in caplog.text + json.dumps(answer, default=str)
