"""Answers of docs/security.md to a security team, in a deployment with every option."""

import pytest

from tests.component.infrastructure.granted import granted, listed


def test_no_role_of_a_program_raises_its_rights_and_roles_are_passed_to_tasks_alone(everything):
    of_iam = [
        each
        for _, each in granted(everything)
        if any(action.startswith("iam:") for action in listed(each["Action"]))
    ]

    assert of_iam
    for each in of_iam:
        assert each["Action"] == "iam:PassRole"
        assert each["Condition"] == {
            "StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}
        }
        assert "*" not in listed(each["Resource"])


def test_only_tasks_of_the_same_suite_may_connect(everything):
    rules = [
        rule["Properties"]
        for rule in everything.find_resources("AWS::EC2::SecurityGroupIngress").values()
    ]

    assert rules
    assert all(rule["SourceSecurityGroupId"] == rule["GroupId"] for rule in rules)
    groups = everything.find_resources("AWS::EC2::SecurityGroup").values()
    assert not [each for each in groups if "SecurityGroupIngress" in each["Properties"]]


def test_no_resource_is_a_server_a_user_or_a_way_in(everything):
    kinds = {each["Type"] for each in everything.to_json()["Resources"].values()}

    for word in ("Instance", "LoadBalanc", "Api", "Url", "User", "AccessKey", "Secret"):
        assert not [kind for kind in kinds if word in kind.rpartition("::")[2]], word


@pytest.mark.parametrize(
    "kind", ["AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy"]
)
def test_the_bucket_a_topic_and_a_queue_refuse_requests_without_tls(data, everything, kind):
    (policy,) = (data if "S3" in kind else everything).find_resources(kind).values()
    given = policy["Properties"]["PolicyDocument"]["Statement"]

    plain = {"Bool": {"aws:SecureTransport": "false"}}
    assert any(each["Effect"] == "Deny" and each.get("Condition") == plain for each in given)
