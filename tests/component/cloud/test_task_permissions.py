"""The permissions of a task in the cloud of one machine, with the key of its role."""

import json

import pytest
from botocore.exceptions import ClientError

from tidemark.store.keys import DATA

ROLE = "arn:aws:iam::123456789012:role/task"
ALLOWED = {
    "Effect": "Allow",
    "Action": ["s3:GetObject", "s3:PutObject"],
    "Resource": f"arn:aws:s3:::results/{DATA}*",
}


@pytest.fixture
def deployed(endpoint):
    """A role of tasks that may read and store data, and a bucket with more than data."""
    endpoint.client("iam").create_role(RoleName="task", AssumeRolePolicyDocument="{}")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [ALLOWED]})
    endpoint.client("iam").put_role_policy(RoleName="task", PolicyName="p", PolicyDocument=policy)
    endpoint.client("ecs").register_task_definition(
        family="load",
        containerDefinitions=[{"name": "main", "image": "none", "memory": 512}],
        taskRoleArn=ROLE,
    )
    s3 = endpoint.client("s3")
    s3.create_bucket(Bucket="results")
    for key in ("runs/r/trials/001.json", "work/r/001/measured/ingest.json"):
        s3.put_object(Bucket="results", Key=key, Body=b"theirs")
    endpoint.client("logs").create_log_group(logGroupName="g")
    endpoint.client("logs").create_log_stream(logGroupName="g", logStreamName="theirs")


@pytest.fixture
def task(endpoint, deployed):
    return lambda service: endpoint.client(service, role=ROLE)


def refused(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    answer = error.value.response
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    # The answer to HEAD has no body.
    return status == 403 and answer["Error"]["Code"] in {"AccessDenied", "403"}


def test_a_task_stores_and_reads_data(task):
    task("s3").put_object(Bucket="results", Key=f"{DATA}r/a b+c", Body=b"1")

    assert task("s3").get_object(Bucket="results", Key=f"{DATA}r/a b+c")["Body"].read() == b"1"
    assert task("s3").head_object(Bucket="results", Key=f"{DATA}r/a b+c")["ContentLength"] == 1


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("get_object", {"Key": "runs/r/trials/001.json"}),
        ("head_object", {"Key": "runs/r/trials/001.json"}),
        ("put_object", {"Key": "runs/r/trials/001.json", "Body": b"forged"}),
        ("put_object", {"Key": "work/r/001/measured/data/x.json", "Body": b"forged"}),
        ("put_object", {"Key": DATA.rstrip("/"), "Body": b"1"}),
        ("put_object", {"Key": f"/{DATA}a", "Body": b"1"}),
        ("delete_object", {"Key": "runs/r/trials/001.json"}),
        ("delete_object", {"Key": f"{DATA}r/a"}),
        ("delete_objects", {"Delete": {"Objects": [{"Key": "runs/r/trials/001.json"}]}}),
        ("copy_object", {"Key": f"{DATA}a", "CopySource": "results/runs/r/trials/001.json"}),
        ("get_object", {"Key": f"{DATA}r/a", "VersionId": "1"}),
        ("create_multipart_upload", {"Key": f"{DATA}r/a"}),
        ("list_objects_v2", {}),
        ("list_objects_v2", {"Prefix": DATA}),
        ("put_bucket_policy", {"Policy": "{}"}),
        ("delete_bucket", {}),
    ],
)
def test_a_task_does_nothing_else_with_objects(task, endpoint, call, arguments):
    assert refused(getattr(task("s3"), call), Bucket="results", **arguments)

    s3 = endpoint.client("s3")
    stored = s3.get_object(Bucket="results", Key="runs/r/trials/001.json")["Body"].read()
    assert stored == b"theirs"
    assert s3.list_objects_v2(Bucket="results")["KeyCount"] == 2


@pytest.mark.parametrize(
    ("service", "call", "arguments"),
    [
        (
            "logs",
            "put_log_events",
            {
                "logGroupName": "g",
                "logStreamName": "theirs",
                "logEvents": [{"timestamp": 1, "message": "forged"}],
            },
        ),
        ("lambda", "invoke", {"FunctionName": "RecordTrial"}),
        ("ecs", "list_task_definitions", {}),
        ("sts", "assume_role", {"RoleArn": ROLE, "RoleSessionName": "more"}),
        ("iam", "list_roles", {}),
        ("stepfunctions", "list_state_machines", {}),
    ],
)
def test_a_task_calls_no_other_service(task, service, call, arguments):
    assert refused(getattr(task(service), call), **arguments)


def test_a_denial_in_the_policies_of_a_role_holds(task, endpoint):
    denied = {**ALLOWED, "Effect": "Deny", "Resource": f"arn:aws:s3:::results/{DATA}no/*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": denied})
    endpoint.client("iam").put_role_policy(RoleName="task", PolicyName="q", PolicyDocument=policy)

    assert refused(task("s3").put_object, Bucket="results", Key=f"{DATA}no/a", Body=b"1")
    task("s3").put_object(Bucket="results", Key=f"{DATA}yes/a", Body=b"1")


def test_a_role_of_tasks_without_policies_may_do_nothing(endpoint, task):
    endpoint.client("iam").delete_role_policy(RoleName="task", PolicyName="p")

    assert refused(task("s3").put_object, Bucket="results", Key=f"{DATA}r/a", Body=b"1")


def test_other_roles_are_not_limited_here(endpoint, deployed):
    other = endpoint.client("s3", role="arn:aws:iam::123456789012:role/function")

    assert other.list_objects_v2(Bucket="results")["KeyCount"] == 2
