"""The permissions of a task in the cloud of one machine, with the key of its role."""

import json
from urllib.parse import quote

import pytest
from botocore.exceptions import ClientError

from tidemark.store.keys import BELOW_A_SECRET, DATA, data

ROLE = "arn:aws:iam::123456789012:role/task"
ALLOWED = {
    "Effect": "Allow",
    "Action": ["s3:GetObject", "s3:PutObject"],
    "Resource": f"arn:aws:s3:::results/{DATA}*",
}
LISTED = {
    "Effect": "Allow",
    "Action": "s3:ListBucket",
    "Resource": "arn:aws:s3:::results",
    "Condition": {"StringLike": {"s3:prefix": BELOW_A_SECRET}},
}
RUN = "20261123T014203Z-41f9a3"
SECRET, OTHER = "0a" * 16, "b1" * 16
OWN = f"{data(RUN, 1)}{SECRET}/"
THEIRS = f"{data(RUN, 2)}{OTHER}/"


@pytest.fixture
def deployed(endpoint):
    """A role of tasks that may read and store data, and a bucket with more than data."""
    endpoint.client("iam").create_role(RoleName="task", AssumeRolePolicyDocument="{}")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [ALLOWED, LISTED]})
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
        ("create_multipart_upload", {"Key": "runs/r/trials/001.json"}),
        ("list_multipart_uploads", {"Prefix": OWN}),
        ("list_object_versions", {"Prefix": OWN}),
        ("list_objects", {"Prefix": OWN}),
        ("head_bucket", {}),
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


@pytest.fixture
def two_trials(task):
    """The data of two trials of a run; the task knows the secret of the first."""
    for place in (OWN, THEIRS):
        task("s3").put_object(Bucket="results", Key=f"{place}task-0000/a", Body=b"1")


def listed(task, **arguments):
    answer = task("s3").list_objects_v2(Bucket="results", **arguments)
    folders = [each["Prefix"] for each in answer.get("CommonPrefixes", [])]
    return [each["Key"] for each in answer.get("Contents", [])] + folders


def test_a_task_lists_what_lies_below_its_secret(task, two_trials):
    assert listed(task, Prefix=OWN) == [f"{OWN}task-0000/a"]
    assert listed(task, Prefix=OWN, Delimiter="/") == [f"{OWN}task-0000/"]
    assert listed(task, Prefix=f"{OWN}task-0000/", StartAfter=f"{OWN}task-0000/a") == []


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "work/",
        DATA,
        f"{DATA}{RUN}/",
        data(RUN, 2),
        f"{data(RUN, 2)}{OTHER[:-1]}",
        f"{data(RUN, 2)}{OTHER}",
        OWN.rstrip("/"),
        "runs/",
        BELOW_A_SECRET.replace("work", "runs"),
    ],
)
@pytest.mark.parametrize("delimiter", ["", "/", "1", OTHER[-1]])
def test_a_task_lists_nothing_above_a_whole_secret(task, two_trials, prefix, delimiter):
    assert refused(task("s3").list_objects_v2, Bucket="results", Prefix=prefix, Delimiter=delimiter)


@pytest.mark.parametrize(
    "prefix",
    [
        BELOW_A_SECRET,
        BELOW_A_SECRET.replace("?", "*"),
        f"{data(RUN, 2)}{'?' * 32}/",
        f"{data(RUN, 2)}{'%' * 32}/",
        f"{data(RUN, 2)}{'_' * 32}/",
        f"{DATA}{'/' * 23}/001/{'/' * 32}/",
        f"{data(RUN, 2)}{OTHER.upper()}/",
        f"{data(RUN, 1)}{SECRET}/../../002/",
        # Characters that a server may take for the end of the prefix when it parses a URL twice.
        f"{DATA}#{'a' * 22}/002/{OTHER}/",
        f"{DATA}&{'a' * 22}/002/{OTHER}/",
        f"{DATA};{'a' * 22}/002/{OTHER}/",
        f"{DATA}\0{'a' * 22}/002/{OTHER}/",
    ],
)
def test_a_prefix_without_the_characters_of_a_secret_finds_nothing(task, two_trials, prefix):
    assert listed(task, Prefix=prefix) == []


def test_a_listing_without_a_prefix_is_refused(task, two_trials):
    assert refused(task("s3").list_objects_v2, Bucket="results")


@pytest.mark.parametrize(
    "query",
    [
        f"list-type=2&prefix={quote(OWN)}&prefix=work/",
        f"list-type=2&prefix=work/&%70refix={quote(OWN)}",
        # A server that drops what follows a # would list the whole folder.
        f"list-type=2&prefix={DATA}#{'a' * 22}/002/{OTHER}/",
        f"list-type=2&prefix={quote(OWN)}&uploads=",
        f"list-type=2&prefix={quote(OWN)}&versions=",
        f"list-type=2&prefix={quote(OWN)}&policy=",
    ],
)
def test_a_listing_in_an_unusual_form_is_refused(answer, two_trials, query):
    status, text = answer(ROLE, "GET", f"/results?{query}")

    assert status == 403
    assert text.startswith(b"<Error><Code>AccessDenied</Code>")


def test_a_plus_in_a_prefix_is_a_blank(answer, endpoint, deployed):
    blank = {**LISTED, "Condition": {"StringEquals": {"s3:prefix": f"{DATA}a b"}}}
    policy = json.dumps({"Version": "2012-10-17", "Statement": blank})
    endpoint.client("iam").put_role_policy(RoleName="task", PolicyName="p", PolicyDocument=policy)
    for name in ("a b", "a+b"):
        endpoint.client("s3").put_object(Bucket="results", Key=f"{DATA}{name}", Body=b"1")

    status, text = answer(ROLE, "GET", f"/results?list-type=2&prefix={DATA}a+b")

    assert (status, b"a b</Key>" in text, b"a+b</Key>" in text) == (200, True, False)
    assert answer(ROLE, "GET", f"/results?list-type=2&prefix={DATA}a%2Bb")[0] == 403


def test_only_who_may_list_a_key_learns_that_it_is_missing(task, two_trials):
    with pytest.raises(ClientError, match="NoSuchKey"):
        task("s3").get_object(Bucket="results", Key=f"{OWN}missing")
    with pytest.raises(ClientError, match="404"):
        task("s3").head_object(Bucket="results", Key=f"{OWN}missing")
    for call in (task("s3").get_object, task("s3").head_object):
        assert refused(call, Bucket="results", Key=f"{DATA}r/missing")
        assert refused(call, Bucket="results", Key=f"{data(RUN, 1)}{SECRET}")


def test_a_task_stores_an_object_in_parts(task, deployed):
    s3, place = task("s3"), {"Bucket": "results", "Key": f"{OWN}a"}
    upload = {**place, "UploadId": s3.create_multipart_upload(**place)["UploadId"]}
    part = s3.upload_part(**upload, PartNumber=1, Body=b"1")
    s3.complete_multipart_upload(
        **upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    )

    assert s3.get_object(**place)["Body"].read() == b"1"


def test_a_task_stores_no_part_of_another_object(task, endpoint, deployed):
    plan = {"Bucket": "results", "Key": "runs/r/plan.json"}
    upload = {**plan, "UploadId": endpoint.client("s3").create_multipart_upload(**plan)["UploadId"]}

    assert refused(task("s3").upload_part, **upload, PartNumber=1, Body=b"1")
    assert refused(task("s3").complete_multipart_upload, **upload)
    assert refused(task("s3").abort_multipart_upload, **upload)


def test_a_task_replaces_no_object_that_it_expects_to_be_missing(task, two_trials):
    with pytest.raises(ClientError, match="PreconditionFailed"):
        task("s3").put_object(Bucket="results", Key=f"{OWN}task-0000/a", Body=b"2", IfNoneMatch="*")


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


@pytest.mark.parametrize(
    ("element", "named"),
    [
        ({"NotResource": "arn:aws:s3:::other/*"}, "NotResource of a statement"),
        (
            {"Resource": "*", "Condition": {"StringNotLike": {"s3:prefix": "a"}}},
            "the condition operator StringNotLike",
        ),
        # A condition on a key that the endpoint does not know never holds, and denies nothing.
        (
            {"Resource": "*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}},
            "a Deny with a Condition",
        ),
    ],
)
def test_a_denial_that_cannot_be_judged_refuses_all_by_name(task, endpoint, element, named):
    denied = {"Effect": "Deny", "Action": "s3:GetObject", **element}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [ALLOWED, denied]})
    endpoint.client("iam").put_role_policy(RoleName="task", PolicyName="p", PolicyDocument=policy)

    with pytest.raises(ClientError, match=f"The policies of the role task have {named}") as error:
        task("s3").put_object(Bucket="results", Key=f"{DATA}r/a", Body=b"1")
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_a_role_of_tasks_without_policies_may_do_nothing(endpoint, task):
    endpoint.client("iam").delete_role_policy(RoleName="task", PolicyName="p")

    assert refused(task("s3").put_object, Bucket="results", Key=f"{DATA}r/a", Body=b"1")


def test_other_roles_are_not_limited_here(endpoint, deployed):
    other = endpoint.client("s3", role="arn:aws:iam::123456789012:role/function")

    assert other.list_objects_v2(Bucket="results")["KeyCount"] == 2
