"""Evaluation of policies, after the IAM user guide on each element."""

import pytest

from onebox.cloud.policy_evaluation import Request, Unsupported, allowed, read_statements

OBJECT = "arn:aws:s3:::bucket/runs/1/plan.json"
CLUSTER = "arn:aws:ecs:us-east-1:123456789012:cluster/c"


def allows(statement, action="s3:GetObject", resource=OBJECT, **context):
    return allowed(
        Request(action, resource, frozenset(context.items())),
        read_statements({"Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}),
    )


def test_a_request_without_a_statement_is_denied():
    assert not allowed(Request("s3:GetObject", OBJECT), [])


@pytest.mark.parametrize(
    ("action", "expected"),
    [("s3:GetObject", True), ("S3:getobject", True), ("s3:Get*", True), ("s3:?etObject", True),
     ("*", True), ("s3:PutObject", False), ("s3:GetObjec", False), ("3:GetObject", False)],
)  # fmt: skip
def test_an_action_matches_with_wildcards_in_any_case(action, expected):
    assert allows({"Action": action}) is expected


@pytest.mark.parametrize(
    ("resource", "expected"),
    [("*", True), (OBJECT, True), ("arn:aws:s3:::bucket/runs/*/plan.json", True),
     ("arn:aws:s3:::bucket/*", True), ("arn:aws:s3:::bucket", False),
     ("arn:aws:s3:::bucket/RUNS/1/plan.json", False), ("arn:aws:s3:::bucket/runs/?", False),
     ("arn:aws:s3:::bucket/runs/[0-9]/plan.json", False)],
)  # fmt: skip
def test_a_resource_matches_by_case_and_with_two_wildcards_only(resource, expected):
    assert allows({"Action": "s3:GetObject", "Resource": resource}) is expected


def test_an_action_without_resources_needs_the_resource_star():
    action = "logs:GetQueryResults"

    assert allows({"Action": action}, action, "*")
    assert not allows({"Action": action, "Resource": "arn:aws:logs:*"}, action, "*")


def test_a_denial_overrides_every_allowance():
    statements = read_statements(
        {
            "Statement": [
                {"Effect": "Allow", "Action": "s3:*", "Resource": "*"},
                {"Effect": "Deny", "Action": "s3:GetObject", "Resource": OBJECT},
            ]
        }
    )

    assert not allowed(Request("s3:GetObject", OBJECT), statements)
    assert allowed(Request("s3:PutObject", OBJECT), statements)


@pytest.mark.parametrize("operator", ["StringEquals", "StringLike"])
def test_one_value_of_a_condition_must_match(operator):
    statement = {"Action": "s3:GetObject", "Condition": {operator: {"key": ["a", "b"]}}}

    assert allows(statement, key="a")
    assert allows(statement, key="b")
    assert not allows(statement, key="c")
    assert not allows(statement)


def test_all_conditions_must_hold():
    conditions = {"StringEquals": {"a": "1", "b": "2"}, "StringLike": {"c": "3*"}}
    statement = {"Action": "s3:GetObject", "Condition": conditions}

    assert allows(statement, a="1", b="2", c="33")
    assert not allows(statement, a="1", b="2", c="4")
    assert not allows(statement, a="1", c="3")


def test_the_key_of_a_condition_is_found_in_any_case():
    statement = {"Action": "*", "Condition": {"StringLike": {"S3:Prefix": "a"}}}

    assert allows(statement, **{"s3:prefix": "a"})
    assert not allows(statement, **{"s3:prefix": "b"})


def test_string_like_has_wildcards_and_string_equals_has_none():
    assert allows({"Action": "*", "Condition": {"StringLike": {"key": "a*"}}}, key="ab")
    assert not allows({"Action": "*", "Condition": {"StringEquals": {"key": "a*"}}}, key="ab")


@pytest.mark.parametrize("operator", ["ArnEquals", "ArnLike"])
def test_a_wildcard_of_an_arn_stays_within_its_part(operator):
    def allows_pattern(pattern):
        statement = {"Action": "*", "Condition": {operator: {"ecs:cluster": pattern}}}
        return allows(statement, **{"ecs:cluster": CLUSTER})

    assert allows_pattern(CLUSTER)
    assert allows_pattern("arn:aws:ecs:*:123456789012:cluster/*")
    assert not allows_pattern("arn:aws:ecs:*:cluster/c")
    assert not allows_pattern("arn:aws:ecs:us-east-1:123456789012:cluster/d")


@pytest.mark.parametrize(
    "statement",
    [
        {"NotAction": "s3:GetObject"},
        {"Action": "*", "NotResource": OBJECT},
        {"Action": "*", "Condition": {"StringEqualsIfExists": {"key": "a"}}},
        {"Action": "*", "Condition": {"ForAllValues:StringLike": {"key": "a"}}},
        {"Action": "*", "Resource": "arn:aws:s3:::bucket/${aws:username}/*"},
        {"Action": "*", "Condition": {"StringLike": {"s3:prefix": "${aws:username}/*"}}},
    ],
)
def test_an_unsupported_element_is_refused(statement):
    with pytest.raises(Unsupported):
        allows(statement)
