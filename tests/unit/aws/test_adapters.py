"""The adapters over API answers that the one-machine cloud never gives."""

import io
from datetime import UTC, datetime, timedelta

import botocore.session
import pytest
from botocore.exceptions import ClientError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from aws.announcements import DefaultEventBus, SnsTopic
from aws.bucket import S3Bucket
from aws.ecs import EcsTasks
from aws.executions import EventBridgeRules, SchedulerSchedules, StepFunctionsExecutions
from aws.log_queries import InsightsQueries
from aws.look_ups import AppliedQuotas, NamedThings, ParameterReleases, S3Properties
from tidemark.money.capacity import VCPUS, QuotaUnknown
from tidemark.run.ports import NotTold, QueryFailed
from tidemark.store.bucket import NotDeleted


def client(service):
    return botocore.session.get_session().create_client(
        service,
        region_name="eu-west-2",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


@pytest.fixture
def s3():
    with Stubber(client("s3")) as stub:
        yield stub
        stub.assert_no_pending_responses()


def conflict(stub, operation="put_object"):
    stub.add_client_error(operation, "ConditionalRequestConflict", http_status_code=409)


def test_a_conditional_write_is_tried_again_after_a_conflict(s3):
    conflict(s3)
    s3.add_response("put_object", {})

    assert S3Bucket(s3.client, "results").write_once("k", b"")


def test_a_conditional_write_that_loses_a_race_returns_false(s3):
    conflict(s3)
    s3.add_client_error("put_object", "PreconditionFailed", http_status_code=412)

    assert not S3Bucket(s3.client, "results").write_once("k", b"")


def test_a_write_replaces_only_the_object_that_was_read(s3):
    request = {"Bucket": "results", "Key": "k", "Body": b"", "IfMatch": "e"}
    s3.add_response("put_object", {}, request)
    s3.add_client_error("put_object", "NoSuchKey", http_status_code=404)

    assert S3Bucket(s3.client, "results").write_over("k", b"", "e")
    assert not S3Bucket(s3.client, "results").write_over("k", b"", "e")


def test_a_conflict_that_persists_is_an_error(s3):
    for _ in range(5):
        conflict(s3)

    with pytest.raises(ClientError, match="ConditionalRequestConflict"):
        S3Bucket(s3.client, "results").write_once("k", b"")


def test_a_missing_object_is_not_requested(s3):
    # S3 would answer AccessDenied to a caller that may not list the key.
    s3.add_response("list_objects_v2", {"Contents": [{"Key": "claims/x.json.old"}]})

    assert S3Bucket(s3.client, "results").find("claims/x.json") is None


def test_an_object_that_is_deleted_between_list_and_get_is_missing(s3):
    s3.add_response("list_objects_v2", {"Contents": [{"Key": "k"}]})
    s3.add_client_error("get_object", "NoSuchKey", http_status_code=404)

    assert S3Bucket(s3.client, "results").find("k") is None


@pytest.mark.parametrize(("code", "status"), [("PreconditionFailed", 412), ("NoSuchKey", 404)])
def test_an_object_that_was_replaced_or_is_gone_is_not_deleted(s3, code, status):
    s3.add_client_error("delete_object", code, http_status_code=status)

    assert not S3Bucket(s3.client, "results").delete_if("k", "etag")


def test_a_conditional_delete_is_tried_again_after_a_conflict(s3):
    conflict(s3, "delete_object")
    s3.add_response("delete_object", {}, {"Bucket": "results", "Key": "k", "IfMatch": "etag"})

    assert S3Bucket(s3.client, "results").delete_if("k", "etag")


def test_a_conditional_delete_that_loses_a_race_returns_false(s3):
    conflict(s3, "delete_object")
    s3.add_client_error("delete_object", "NoSuchKey", http_status_code=404)

    assert not S3Bucket(s3.client, "results").delete_if("k", "etag")


def test_objects_are_deleted_a_thousand_at_once(s3):
    keys = [f"work/{n:04d}" for n in range(1_001)]
    for page, token in ((keys[:600], {"NextContinuationToken": "more"}), (keys[600:], {})):
        contents = [{"Key": key} for key in page]
        s3.add_response(
            "list_objects_v2", {"Contents": contents, "IsTruncated": bool(token), **token}
        )
    for batch in (keys[:1_000], keys[1_000:]):
        objects = {"Objects": [{"Key": key} for key in batch], "Quiet": True}
        s3.add_response("delete_objects", {}, {"Bucket": "results", "Delete": objects})

    S3Bucket(s3.client, "results").delete("work/")


def test_deleting_an_empty_prefix_sends_no_delete_request(s3):
    s3.add_response("list_objects_v2", {})

    S3Bucket(s3.client, "results").delete("work/")


def test_an_object_that_s3_does_not_delete_is_an_error(s3):
    s3.add_response("list_objects_v2", {"Contents": [{"Key": "work/a"}, {"Key": "work/b"}]})
    error = {"Key": "work/b", "Code": "AccessDenied", "Message": "no"}
    s3.add_response("delete_objects", {"Errors": [error]})

    with pytest.raises(
        NotDeleted, match=r"^objects of work/ .* 1 at least; .* 'work/b': AccessDenied: no"
    ):
        S3Bucket(s3.client, "results").delete("work/")


def test_a_key_that_xml_cannot_hold_is_deleted_by_its_url_and_its_refusal_stops_no_other(s3):
    names = ("work/a\0b", "work/b", "work/c\x1b", "work/d\uffff")
    s3.add_response("list_objects_v2", {"Contents": [{"Key": key} for key in names]})
    objects = {"Objects": [{"Key": "work/b"}], "Quiet": True}
    s3.add_response("delete_objects", {}, {"Bucket": "results", "Delete": objects})
    s3.add_client_error("delete_object", "AccessDenied", "no")
    for key in ("work/c\x1b", "work/d\uffff"):
        s3.add_response("delete_object", {}, {"Bucket": "results", "Key": key})

    with pytest.raises(
        NotDeleted, match=r"1 at least; the first is 'work/a\\x00b': .*AccessDenied"
    ):
        S3Bucket(s3.client, "results").delete("work/")


def test_a_deletion_that_takes_too_long_ends_and_says_so(s3):
    keys = [f"work/{n:04d}" for n in range(1_001)]
    s3.add_response("list_objects_v2", {"Contents": [{"Key": key} for key in keys]})
    s3.add_response("delete_objects", {})
    times = iter((0.0, 60.0, 61.0))

    with pytest.raises(NotDeleted, match="the first is 'work/1000': 60 s are over"):
        S3Bucket(s3.client, "results", clock=lambda: next(times)).delete("work/")


def test_a_reason_to_stop_a_task_is_cut_to_the_limit_of_ecs():
    with Stubber(client("ecs")) as ecs:
        ecs.add_response("stop_task", {}, {"cluster": "c", "task": "t", "reason": "x" * 1024})

        EcsTasks(ecs.client, "c").stop("t", "x" * 2000)


def test_a_cause_to_stop_an_execution_is_cut_to_the_limit_of_step_functions():
    request = {"executionArn": "e", "error": "Run.ended", "cause": "x" * 32_768}
    with Stubber(client("stepfunctions")) as states:
        states.add_response("stop_execution", {"stopDate": datetime.now(UTC)}, request)

        StepFunctionsExecutions(states.client).stop("e", "x" * 40_000)


def test_every_page_of_tasks_is_described():
    with Stubber(client("ecs")) as ecs:
        for arn, token in (("a", {"nextToken": "more"}), ("b", {})):
            ecs.add_response("list_tasks", {"taskArns": [arn], **token})
            ecs.add_response("describe_tasks", {"tasks": [{"taskArn": arn, "group": "r"}]})

        assert EcsTasks(ecs.client, "c").groups() == {"a": "r", "b": "r"}


def test_the_tasks_that_a_group_started_are_running_or_have_ended():
    since = datetime(2026, 11, 20, 12, tzinfo=UTC)
    described = {
        "RUNNING": [("a", "r", 0), ("b", "other", 0)],
        "STOPPED": [("c", "r", 5), ("d", "r", -1)],
    }
    with Stubber(client("ecs")) as ecs:
        for status, tasks in described.items():
            listing = {"cluster": "c", "desiredStatus": status}
            ecs.add_response("list_tasks", {"taskArns": [arn for arn, _, _ in tasks]}, listing)
            answer = [
                {"taskArn": arn, "group": group, "createdAt": since + timedelta(seconds=seconds)}
                for arn, group, seconds in tasks
            ]
            ecs.add_response("describe_tasks", {"tasks": answer})

        found = EcsTasks(ecs.client, "c").started("r", since)

    assert [(arn, task["Group"]) for arn, task in found.items()] == [("a", "r"), ("c", "r")]


def test_a_quota_that_may_not_be_read_is_an_error_and_not_unlimited():
    with Stubber(client("service-quotas")) as service:
        service.add_client_error("get_service_quota", "AccessDeniedException")

        with pytest.raises(QuotaUnknown, match=r"'Fargate On-Demand vCPU .* be read: .*AccessDen"):
            AppliedQuotas(service.client).value(VCPUS)


def test_a_quota_that_was_never_applied_to_the_account_has_its_default():
    request = {"ServiceCode": VCPUS.service, "QuotaCode": VCPUS.code}
    with Stubber(client("service-quotas")) as service:
        service.add_client_error("get_service_quota", "NoSuchResourceException")
        service.add_response("get_aws_default_service_quota", {"Quota": {"Value": 6.0}}, request)

        assert AppliedQuotas(service.client).value(VCPUS) == 6


def test_a_quota_that_does_not_exist_is_an_error():
    with Stubber(client("service-quotas")) as service:
        service.add_client_error("get_service_quota", "NoSuchResourceException")
        service.add_client_error("get_aws_default_service_quota", "NoSuchResourceException")

        with pytest.raises(QuotaUnknown, match=r"cannot be read: .*GetAWSDefaultServiceQuota"):
            AppliedQuotas(service.client).value(VCPUS)


def test_a_quota_without_a_value_is_an_error():
    with Stubber(client("service-quotas")) as service:
        reason = {"ErrorCode": "DEPENDENCY_THROTTLING_ERROR"}
        service.add_response("get_service_quota", {"Quota": {"ErrorReason": reason}})

        with pytest.raises(QuotaUnknown, match=r"has no value: .*DEPENDENCY_THROTTLING_ERROR"):
            AppliedQuotas(service.client).value(VCPUS)


def test_a_message_is_published_on_the_topic():
    with Stubber(client("sns")) as sns:
        sns.add_response("publish", {}, {"TopicArn": "t", "Subject": "s", "Message": "m"})

        SnsTopic(sns.client, "t").publish("s", "m")


def test_a_topic_that_does_not_take_a_message_is_an_error():
    with Stubber(client("sns")) as sns:
        sns.add_client_error("publish", "InternalError", "no luck", 500)

        with pytest.raises(NotTold, match=r"did not take the message: .*InternalError.*no luck"):
            SnsTopic(sns.client, "t").publish("s", "m")


@pytest.fixture
def events():
    with Stubber(client("events")) as stub:
        yield stub


def test_an_event_is_put_on_the_default_bus(events):
    entry = {"Source": "s", "DetailType": "t", "Detail": "{}"}
    events.add_response("put_events", {"FailedEntryCount": 0, "Entries": []}, {"Entries": [entry]})

    DefaultEventBus(events.client).put("s", "t", "{}")


def test_an_event_that_the_bus_does_not_take_is_an_error(events):
    entry = {"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
    events.add_response("put_events", {"FailedEntryCount": 1, "Entries": [entry]})

    with pytest.raises(NotTold, match="not take the event: ThrottlingException: slow down"):
        DefaultEventBus(events.client).put("s", "t", "{}")


def test_a_bus_that_cannot_be_reached_is_an_error(events):
    events.add_client_error("put_events", "InternalException", "no luck", 500)

    with pytest.raises(NotTold, match="InternalException"):
        DefaultEventBus(events.client).put("s", "t", "{}")


def test_the_versions_of_a_suite_are_those_of_its_parameter_or_none():
    name = "/Tidemark/rocksdb/versions"
    with Stubber(client("ssm")) as ssm:
        answer = {"Parameter": {"Name": name, "Type": "StringList", "Value": "9.8.4, 9.10.0"}}
        ssm.add_response("get_parameter", answer, {"Name": name})
        ssm.add_client_error("get_parameter", "ParameterNotFound")
        releases = ParameterReleases(ssm.client, "Tidemark")

        assert releases.versions("rocksdb") == ["9.8.4", "9.10.0"]
        assert releases.versions("rocksdb") == []


def test_a_schedule_that_was_deleted_is_none():
    with Stubber(client("scheduler")) as scheduler:
        scheduler.add_response("get_schedule", {"Name": "s"}, {"Name": "s"})
        scheduler.add_client_error("get_schedule", "ResourceNotFoundException")

        assert SchedulerSchedules(scheduler.client).describe("s")["Name"] == "s"
        assert SchedulerSchedules(scheduler.client).describe("s") is None


@pytest.fixture
def insights():
    with Stubber(client("logs")) as stub:
        yield stub
        stub.assert_no_pending_responses()


def answer(stub, text, stream, scanned):
    request = {
        "logGroupName": "g", "startTime": 0, "endTime": 2, "queryString": text, "limit": 10_000
    }  # fmt: skip
    stub.add_response("start_query", {"queryId": "q"}, request)
    complete = {
        "status": "Complete",
        "results": [[{"field": "@logStream", "value": stream}]],
        "statistics": {"bytesScanned": scanned},
    }
    stub.add_response("get_query_results", complete, {"queryId": "q"})


def test_a_query_over_many_log_streams_is_asked_in_texts_that_start_query_accepts(insights):
    query, first, second = f"fields {'x' * 9_950}", "system/task/1", "system/task/2"
    answer(insights, f"filter @logStream in ['{first}'] |\n{query}", first, 7.0)
    answer(insights, f"filter @logStream in ['{second}'] |\n{query}", second, 5.0)

    found = InsightsQueries(insights.client).run(query, "g", 0, 1, 60, {second, first})

    assert [row["@logStream"] for row in found.rows] == [first, second]
    assert found.bytes_scanned == 12


def test_a_query_over_no_log_stream_is_not_asked(insights):
    assert InsightsQueries(insights.client).run("fields x", "g", 0, 1, 60, []).rows == []


@pytest.mark.parametrize("stream", ["", "a'", "a\n", "a|b", "a*", "ä"])
def test_a_name_that_no_ecs_log_stream_has_does_not_reach_a_query(insights, stream):
    with pytest.raises(ValueError, match="is not accepted; expected letters, digits and"):
        InsightsQueries(insights.client).run("fields x", "g", 0, 1, 60, [stream])


def began(stub, status):
    stub.add_response("start_query", {"queryId": "q"})
    stub.add_response("get_query_results", {"status": status, "results": [], "statistics": {}})


def test_a_query_that_takes_too_long_is_stopped_and_the_error_says_so(insights):
    began(insights, "Running")
    insights.add_response("stop_query", {"success": True}, {"queryId": "q"})

    with pytest.raises(QueryFailed, match=r"^the query over g did not end in time and was stopped"):
        InsightsQueries(insights.client).run("fields x", "g", 0, 1, -1)


def test_a_query_that_ended_just_before_it_was_stopped_failed_too(insights):
    began(insights, "Running")
    insights.add_client_error("stop_query", "InvalidParameterException")

    with pytest.raises(QueryFailed, match="did not end in time"):
        InsightsQueries(insights.client).run("fields x", "g", 0, 1, -1)


def test_a_query_that_fails_is_an_error_with_its_status(insights):
    began(insights, "Timeout")

    with pytest.raises(QueryFailed, match=r"^the query over g ended as Timeout: fields x"):
        InsightsQueries(insights.client).run("fields x", "g", 0, 1, 60, ["system/task/1"])


@pytest.mark.parametrize("code", ["AccessDenied", "NoSuchBucket", "NoSuchKey"])
def test_properties_that_cannot_be_read_are_not_there(s3, code):
    s3.add_client_error("get_object", code, http_status_code=404)

    assert S3Properties(s3.client).read("kiwi-my-id", "config") is None


def test_another_error_of_properties_is_raised(s3):
    s3.add_client_error("get_object", "SlowDown", http_status_code=503)

    with pytest.raises(ClientError, match="SlowDown"):
        S3Properties(s3.client).read("kiwi-my-id", "config")


def test_one_mebibyte_of_properties_is_read(s3):
    body = StreamingBody(io.BytesIO(b"\xe9=1\n" + b"x" * (1 << 20)), (1 << 20) + 4)
    s3.add_response("get_object", {"Body": body}, {"Bucket": "kiwi-my-id", "Key": "config"})

    text = S3Properties(s3.client).read("kiwi-my-id", "config")

    assert text is not None
    assert (text[:4], len(text)) == ("é=1\n", 1 << 20)


def test_a_rule_has_the_state_that_eventbridge_gives():
    with Stubber(client("events")) as events:
        events.add_response("describe_rule", {"State": "DISABLED"}, {"Name": "nightly"})

        assert EventBridgeRules(events.client).state("nightly") == "DISABLED"


def test_a_rule_of_a_service_has_a_state_that_nobody_may_change():
    with Stubber(client("events")) as events:
        rule = {"State": "ENABLED", "ManagedBy": "securityhub.amazonaws.com"}
        events.add_response("describe_rule", rule, {"Name": "nightly"})

        state = EventBridgeRules(events.client).state("nightly")

    assert state == "managed by securityhub.amazonaws.com"


def test_a_rule_that_is_gone_is_no_error():
    with Stubber(client("events")) as events:
        for operation in ("describe_rule", "enable_rule"):
            events.add_client_error(operation, "ResourceNotFoundException", http_status_code=400)

        assert EventBridgeRules(events.client).state("nightly") is None
        EventBridgeRules(events.client).enable("nightly")


def test_a_rule_that_may_not_be_enabled_is_an_error():
    with Stubber(client("events")) as events:
        events.add_client_error("enable_rule", "AccessDeniedException", http_status_code=400)

        with pytest.raises(ClientError, match="AccessDenied"):
            EventBridgeRules(events.client).enable("nightly")


def things(service, *stubbed):
    """Return what exists in an account whose service gives the stubbed answers."""
    return NamedThings({service: stubbed[0].client}.__getitem__)


@pytest.mark.parametrize(
    ("service", "operation", "kind", "answer", "found"),
    [
        ("ecs", "describe_clusters", "cluster", {"clusters": []}, None),
        (
            "ecs",
            "describe_clusters",
            "cluster",
            {"clusters": [{"clusterArn": "arn:a", "status": "INACTIVE"}]},
            None,
        ),
        (
            "ecs",
            "describe_clusters",
            "cluster",
            {"clusters": [{"clusterArn": "arn:a", "status": "ACTIVE"}]},
            "arn:a",
        ),
        ("sqs", "get_queue_url", "queue", {"QueueUrl": "https://sqs/1/thing"}, "thing"),
        ("lambda", "get_function_configuration", "function", {}, "thing"),
        ("events", "describe_rule", "rule", {}, "thing"),
        ("logs", "describe_log_groups", "log_group", {"logGroups": []}, None),
        (
            "logs",
            "describe_log_groups",
            "log_group",
            {"logGroups": [{"logGroupName": "thing"}]},
            "thing",
        ),
        (
            "logs",
            "describe_log_groups",
            "log_group",
            {"logGroups": [{"logGroupName": "thing-2"}]},
            None,
        ),
    ],
)
def test_a_thing_is_found_by_its_name(service, operation, kind, answer, found):
    with Stubber(client(service)) as stubbed:
        stubbed.add_response(operation, answer)

        assert things(service, stubbed).find(kind, "thing") == found


@pytest.mark.parametrize(
    ("service", "operation", "kind", "code"),
    [
        ("sqs", "get_queue_url", "queue", "QueueDoesNotExist"),
        ("lambda", "get_function_configuration", "function", "ResourceNotFoundException"),
        ("events", "describe_rule", "rule", "ResourceNotFoundException"),
    ],
)
def test_a_name_of_nothing_is_not_found_and_another_error_is_raised(service, operation, kind, code):
    with Stubber(client(service)) as stubbed:
        stubbed.add_client_error(operation, code)
        assert things(service, stubbed).find(kind, "thing") is None

        stubbed.add_client_error(operation, "AccessDenied")
        with pytest.raises(ClientError, match="AccessDenied"):
            things(service, stubbed).find(kind, "thing")


def test_a_task_definition_has_its_roles_and_the_logs_of_its_containers():
    options = {"awslogs-group": "g", "awslogs-stream-prefix": "p"}
    found = {
        "taskDefinitionArn": "arn:family:7",
        "taskRoleArn": "arn:aws:iam::1:role/path/task",
        "containerDefinitions": [
            {"name": "main", "logConfiguration": {"logDriver": "awslogs", "options": options}},
            {"name": "fluent", "logConfiguration": {"logDriver": "awsfirelens"}},
            {"name": "silent"},
        ],
    }
    with Stubber(client("ecs")) as ecs:
        ecs.add_response(
            "describe_task_definition", {"taskDefinition": found}, {"taskDefinition": "family"}
        )
        ecs.add_client_error("describe_task_definition", "ClientException")
        account = things("ecs", ecs)

        assert account.definition("family") == (
            "arn:family:7", ("task",), {"main": ("g", "p"), "fluent": None, "silent": None},
        )  # fmt: skip
        assert account.definition("family") is None
