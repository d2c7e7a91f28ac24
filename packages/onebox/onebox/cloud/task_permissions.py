"""The permissions of ECS tasks: a system under test is not trusted.

A task may do what the deployed policies of its role allow with objects and buckets of S3, tables of
DynamoDB and queues of SQS. It may ask for its account, and nothing else. The managed policies and
the permissions boundary of a role are not read: those may allow or deny more, this allows less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, unquote
from xml.parsers.expat import ExpatError

import xmltodict  # type: ignore[import-untyped]
from moto.ecs.models import ecs_backends
from moto.iam.models import iam_backends
from moto.s3.models import s3_backends

from onebox.app import ACCOUNT, REGION
from onebox.cloud.endpoint import access_key_id
from onebox.cloud.policy_evaluation import (
    Request,
    Statement,
    Unsupported,
    allowed,
    read_statements,
)
from onebox.cloud.signatures import Forbidden, body, scope

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment


# By method and names of parameters. An upload in parts needs s3:PutObject alone (Amazon S3 user
# guide, "Multipart upload API and permissions").
_OF_OBJECT = {
    ("GET", frozenset[str]()): "s3:GetObject",
    ("HEAD", frozenset[str]()): "s3:GetObject",
    ("PUT", frozenset[str]()): "s3:PutObject",
    ("POST", frozenset({"uploads"})): "s3:PutObject",
    ("PUT", frozenset({"partNumber", "uploadId"})): "s3:PutObject",
    ("POST", frozenset({"uploadId"})): "s3:PutObject",
    ("DELETE", frozenset({"uploadId"})): "s3:AbortMultipartUpload",
    ("DELETE", frozenset[str]()): "s3:DeleteObject",
}
_OF_BUCKET = {
    ("DELETE", frozenset[str]()): "s3:DeleteBucket",
    ("GET", frozenset({"location"})): "s3:GetBucketLocation",
    ("HEAD", frozenset[str]()): "s3:ListBucket",
    ("PUT", frozenset[str]()): "s3:CreateBucket",
}
_OF_LISTING = {
    "continuation-token", "delimiter", "encoding-type", "fetch-owner", "list-type", "max-keys",
    "prefix", "start-after",
}  # fmt: skip
# Amazon S3 user guide, "General purpose bucket naming rules". moto would drop what stands before a
# colon, as a scheme, and what follows a semicolon, as a parameter.
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_JSON = "application/x-amz-json-1.0"
_WHO_AM_I = b"Action=GetCallerIdentity&Version=2011-06-15"
_TABLE = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_QUEUE = re.compile(rf"(?:https?://[^/?#]+/{ACCOUNT}/)?([a-zA-Z0-9_-]{{1,80}}(?:\.fifo)?)")
_OF_TABLE = {
    "CreateTable", "DeleteItem", "DeleteTable", "DescribeContinuousBackups", "DescribeTable",
    "DescribeTimeToLive", "GetItem", "PutItem", "Query", "Scan", "UpdateContinuousBackups",
    "UpdateItem", "UpdateTimeToLive",
}  # fmt: skip
_OF_TABLES = {"BatchGetItem", "BatchWriteItem"}
_TRANSACTIONS = {
    "TransactGetItems": {"Get": "GetItem"},
    "TransactWriteItems": {
        "ConditionCheck": "ConditionCheckItem", "Delete": "DeleteItem", "Put": "PutItem",
        "Update": "UpdateItem",
    },
}  # fmt: skip
_OF_QUEUE = {
    "ChangeMessageVisibility", "CreateQueue", "DeleteMessage", "DeleteQueue", "GetQueueAttributes",
    "GetQueueUrl", "PurgeQueue", "ReceiveMessage", "SendMessage", "SetQueueAttributes",
}  # fmt: skip
_BATCHES = {
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
    "DeleteMessageBatch": "DeleteMessage",
    "SendMessageBatch": "SendMessage",
}


def permissions(environ: WSGIEnvironment) -> list[Request]:
    """Return the permissions that a request needs; none for a request that is not known here."""
    region, service = scope(environ)
    if region != REGION:
        return []
    try:
        return list(_of_s3(environ) if service == "s3" else _of_json(environ, service))
    except (AttributeError, ExpatError, KeyError, RecursionError, TypeError, ValueError):
        return []  # it has not the form of its operation


def _of_json(environ: WSGIEnvironment, service: str) -> Iterator[Request]:
    api, _, operation = environ.get("HTTP_X_AMZ_TARGET", "").partition(".")
    known = {"dynamodb": ("DynamoDB_20120810", _of_tables), "sqs": ("AmazonSQS", _of_queue)}
    if known.get(service, ("", None))[0] != api or not _plain(environ):
        return
    place = f"arn:aws:{service}:{REGION}:{ACCOUNT}:"
    for action, resource in known[service][1](operation, json.loads(body(environ).decode())):
        yield Request(f"{service}:{action}", place + resource)


def asks_who_it_is(environ: WSGIEnvironment) -> bool:
    """Tell whether a request is GetCallerIdentity of STS, which needs no permission.

    Source: AWS Security Token Service API reference, "GetCallerIdentity".
    """
    # moto takes other regions for names of its services, and finds another action, in a header or
    # anywhere in a path, if it finds none in a form.
    asked = (environ["REQUEST_METHOD"], environ["REQUEST_URI"], scope(environ))
    form = environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")
    return asked == ("POST", "/", (REGION, "sts")) and form and body(environ) == _WHO_AM_I


def _of_s3(environ: WSGIEnvironment) -> Iterator[Request]:
    uri, copies = environ["REQUEST_URI"], "HTTP_X_AMZ_COPY_SOURCE" in environ
    path, _, query = uri.partition("?")
    bucket, _, key = path.removeprefix("/").partition("/")
    # moto ignores what follows a #, and uses the first of two values.
    given = parse_qsl(query, keep_blank_values=True)
    parameters = dict(given)
    # A copy reads another object.
    if copies or "#" in uri or len(parameters) < len(given) or not _BUCKET.fullmatch(bucket):
        return
    asked = environ["REQUEST_METHOD"], frozenset(parameters)
    if key and asked in _OF_OBJECT:
        yield from _of_object(_OF_OBJECT[asked], bucket, unquote(key))
    elif not key and asked in _OF_BUCKET:
        yield Request(_OF_BUCKET[asked], f"arn:aws:s3:::{bucket}")
    elif not key and asked[0] == "GET" and {"list-type"} <= asked[1] <= _OF_LISTING:
        yield _listing(bucket, parameters.get("prefix", ""))
    elif not key and asked == ("POST", frozenset({"delete"})) and not parameters["delete"]:
        yield from _of_deletion(environ, bucket)


def _of_object(action: str, bucket: str, key: str) -> Iterator[Request]:
    yield Request(action, f"arn:aws:s3:::{bucket}/{key}")
    buckets = s3_backends[ACCOUNT]["aws"].buckets
    if action == "s3:GetObject" and not (bucket in buckets and key in buckets[bucket].keys):
        # S3 says that an object is missing only to those who may list its key (Amazon S3 API
        # reference, GetObject); to others it is forbidden.
        yield _listing(bucket, key)


def _of_deletion(environ: WSGIEnvironment, bucket: str) -> Iterator[Request]:
    """Yield the permission for each object that a DeleteObjects request names.

    S3 deletes those that are allowed and reports the others; here one of these refuses the request.
    """
    # moto would decode the body, or take a part of it for a form.
    encoded = environ.get("HTTP_X_AMZ_CONTENT_SHA256", "").startswith("STREAMING-")
    if encoded or "form" in environ.get("CONTENT_TYPE", ""):
        return
    # The parser of moto, so that both find the same keys.
    document = xmltodict.parse(body(environ), strip_whitespace=False)
    named = document["Delete"]["Object"]
    for one in named if isinstance(named, list) else [named]:
        if one.keys() - {"Key"} or not isinstance(one["Key"], str):
            raise ValueError(one)  # versions are not kept
        yield Request("s3:DeleteObject", f"arn:aws:s3:::{bucket}/{one['Key']}")


def _listing(bucket: str, prefix: str) -> Request:
    return Request("s3:ListBucket", f"arn:aws:s3:::{bucket}", frozenset({("s3:prefix", prefix)}))


def _plain(environ: WSGIEnvironment) -> bool:
    """Tell whether a request does what its target says.

    moto prefers an action that it finds in the path, in a form, in a header, or anywhere in the
    text of a JSON document.
    """
    asked = (environ["REQUEST_METHOD"], environ["REQUEST_URI"], environ.get("CONTENT_TYPE"))
    hidden = "Action" in parse_qs(body(environ).decode("latin-1"), keep_blank_values=True)
    return asked == ("POST", "/", _JSON) and "HTTP_ACTION" not in environ and not hidden


def _of_tables(operation: str, request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if operation in _OF_TABLE:
        index = request.get("IndexName")
        yield operation, _table(request) + (f"/index/{_matched(_TABLE, index)}" if index else "")
    elif operation in _OF_TABLES:
        for table in request["RequestItems"]:
            yield operation, _table({"TableName": table})
    elif operation in _TRANSACTIONS:
        for item in request["TransactItems"]:
            for kind, one in item.items():
                yield _TRANSACTIONS[operation][kind], _table(one)


def _table(request: dict[str, Any]) -> str:
    return f"table/{_matched(_TABLE, request['TableName'])}"


def _of_queue(operation: str, request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    action = _BATCHES.get(operation, operation)
    if action in _OF_QUEUE:
        named = action in {"CreateQueue", "GetQueueUrl"}
        yield action, _matched(_QUEUE, request["QueueName" if named else "QueueUrl"])


def _matched(form: re.Pattern[str], text: str) -> str:
    """Return the name in a text; raise ValueError if the text has not the form."""
    found = form.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return found[form.groups]


def check_task(environ: WSGIEnvironment, key_id: str) -> None:
    """Refuse a request that a task may not make; requests of others pass.

    Raises
    ------
    Forbidden
        If the access key belongs to a role of tasks, and the role is not allowed to do this or
        has a policy that is not supported.

    """
    if key_id not in _roles_of_tasks():
        return
    _check_place(environ)
    if asks_who_it_is(environ):
        return
    needed = permissions(environ)
    granted = _statements(key_id)
    lacking = [f"{one.action} on {one.resource}" for one in needed if not allowed(one, granted)]
    if lacking or not needed:
        request = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']}"
        asked = lacking[0] if lacking else environ.get("HTTP_X_AMZ_TARGET", request)
        raise Forbidden("AccessDenied", f"The role {key_id} of a task is not allowed: {asked}.")


def _check_place(environ: WSGIEnvironment) -> None:
    """Refuse headers with which moto would use another account or region than the cloud's."""
    if "HTTP_X_MOTO_ACCOUNT_ID" in environ:
        raise Forbidden("AccessDenied", "The header X-Moto-Account-Id is not accepted from a task.")
    agent = environ.get("HTTP_USER_AGENT", "")
    if "region/" in agent:
        message = f"The User-Agent of a task is {agent!r}; accepted: one without 'region/'."
        raise Forbidden("AccessDenied", message)


def _roles_of_tasks() -> set[str]:
    families = list(ecs_backends[ACCOUNT][REGION].task_definitions.values())
    definitions = [each for revisions in families for each in list(revisions.values())]
    # A definition without a role has no such attribute in moto.
    arns = (getattr(definition, "task_role_arn", "") for definition in definitions)
    return {access_key_id(arn) for arn in arns if arn}


def _statements(role: str) -> list[Statement]:
    known = {each.name: each for each in list(iam_backends[ACCOUNT]["aws"].get_roles())}
    policies = list(known[role].policies.values()) if role in known else []
    try:
        return [statement for text in policies for statement in _supported(json.loads(text))]
    except Unsupported as error:
        message = f"The policies of the role {role} have {error}."
        raise Forbidden("AccessDenied", message) from None


def _supported(policy: dict[str, Any]) -> list[Statement]:
    statements = read_statements(policy)
    if any(each.effect == "Deny" and each.conditions for each in statements):
        # It would deny nothing by a key that requests do not have here.
        raise Unsupported("a Deny with a Condition; accepted: one without")
    return statements
