"""The evaluator: what the IAM user guide says of each element, and how ours could be wrong."""

import pytest

from tests.policies.evaluation import Request, Unsupported, allowed, read_statements

OBJECT = "arn:aws:s3:::bucket/runs/1/plan.json"
CLUSTER = "arn:aws:ecs:us-east-1:123456789012:cluster/c"


def says(statement, action="s3:GetObject", resource=OBJECT, **context):
    return allowed(
        Request(action, resource, frozenset(context.items())),
        read_statements({"Statement": [{"Effect": "Allow", "Resource": "*", **statement}]}),
    )


def test_nothing_is_allowed_that_no_statement_speaks_of():
    assert not allowed(Request("s3:GetObject", OBJECT), [])


@pytest.mark.parametrize(
    ("action", "expected"),
    [("s3:GetObject", True), ("S3:getobject", True), ("s3:Get*", True), ("s3:?etObject", True),
     ("*", True), ("s3:PutObject", False), ("s3:GetObjec", False), ("3:GetObject", False)],
)  # fmt: skip
def test_an_action_matches_whatever_its_case_with_wildcards(action, expected):
    assert says({"Action": action}) is expected


@pytest.mark.parametrize(
    ("resource", "expected"),
    [("*", True), (OBJECT, True), ("arn:aws:s3:::bucket/runs/*/plan.json", True),
     ("arn:aws:s3:::bucket/*", True), ("arn:aws:s3:::bucket", False),
     ("arn:aws:s3:::bucket/RUNS/1/plan.json", False), ("arn:aws:s3:::bucket/runs/?", False),
     ("arn:aws:s3:::bucket/runs/[0-9]/plan.json", False)],
)  # fmt: skip
def test_a_resource_matches_by_its_case_with_no_wildcards_but_two(resource, expected):
    assert says({"Action": "s3:GetObject", "Resource": resource}) is expected


def test_an_action_without_a_resource_is_allowed_on_all_of_them_only():
    action = "logs:GetQueryResults"

    assert says({"Action": action}, action, "*")
    assert not says({"Action": action, "Resource": "arn:aws:logs:*"}, action, "*")


def test_a_denial_wins_whatever_else_is_allowed():
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
def test_one_of_the_values_of_a_condition_must_match(operator):
    statement = {"Action": "s3:GetObject", "Condition": {operator: {"key": ["a", "b"]}}}

    assert says(statement, key="a")
    assert says(statement, key="b")
    assert not says(statement, key="c")
    assert not says(statement)


def test_all_conditions_must_hold():
    conditions = {"StringEquals": {"a": "1", "b": "2"}, "StringLike": {"c": "3*"}}
    statement = {"Action": "s3:GetObject", "Condition": conditions}

    assert says(statement, a="1", b="2", c="33")
    assert not says(statement, a="1", b="2", c="4")
    assert not says(statement, a="1", c="3")


def test_only_one_operator_for_strings_knows_wildcards():
    assert says({"Action": "*", "Condition": {"StringLike": {"key": "a*"}}}, key="ab")
    assert not says({"Action": "*", "Condition": {"StringEquals": {"key": "a*"}}}, key="ab")


@pytest.mark.parametrize("operator", ["ArnEquals", "ArnLike"])
def test_a_wildcard_of_an_arn_stays_within_its_part(operator):
    def says_of(pattern):
        statement = {"Action": "*", "Condition": {operator: {"ecs:cluster": pattern}}}
        return says(statement, **{"ecs:cluster": CLUSTER})

    assert says_of(CLUSTER)
    assert says_of("arn:aws:ecs:*:123456789012:cluster/*")
    assert not says_of("arn:aws:ecs:*:cluster/c")
    assert not says_of("arn:aws:ecs:us-east-1:123456789012:cluster/d")


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
def test_what_is_not_understood_is_refused(statement):
    with pytest.raises(Unsupported):
        says(statement)


def test_a_statement_is_the_sum_of_what_it_is_narrowed_to():
    (statement,) = read_statements(
        {
            "Statement": {
                "Effect": "Allow",
                "Action": ["a:1", "a:2"],
                "Resource": ["r/1", "r/2"],
                "Condition": {"StringLike": {"key": ["x", "y"]}},
            }
        }
    )
    narrow = list(statement.narrowed())

    assert len(narrow) == 8
    for action in ("a:1", "a:2", "a:3"):
        for resource in ("r/1", "r/2", "r/3"):
            for key in "xyz":
                request = Request(action, resource, frozenset({("key", key)}))
                assert allowed(request, [statement]) == allowed(request, narrow)
