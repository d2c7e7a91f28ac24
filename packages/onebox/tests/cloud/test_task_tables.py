"""Tables of DynamoDB, queues of SQS and buckets of S3 for the tasks whose role may use them."""

import json
from io import BytesIO

import pytest
from botocore.exceptions import ClientError

from onebox.cloud.policy_evaluation import Request
from onebox.cloud.task_permissions import permissions

ROLE = "arn:aws:iam::123456789012:role/task"
PLACE = "us-east-1:123456789012"
TABLE = f"arn:aws:dynamodb:{PLACE}:table/mine-"
ALLOWED = [
    {"Effect": "Allow", "Action": "dynamodb:*", "Resource": f"{TABLE}*"},
    {"Effect": "Allow", "Action": "sqs:*", "Resource": f"arn:aws:sqs:{PLACE}:mine-*"},
    {"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::mine-*"},
    {"Effect": "Deny", "Action": "s3:DeleteBucket", "Resource": "arn:aws:s3:::mine-kept"},
    {"Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "arn:aws:s3:::mine-kept/no/*"},
    {"Effect": "Deny", "Action": "dynamodb:DeleteTable", "Resource": f"{TABLE}kept"},
]
KEY = {"id": {"S": "1"}}
FORM = {
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}

FORM_TYPE = "application/x-www-form-urlencoded; charset=utf-8"
WHO_AM_I = b"Action=GetCallerIdentity&Version=2011-06-15"
ONE_OBJECT = b"<Delete><Object><Key>a</Key></Object></Delete>"


@pytest.fixture
def task(endpoint):
    """Return clients of a task, beside tables, queues and buckets of others."""
    endpoint.client("iam").create_role(RoleName="task", AssumeRolePolicyDocument="{}")
    policy = json.dumps({"Version": "2012-10-17", "Statement": ALLOWED})
    endpoint.client("iam").put_role_policy(RoleName="task", PolicyName="p", PolicyDocument=policy)
    endpoint.client("ecs").register_task_definition(
        family="load",
        containerDefinitions=[{"name": "main", "image": "none", "memory": 512}],
        taskRoleArn=ROLE,
    )
    for table in ("mine-kept", "theirs"):
        endpoint.client("dynamodb").create_table(TableName=table, **FORM)
    endpoint.client("sqs").create_queue(QueueName="theirs")
    for bucket in ("mine-kept", "theirs"):
        endpoint.client("s3").create_bucket(Bucket=bucket)
    return lambda service: endpoint.client(service, role=ROLE)


def refusal(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    answer = error.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 403
    return answer["Error"]["Message"] if "Message" in answer["Error"] else answer["message"]


def test_a_task_keeps_items_in_a_table_that_it_may_use(task):
    tables = task("dynamodb")
    tables.create_table(TableName="mine-new", **FORM)
    tables.put_item(TableName="mine-new", Item=KEY)
    tables.transact_write_items(
        TransactItems=[{"Put": {"TableName": "mine-kept", "Item": {"id": {"S": "2"}}}}]
    )
    requests = {"mine-new": [{"PutRequest": {"Item": {"id": {"S": "3"}}}}]}
    tables.batch_write_item(RequestItems=requests)

    assert tables.scan(TableName="mine-new")["Count"] == 2
    assert tables.get_item(TableName="mine-kept", Key={"id": {"S": "2"}})["Item"]
    tables.delete_table(TableName="mine-new")


def test_a_batch_of_a_task_is_as_long_as_dynamodb_allows(task):
    items = [{"id": {"S": str(n)}, "data": {"B": bytes(390_000)}} for n in range(25)]
    requests = {"mine-kept": [{"PutRequest": {"Item": item}} for item in items]}

    assert task("dynamodb").batch_write_item(RequestItems=requests)["UnprocessedItems"] == {}


def test_a_task_sends_itself_messages_over_a_queue_that_it_may_use(task):
    queues = task("sqs")
    queue = queues.create_queue(QueueName="mine-jobs")["QueueUrl"]
    entries = [{"Id": "1", "MessageBody": "compact"}]
    queues.send_message_batch(QueueUrl=queue, Entries=entries)

    assert queues.get_queue_url(QueueName="mine-jobs")["QueueUrl"] == queue
    (message,) = queues.receive_message(QueueUrl=queue)["Messages"]
    queues.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    assert message["Body"] == "compact"


@pytest.mark.parametrize(
    ("call", "arguments", "lacking"),
    [
        ("put_item", {"TableName": "theirs", "Item": KEY}, "PutItem on {}theirs"),
        ("create_table", {"TableName": "other", **FORM}, "CreateTable on {}other"),
        ("delete_table", {"TableName": "mine-kept"}, "DeleteTable on {}mine-kept"),
        ("scan", {"TableName": "theirs", "IndexName": "byTime"}, "Scan on {}theirs/index/byTime"),
        (
            "batch_write_item",
            {"RequestItems": {t: [{"PutRequest": {"Item": KEY}}] for t in ("mine-kept", "theirs")}},
            "BatchWriteItem on {}theirs",
        ),
        (
            "transact_write_items",
            {
                "TransactItems": [
                    {"Put": {"TableName": "mine-kept", "Item": KEY}},
                    {"Delete": {"TableName": "theirs", "Key": KEY}},
                ]
            },
            "DeleteItem on {}theirs",
        ),
    ],
)
def test_a_task_is_told_what_it_may_not_do_with_a_table(task, endpoint, call, arguments, lacking):
    arn = TABLE.removesuffix("mine-")
    expected = f"The role task of a task is not allowed: dynamodb:{lacking.format(arn)}."

    assert refusal(getattr(task("dynamodb"), call), **arguments) == expected
    assert endpoint.client("dynamodb").list_tables()["TableNames"] == ["mine-kept", "theirs"]
    assert endpoint.client("dynamodb").scan(TableName="mine-kept")["Count"] == 0


@pytest.mark.parametrize(
    ("service", "call", "arguments", "operation"),
    [
        ("dynamodb", "list_tables", {}, "DynamoDB_20120810.ListTables"),
        (
            "dynamodb",
            "execute_statement",
            {"Statement": 'DELETE FROM "mine-kept"'},
            "DynamoDB_20120810.ExecuteStatement",
        ),
        (
            "dynamodb",
            "put_item",
            {"TableName": f"{TABLE}kept", "Item": KEY},
            "DynamoDB_20120810.PutItem",
        ),
        # moto would delete the table, which the role may not.
        (
            "dynamodb",
            "put_item",
            {"TableName": "mine-kept", "Item": {"id": {"S": "&Action=DeleteTable&"}}},
            "DynamoDB_20120810.PutItem",
        ),
        ("sqs", "list_queues", {}, "AmazonSQS.ListQueues"),
    ],
)
def test_a_request_of_a_task_that_is_not_known_is_refused_by_name(
    task, service, call, arguments, operation
):
    expected = f"The role task of a task is not allowed: {operation}."

    assert refusal(getattr(task(service), call), **arguments) == expected


def test_a_task_is_told_what_it_may_not_do_with_a_queue(task, endpoint):
    queue = endpoint.client("sqs").get_queue_url(QueueName="theirs")["QueueUrl"]

    assert refusal(task("sqs").receive_message, QueueUrl=queue) == (
        f"The role task of a task is not allowed: sqs:ReceiveMessage on arn:aws:sqs:{PLACE}:theirs."
    )


def test_a_header_does_not_change_what_a_request_of_a_task_does(task, endpoint):
    tables = task("dynamodb")
    tables.meta.events.register(
        "before-sign.dynamodb.PutItem",
        lambda request, **_: request.headers.add_header("Action", "DeleteTable"),
        unique_id="hidden",
    )
    try:
        message = refusal(tables.put_item, TableName="mine-kept", Item=KEY)
    finally:
        tables.meta.events.unregister("before-sign.dynamodb.PutItem", unique_id="hidden")

    assert message.endswith(" is not allowed: DynamoDB_20120810.PutItem.")
    assert "mine-kept" in endpoint.client("dynamodb").list_tables()["TableNames"]


def test_a_task_has_a_bucket_of_its_own_if_its_role_may(task, endpoint):
    objects = task("s3")
    objects.create_bucket(Bucket="mine-new")
    objects.head_bucket(Bucket="mine-new")
    objects.put_object(Bucket="mine-new", Key="a/1", Body=b"1")
    assert objects.list_objects_v2(Bucket="mine-new", Prefix="a/")["KeyCount"] == 1
    upload = objects.create_multipart_upload(Bucket="mine-new", Key="a/2")["UploadId"]
    objects.abort_multipart_upload(Bucket="mine-new", Key="a/2", UploadId=upload)
    objects.delete_object(Bucket="mine-new", Key="a/1")
    for key in ("b", "c d+e&<f>%61"):
        objects.put_object(Bucket="mine-new", Key=key, Body=b"1")
        gone = objects.delete_objects(Bucket="mine-new", Delete={"Objects": [{"Key": key}]})
        assert [one["Key"] for one in gone["Deleted"]] == [key]
    objects.delete_bucket(Bucket="mine-new")

    names = [bucket["Name"] for bucket in endpoint.client("s3").list_buckets()["Buckets"]]
    assert names == ["mine-kept", "theirs"]


@pytest.mark.parametrize(
    ("call", "arguments", "lacking"),
    [
        ("create_bucket", {"Bucket": "new"}, "s3:CreateBucket on arn:aws:s3:::new"),
        ("delete_bucket", {"Bucket": "mine-kept"}, "s3:DeleteBucket on arn:aws:s3:::mine-kept"),
        (
            "get_bucket_location",
            {"Bucket": "theirs"},
            "s3:GetBucketLocation on arn:aws:s3:::theirs",
        ),
        (
            "delete_object",
            {"Bucket": "theirs", "Key": "a"},
            "s3:DeleteObject on arn:aws:s3:::theirs/a",
        ),
        (
            "delete_objects",
            {"Bucket": "mine-kept", "Delete": {"Objects": [{"Key": "b"}, {"Key": "no/a&b"}]}},
            "s3:DeleteObject on arn:aws:s3:::mine-kept/no/a&b",
        ),
        (
            "delete_objects",
            {"Bucket": "mine-kept", "Delete": {"Objects": [{"Key": "b", "VersionId": "1"}]}},
            "POST /mine-kept?delete",
        ),
        ("put_bucket_policy", {"Bucket": "mine-kept", "Policy": "{}"}, "PUT /mine-kept?policy"),
    ],
)
def test_a_task_is_told_what_it_may_not_do_with_a_bucket(task, endpoint, call, arguments, lacking):
    endpoint.client("s3").put_object(Bucket="theirs", Key="a", Body=b"1")
    expected = f"The role task of a task is not allowed: {lacking}."

    assert refusal(getattr(task("s3"), call), **arguments) == expected
    assert endpoint.client("s3").list_objects_v2(Bucket="theirs")["KeyCount"] == 1


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"<Delete><Object><Key>a</Key></Object>", {}),
        (b"<Delete></Delete>", {}),
        (b"<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>", {}),
        (b"<Delete><Object><Key><a/></Key></Object></Delete>", {}),
        (
            b"<!DOCTYPE Delete [<!ENTITY a 'a'>]><Delete><Object><Key>&a;</Key></Object></Delete>",
            {},
        ),
        # moto would take a part of it for a form.
        (ONE_OBJECT, {"Content_Type": FORM_TYPE}),
    ],
)
def test_a_deletion_whose_objects_are_not_plain_is_refused(task, endpoint, answer, body, headers):
    endpoint.client("s3").put_object(Bucket="mine-kept", Key="a", Body=b"1")

    status, text = answer(ROLE, "POST", "/mine-kept?delete", body=body, **headers)

    assert (status, b"POST /mine-kept?delete" in text) == (403, True)
    assert endpoint.client("s3").list_objects_v2(Bucket="mine-kept")["KeyCount"] == 1


def test_a_deletion_whose_body_is_encoded_is_not_known():
    plain = {
        "HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=x/20261123/us-east-1/s3/aws4_request, "
        f"SignedHeaders=host, Signature={'0' * 64}",
        "CONTENT_LENGTH": str(len(ONE_OBJECT)),
        "REQUEST_METHOD": "POST",
        "REQUEST_URI": "/mine-kept?delete",
    }
    encoded = {"HTTP_X_AMZ_CONTENT_SHA256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}

    known = permissions({**plain, "wsgi.input": BytesIO(ONE_OBJECT)})
    assert known == [Request("s3:DeleteObject", "arn:aws:s3:::mine-kept/a")]
    assert permissions({**plain, **encoded, "wsgi.input": BytesIO(ONE_OBJECT)}) == []


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        # moto takes what stands before the colon for a scheme, and drops it.
        ("GET", "mine-x:/theirs/a"),
        ("PUT", "mine-x:/theirs/a"),
        ("DELETE", "mine-x:/theirs/a"),
        # moto drops what follows the semicolon, as a parameter.
        ("DELETE", "/mine-kept;x"),
        ("GET", "/mine-kept;x?list-type=2"),
        ("DELETE", "/mine-kept%3Bx"),
        ("DELETE", "/mine-k%65pt"),
    ],
)
def test_a_name_of_no_bucket_leads_a_task_to_no_bucket(task, endpoint, answer, method, uri):
    endpoint.client("s3").put_object(Bucket="theirs", Key="a", Body=b"1")

    status, text = answer(ROLE, method, uri)

    assert (status, text[:33]) == (403, b"<Error><Code>AccessDenied</Code><")
    assert endpoint.client("s3").head_bucket(Bucket="mine-kept")
    stored = endpoint.client("s3").get_object(Bucket="theirs", Key="a")["Body"].read()
    assert stored == b"1"


@pytest.mark.parametrize("uri", ["/mine-kept/a;x", "/mine-kept/a%3Bx", "/mine-kept/mine-x:/a"])
def test_a_key_names_its_whole_object(task, endpoint, answer, uri):
    endpoint.client("s3").put_object(Bucket="mine-kept", Key="a", Body=b"1")

    assert answer(ROLE, "GET", uri)[0] == 404
    answer(ROLE, "DELETE", uri)
    assert endpoint.client("s3").get_object(Bucket="mine-kept", Key="a")["Body"].read() == b"1"


@pytest.mark.parametrize(
    ("method", "place", "kind", "target"),
    [
        # moto takes these regions for names of its services.
        ("GET", "s3.x/sts", FORM_TYPE, ""),
        ("POST", "ddb.x/sts", "multipart/form-data; boundary=x", "DynamoDB_20120810.ListTables"),
        ("POST", "sqs/sts", "multipart/form-data; boundary=x", "AmazonSQS.ListQueues"),
        ("POST", "eu-west-1/sts", FORM_TYPE, ""),
        ("GET", "us-east-1/sts", FORM_TYPE, ""),
        ("POST", "us-east-1/sts", "multipart/form-data; boundary=x", ""),
    ],
)
def test_a_question_for_an_account_in_another_form_is_refused(
    task, answer, method, place, kind, target
):
    headers = {"Content_Type": kind, **({"X_Amz_Target": target} if target else {})}

    status, text = answer(ROLE, method, "/", place, WHO_AM_I, **headers)

    assert (status, b"AccessDenied" in text) == (403, True)


def test_a_task_works_in_the_region_of_the_cloud_alone(task, answer):
    assert answer(ROLE, "HEAD", "/mine-kept")[0] == 200
    assert answer(ROLE, "HEAD", "/mine-kept", "eu-west-1/s3")[0] == 403


@pytest.mark.parametrize(
    "header", [{"X_Moto_Account_Id": "210987654321"}, {"User_Agent": "region/eu-west-1"}]
)
def test_no_header_leads_a_task_to_another_account_or_region(task, answer, header):
    body = b'{"TableName": "mine-kept"}'
    headers = {
        "Content_Type": "application/x-amz-json-1.0",
        "X_Amz_Target": "DynamoDB_20120810.DescribeTable",
    }

    assert answer(ROLE, "POST", "/", "us-east-1/dynamodb", body, **headers)[0] == 200
    status, text = answer(ROLE, "POST", "/", "us-east-1/dynamodb", body, **headers, **header)
    assert (status, b"AccessDenied" in text) == (403, True)


def test_a_task_may_ask_for_its_account_and_for_no_key(task):
    identity = task("sts")

    assert identity.get_caller_identity()["Account"] == "123456789012"
    assert refusal(identity.get_session_token).endswith(" is not allowed: POST /.")
