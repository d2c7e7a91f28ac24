"""Answers of docs/security.md to a security team, in a deployment with every option."""

import json

import pytest

from tidemark.store.columns import SCAN_LIMIT_BYTES


def statements(template, *kinds):
    """Return the statements of all policies of some types, each with its actions as a list."""
    found = [
        statement
        for kind in kinds
        for policy in template.find_resources(kind).values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    return [
        {**each, "Action": [each["Action"]] if isinstance(each["Action"], str) else each["Action"]}
        for each in found
    ]


def test_no_role_of_a_program_raises_its_rights_and_roles_are_passed_to_tasks_alone(everything):
    granted = statements(everything, "AWS::IAM::Policy")
    of_iam = [
        each for each in granted if any(action.startswith("iam:") for action in each["Action"])
    ]

    assert of_iam
    for each in of_iam:
        assert each["Action"] == ["iam:PassRole"]
        assert each["Condition"] == {
            "StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}
        }
        assert "*" not in (each["Resource"] if isinstance(each["Resource"], list) else [])


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


@pytest.mark.parametrize("kind", ["AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy"])
def test_a_topic_and_a_queue_refuse_requests_without_tls(everything, kind):
    assert _refuses_plain_http(statements(everything, kind))


def test_the_bucket_refuses_requests_without_tls(data):
    assert _refuses_plain_http(statements(data, "AWS::S3::BucketPolicy"))


def _refuses_plain_http(given):
    plain = {"Bool": {"aws:SecureTransport": "false"}}
    return any(each["Effect"] == "Deny" and each.get("Condition") == plain for each in given)


def test_functions_and_state_machines_are_traced_and_log_no_data(everything):
    functions = everything.find_resources("AWS::Lambda::Function").values()
    machines = everything.find_resources("AWS::StepFunctions::StateMachine").values()

    assert {each["Properties"]["TracingConfig"]["Mode"] for each in functions} == {"Active"}
    for machine in machines:
        assert machine["Properties"]["TracingConfiguration"] == {"Enabled": True}
        logging = json.dumps(machine["Properties"]["LoggingConfiguration"])
        assert '"IncludeExecutionData": true' not in logging


def test_a_query_of_athena_reads_a_gibibyte_at_most(data):
    (group,) = data.find_resources("AWS::Athena::WorkGroup").values()
    configuration = group["Properties"]["WorkGroupConfiguration"]

    assert configuration["BytesScannedCutoffPerQuery"] == SCAN_LIMIT_BYTES == 2**30
    assert configuration["EnforceWorkGroupConfiguration"]
