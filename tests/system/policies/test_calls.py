"""Calls from HTTP requests, and their IAM requests."""

from io import BytesIO

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from moto.core.botocore_stubber import MockRawResponse
from moto.core.request import Request as HttpRequest

from onebox.cloud.policy_evaluation import Request, Unsupported, allowed, read_statements
from tests.system.policies.authorization import requests
from tests.system.policies.calls import Call, read_call
from tests.system.policies.deployment import Deployment
from tests.system.policies.proof import narrowed

CLUSTER = "arn:aws:ecs:us-east-1:123456789012:cluster/c"
DEFINITION = "arn:aws:ecs:us-east-1:123456789012:task-definition/d:1"
TASK = "arn:aws:ecs:us-east-1:123456789012:task/c/1"
ROLES = ["arn:aws:iam::123456789012:role/task", "arn:aws:iam::123456789012:role/execution"]
DEPLOYED = Deployment({}, {}, ["machine"], {DEFINITION: ROLES}, {}, [])


def environ_of(service, operation, role="a-role", **parameters):
    """Return the WSGI environment that a server gets for a call."""
    environs = []

    def keep(request, **_):
        received = HttpRequest.from_primitives(
            request.method, request.url, request.headers, request.body
        )
        environs.append(received.environ)
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
    return environs[0]


def iam_requests(*call, **parameters):
    """Return the action and resource of each IAM request of a call."""
    made = requests(read_call(environ_of(*call, **parameters)), DEPLOYED)
    return [(request.action, request.resource) for request in made]


def test_a_call_has_its_role_operation_and_parameters():
    environ = environ_of("s3", "list_objects_v2", Bucket="bucket", Prefix="runs/a b/")

    call = read_call(environ)

    assert (call.role, call.operation) == ("a-role", "s3:ListObjectsV2")
    assert (call.parameters["Bucket"], call.parameters["Prefix"]) == ("bucket", "runs/a b/")
    assert call.violations == []
    assert Call.from_json(call.to_json()) == call


@pytest.mark.parametrize(
    ("call", "parameters", "violation"),
    [
        (
            ("ecs", "run_task"),
            {"cluster": CLUSTER, "taskDefinition": DEFINITION, "launchType": "FARGAT"},
            "RunTaskRequest.launchType: 'FARGAT' is none of EC2, FARGATE, EXTERNAL, ",
        ),
        (
            ("stepfunctions", "start_execution"),
            {"stateMachineArn": "arn", "name": "n" * 81},
            "the length of StartExecutionInput.name: 81 is more than 80",
        ),
        (
            ("logs", "start_query"),
            {"logGroupName": "a group", "startTime": 0, "endTime": 1, "queryString": "fields a"},
            "StartQueryRequest.logGroupName: 'a group' does not match ",
        ),
        (("s3", "put_object"), {"Bucket": "b", "Key": "k", "StorageClass": "COLD"}, "'COLD' is "),
        (
            ("logs", "start_query"),
            {"logGroupName": "g", "startTime": 0, "endTime": 1, "queryString": "a" * 10_001},
            "the length of StartQueryRequest.queryString: 10001 is more than 10000",
        ),
    ],
)
def test_a_call_that_the_model_of_its_api_refuses_has_its_violation(call, parameters, violation):
    (found,) = read_call(environ_of(*call, **parameters)).violations

    assert violation in found


def test_a_parameter_that_the_model_does_not_have_is_a_violation():
    environ = environ_of("ecs", "stop_task", cluster=CLUSTER, task=TASK)
    body = environ["wsgi.input"].read().replace(b'"task"', b'"tusk"')
    environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}

    assert read_call(environ).violations == [
        'Missing required parameter in input: "task"',
        'Unknown parameter in input: "tusk", must be one of: cluster, task, reason',
    ]


def test_a_request_without_a_role_is_no_call():
    assert read_call(environ_of("s3", "list_buckets", role="local")) is None


def test_the_request_stays_readable():
    environ = environ_of(
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
def test_a_call_on_objects_makes_the_requests_of_s3(call, parameters, expected):
    assert iam_requests(*call, Bucket="bucket", **parameters) == [
        (action, f"arn:aws:s3:::bucket{resource}") for action, resource in expected
    ]


def test_running_a_task_passes_its_roles_and_step_functions_also_needs_its_rule():
    parameters = {"cluster": CLUSTER, "taskDefinition": DEFINITION}
    passing = [("ecs:RunTask", DEFINITION), *(("iam:PassRole", role) for role in ROLES)]
    rule = "arn:aws:events:us-east-1:123456789012:rule/StepFunctionsGetEventsForECSTaskRule"
    following = [(f"events:{action}", rule) for action in ("DescribeRule", "PutRule", "PutTargets")]

    assert iam_requests("ecs", "run_task", **parameters) == passing
    assert iam_requests("ecs", "run_task", role="machine", **parameters) == [*passing, *following]


def test_a_request_carries_its_condition_keys():
    def context(*call, **parameters):
        (request,) = requests(read_call(environ_of(*call, **parameters)), DEPLOYED)
        return dict(request.context)

    tls = {"aws:SecureTransport": "true"}
    event = {"Source": "s", "DetailType": "t", "Detail": "{}"}
    assert context("ecs", "stop_task", cluster=CLUSTER, task=TASK) == {
        **tls,
        "ecs:cluster": CLUSTER,
    }
    assert context("s3", "list_objects_v2", Bucket="b", Prefix="p/") == {
        **tls,
        "s3:ResourceAccount": "123456789012",
        "s3:prefix": "p/",
    }
    assert context("events", "put_events", Entries=[event]) == {
        **tls,
        "events:source": "s",
        "events:detail-type": "t",
    }


@pytest.mark.parametrize(
    ("call", "parameters", "message"),
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
def test_an_unsupported_call_is_refused_by_name(call, parameters, message):
    with pytest.raises(Unsupported, match=message):
        iam_requests(*call, **parameters)


def test_a_copy_reads_its_source_and_writes_the_copy():
    source = {"Bucket": "results", "Key": "left/a b"}

    assert iam_requests("s3", "copy_object", Bucket="results", Key="kept", CopySource=source) == [
        ("s3:GetObject", "arn:aws:s3:::results/left/a b"),
        ("s3:PutObject", "arn:aws:s3:::results/kept"),
    ]


def test_the_registration_of_a_task_definition_names_its_family_tags_it_and_passes_its_roles():
    task_role, execution_role = ROLES
    fields = {
        "family": "f",
        "containerDefinitions": [],
        "taskRoleArn": task_role,
        "executionRoleArn": execution_role,
        "tags": [{"key": "k", "value": "v"}],
    }
    family = "arn:aws:ecs:us-east-1:123456789012:task-definition/f:*"

    assert iam_requests("ecs", "register_task_definition", **fields) == [
        ("ecs:RegisterTaskDefinition", family),
        ("ecs:TagResource", family),
        *(("iam:PassRole", role) for role in ROLES),
    ]
    assert iam_requests("ecs", "describe_task_definition", taskDefinition="f") == [
        ("ecs:DescribeTaskDefinition", "*")
    ]


def test_narrow_statements_together_equal_their_statement():
    policy = {
        "Statement": {
            "Effect": "Allow",
            "Action": ["a:1", "a:2"],
            "Resource": ["r/1", "r/2"],
            "Condition": {"StringLike": {"key": ["x", "y"]}},
        }
    }
    whole, narrow = read_statements(policy), list(narrowed(policy))

    assert len(narrow) == 8
    for action in ("a:1", "a:2", "a:3"):
        for resource in ("r/1", "r/2", "r/3"):
            for key in "xyz":
                request = Request(action, resource, frozenset({("key", key)}))
                assert allowed(request, whole) == allowed(request, narrow)
