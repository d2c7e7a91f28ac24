"""Calls as they come over the wire, and what IAM is asked for them."""

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import MockRawResponse
from moto.core.request import Request as HttpRequest

from tests.policies.authorization import requests
from tests.policies.calls import Call, read_call
from tests.policies.deployment import Deployment
from tests.policies.evaluation import Unsupported

CLUSTER = "arn:aws:ecs:us-east-1:123456789012:cluster/c"
DEFINITION = "arn:aws:ecs:us-east-1:123456789012:task-definition/d:1"
TASK = "arn:aws:ecs:us-east-1:123456789012:task/c/1"
ROLES = ["arn:aws:iam::123456789012:role/task", "arn:aws:iam::123456789012:role/execution"]
DEPLOYED = Deployment({}, {}, ["machine"], {DEFINITION: ROLES}, {}, [])


def sent(service, operation, role="a-role", **parameters):
    """Return the request of a call as a server gets it."""
    sent = []

    def keep(request, **_):
        found = HttpRequest.from_primitives(
            request.method, request.url, request.headers, request.body
        )
        sent.append(found.environ)
        return AWSResponse(request.url, 200, {}, MockRawResponse(b""))

    client = boto3.client(
        service,
        region_name="us-east-1",
        endpoint_url="http://localhost:1",
        aws_access_key_id=role,
        aws_secret_access_key="secret",
    )
    client.meta.events.register("before-send", keep)
    getattr(client, operation)(**parameters)
    return sent[0]


def asked(*call, **parameters):
    """Return the actions and resources that IAM is asked for."""
    found = requests(read_call(sent(*call, **parameters)), DEPLOYED)
    return [(request.action, request.resource) for request in found]


def test_a_call_is_known_by_its_role_operation_and_parameters():
    environ = sent("s3", "list_objects_v2", Bucket="bucket", Prefix="runs/a b/")

    call = read_call(environ)

    assert (call.role, call.operation) == ("a-role", "s3:ListObjectsV2")
    assert (call.parameters["Bucket"], call.parameters["Prefix"]) == ("bucket", "runs/a b/")
    assert Call.from_json(call.to_json()) == call


def test_who_is_outside_has_no_role():
    assert read_call(sent("s3", "list_buckets", role="local")) is None


def test_the_request_can_still_be_read():
    environ = sent(
        "logs", "start_query", logGroupName="g", queryString="fields a", startTime=0, endTime=1
    )

    assert read_call(environ).parameters == {"logGroupName": "g", "startTime": 0, "endTime": 1}
    assert b"fields a" in environ["wsgi.input"].read()


@pytest.mark.parametrize(
    ("call", "parameters", "expected"),
    [
        (("s3", "head_object"), {"Key": "a/b c"}, [("s3:GetObject", "/a/b c")]),
        (("s3", "put_object"), {"Key": "k", "Body": b"1"}, [("s3:PutObject", "/k")]),
        (("s3", "put_object"), {"Key": "k", "IfNoneMatch": "*"}, [("s3:PutObject", "/k")]),
        (
            ("s3", "put_object"),
            {"Key": "k", "IfMatch": '"e"'},
            [("s3:PutObject", "/k"), ("s3:GetObject", "/k")],
        ),
        (
            ("s3", "delete_object"),
            {"Key": "k", "IfMatch": '"e"'},
            [("s3:DeleteObject", "/k"), ("s3:GetObject", "/k")],
        ),
        (
            ("s3", "delete_objects"),
            {"Delete": {"Objects": [{"Key": "k"}, {"Key": "l"}]}},
            [("s3:DeleteObject", "/k"), ("s3:DeleteObject", "/l")],
        ),
        (("s3", "list_objects_v2"), {}, [("s3:ListBucket", "")]),
    ],
)
def test_what_is_done_with_objects_needs_what_s3_asks_for_it(call, parameters, expected):
    assert asked(*call, Bucket="bucket", **parameters) == [
        (action, f"arn:aws:s3:::bucket{resource}") for action, resource in expected
    ]


def test_who_runs_a_task_passes_its_roles_to_it_and_step_functions_has_a_rule_of_its_own():
    parameters = {"cluster": CLUSTER, "taskDefinition": DEFINITION}
    passing = [("ecs:RunTask", DEFINITION), *(("iam:PassRole", role) for role in ROLES)]
    rule = "arn:aws:events:us-east-1:123456789012:rule/StepFunctionsGetEventsForECSTaskRule"
    following = [(f"events:{action}", rule) for action in ("DescribeRule", "PutRule", "PutTargets")]

    assert asked("ecs", "run_task", **parameters) == passing
    assert asked("ecs", "run_task", role="machine", **parameters) == [*passing, *following]


def test_what_is_asked_carries_the_keys_of_its_conditions():
    def context(*call, **parameters):
        (request,) = requests(read_call(sent(*call, **parameters)), DEPLOYED)
        return dict(request.context)

    tls = {"aws:SecureTransport": "true"}
    event = {"Source": "s", "DetailType": "t", "Detail": "{}"}
    assert context("ecs", "stop_task", cluster=CLUSTER, task=TASK) == {
        **tls,
        "ecs:cluster": CLUSTER,
    }
    assert context("s3", "list_objects_v2", Bucket="b", Prefix="p/") == {**tls, "s3:prefix": "p/"}
    assert context("events", "put_events", Entries=[event]) == {
        **tls,
        "events:source": "s",
        "events:detail-type": "t",
    }


@pytest.mark.parametrize(
    ("call", "parameters", "named"),
    [
        (("s3", "get_bucket_acl"), {"Bucket": "b"}, "s3:GetBucketAcl by a-role"),
        (("s3", "get_object"), {"Bucket": "b", "Key": "k", "VersionId": "1"}, "VersionId"),
        (("s3", "put_object"), {"Bucket": "b", "Key": "k", "Tagging": "a=b"}, "Tagging"),
        (
            ("ecs", "run_task"),
            {
                "cluster": CLUSTER,
                "taskDefinition": DEFINITION,
                "tags": [{"key": "a", "value": "b"}],
            },
            "tags of ecs:RunTask",
        ),
    ],
)
def test_a_call_that_is_not_understood_is_refused_by_name(call, parameters, named):
    with pytest.raises(Unsupported, match=named):
        asked(*call, **parameters)
