"""The IAM actions of all policies, against the models of the APIs that they allow."""

from functools import cache

import pytest
from botocore.session import get_session

# Service Authorization Reference: actions without an API operation of their name. By action: the
# operation that it allows, None for no operation of an SDK.
OTHERS = {
    "athena:GetQueryResultsStream": None,
    "dynamodb:ConditionCheckItem": "TransactWriteItems",
    "iam:PassRole": None,
    "lambda:InvokeFunction": "Invoke",
    "logs:CreateLogDelivery": None,
    "logs:DeleteLogDelivery": None,
    "logs:GetLogDelivery": None,
    "logs:ListLogDeliveries": None,
    "logs:UpdateLogDelivery": None,
    "s3:ListBucket": "ListObjectsV2",
    "s3:ListBucketMultipartUploads": "ListMultipartUploads",
    "s3:ListMultipartUploadParts": "ListParts",
}


def statements(value):
    """Yield each policy statement of a template."""
    if isinstance(value, dict):
        if "Effect" in value and "Action" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from statements(item)


@pytest.fixture(scope="module")
def actions(everything, data):
    found = set()
    for template in (everything, data):
        for statement in statements(template.to_json()):
            names = statement["Action"]
            found |= {names} if isinstance(names, str) else set(names)
    # A bucket policy denies every action over plain HTTP.
    return found - {"s3:*", "sns:*", "sqs:*"}


@cache
def operations(prefix):
    """Return the operations of the services whose IAM prefix this is."""
    session = get_session()
    names = [prefix, prefix.replace("quotas", "-quotas"), {"states": "stepfunctions"}.get(prefix)]
    known = [name for name in names if name in session.get_available_services()]
    models = [session.get_service_model(name) for name in known]
    assert {model.signing_name for model in models} <= {prefix}
    return {name for model in models for name in model.operation_names}


def test_every_action_is_one_of_its_service(actions):
    assert len(actions) > 50
    unknown = []
    for action in sorted(actions):
        prefix, _, name = action.partition(":")
        operation = OTHERS.get(action, name)
        if operation is not None and operation not in operations(prefix):
            unknown.append(action)
    assert unknown == []


def test_every_other_action_is_used(actions):
    assert OTHERS.keys() <= actions
