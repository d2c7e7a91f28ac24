"""Answers of docs/security.md to a security team, in a deployment with every option."""

import json
import re

import pytest

from tests.component.infrastructure.granted import granted, listed
from tidemark.model.checkout import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


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


def test_the_page_names_each_service_whose_resources_a_deployment_makes(template, data, everything):
    def services(*templates):
        kinds = (each["Type"] for it in templates for each in it.to_json()["Resources"].values())
        return {kind.split("::")[1] for kind in kinds}

    section = PAGE.partition("## Rights of a deployment")[2].partition("\n## ")[0]
    default, optional = section.split("resources of `")[1].split("with `schedules`")

    assert {*re.findall(r"`([A-Z]\w+)`", f"`{default}")} == services(template, data)
    assert {*re.findall(r"`([A-Z]\w+)`", optional)} - {"DeployerPolicy"} == services(
        everything
    ) - services(template, data)


def test_the_command_line_of_the_cdk_sends_nothing_to_its_makers():
    settings = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))

    assert settings["versionReporting"] is settings["notices"] is False
    assert settings["context"]["cli-telemetry"] is False
