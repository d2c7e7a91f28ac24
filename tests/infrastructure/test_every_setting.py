"""What each setting changes: a deployment in which every one is another than in cdk.json."""

import json
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from cdk.app import build
from cdk.settings import Settings, written_context

CHANGED = json.loads(Path(__file__).with_name("every_setting.json").read_text())


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The stack that may be replaced."""
    # As the command line gives them, lists and truths are texts.
    context = {**CHANGED, "subnetIds": ",".join(CHANGED["subnetIds"]), "alarms": "false"}
    return build(App(outdir=str(tmp_path_factory.mktemp("changed")), context=context))


@pytest.fixture(scope="module")
def settled(changed):
    return Template.from_stack(changed)


def properties(template, kind):
    return [found.get("Properties", {}) for found in template.find_resources(kind).values()]


def variables(template):
    return [
        found["Environment"]["Variables"] for found in properties(template, "AWS::Lambda::Function")
    ]


def test_every_setting_is_changed_here():
    known = [field.alias for field in Settings.model_fields.values()]

    # A feature flag of the CDK has a slash in its name.
    written = [name for name in written_context() if "/" not in name]

    assert sorted(CHANGED) == sorted(known) == sorted(written)
    assert not [name for name in known if CHANGED[name] == written_context()[name]]


def test_stack_name_names_both_stacks_their_workgroup_and_log_groups(changed, settled):
    (workgroup,) = properties(Template.from_stack(changed.data), "AWS::Athena::WorkGroup")
    groups = {found.get("LogGroupName", "") for found in properties(settled, "AWS::Logs::LogGroup")}

    assert (changed.stack_name, changed.data.stack_name) == ("Perf", "Perf-Data")
    assert workgroup["Name"] == "Perf"
    assert "/Perf/scripted" in groups


def test_systems_are_those_of_another_folder(settled):
    (task,) = properties(settled, "AWS::ECS::TaskDefinition")

    assert task["ContainerDefinitions"][0]["Name"] == "scripted"


def test_image_is_taken_as_it_is_and_may_be_pulled_from_its_repository(settled):
    (task,) = properties(settled, "AWS::ECS::TaskDefinition")
    pulling = [
        json.dumps(statement["Resource"])
        for policy in properties(settled, "AWS::IAM::Policy")
        for statement in policy["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]

    assert "/perf/workload:1.2" in json.dumps(task["ContainerDefinitions"][0]["Image"])
    assert ["repository/perf/workload" in resource for resource in pulling] == [True]


def test_log_retention_is_that_of_every_log_group(settled):
    groups = properties(settled, "AWS::Logs::LogGroup")

    assert groups
    assert {found["RetentionInDays"] for found in groups} == {7}


def test_logs_deadline_seconds_is_told_to_the_functions(settled):
    assert {found["LOGS_DEADLINE_SECONDS"] for found in variables(settled)} == {"60"}


def test_schedules_start_the_suite_that_they_name(settled):
    (schedule,) = properties(settled, "AWS::Scheduler::Schedule")

    assert json.loads(schedule["Target"]["Input"])["suite"] == "scripted"
    assert schedule["ScheduleExpression"] == "cron(30 3 ? * SAT *)"


def test_notify_email_subscribes_to_the_topic(settled):
    (subscription,) = properties(settled, "AWS::SNS::Subscription")

    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "perf@example.com")


def test_alarms_may_be_turned_off(settled):
    settled.resource_count_is("AWS::CloudWatch::Alarm", 0)


def test_the_dashboard_may_be_left_out(settled):
    settled.resource_count_is("AWS::CloudWatch::Dashboard", 0)


def test_reports_are_those_of_the_stack_and_the_group_sees_them(settled):
    (dashboard,) = properties(settled, "AWS::QuickSight::Dashboard")

    assert dashboard["DashboardId"] == "Perf-dashboard"
    assert [each["Principal"] for each in dashboard["Permissions"]] == [CHANGED["reportsPrincipal"]]


def test_vpc_id_and_subnet_ids_let_tasks_run_in_a_network_that_is_there(settled):
    (group,) = properties(settled, "AWS::EC2::SecurityGroup")
    (machine,) = [
        found["DefinitionSubstitutions"]
        for found in properties(settled, "AWS::StepFunctions::StateMachine")
        if "Subnets" in found["DefinitionSubstitutions"]
    ]

    assert group["VpcId"] == "vpc-0123456789abcdef0"
    assert "SecurityGroupIngress" not in group
    assert machine["Subnets"] == "subnet-0123456789abcdef0,subnet-0123456789abcdef1"
    assert machine["PublicAddress"] == "DISABLED"
    for kind in ("VPC", "Subnet", "InternetGateway", "VPCEndpoint"):
        settled.resource_count_is(f"AWS::EC2::{kind}", 0)


def test_a_network_of_our_own_has_no_nat_gateway_and_its_tasks_public_addresses(template):
    template.resource_count_is("AWS::EC2::NatGateway", 0)
    assert "ENABLED" in [
        found["DefinitionSubstitutions"].get("PublicAddress")
        for found in properties(template, "AWS::StepFunctions::StateMachine")
    ]


def test_permissions_boundary_bounds_every_role(settled):
    roles = properties(settled, "AWS::IAM::Role")

    assert roles
    assert {role["PermissionsBoundary"] for role in roles} == {CHANGED["permissionsBoundary"]}


def test_tags_are_on_whatever_costs_or_keeps_anything(changed, settled):
    expected = [
        {"Key": "cost-centre", "Value": "4711"},
        {"Key": "team:owner", "Value": "perf"},
    ]
    data = Template.from_stack(changed.data)

    for template, kind in (
        (data, "AWS::S3::Bucket"),
        (data, "AWS::Athena::WorkGroup"),
        (settled, "AWS::Lambda::Function"),
        (settled, "AWS::ECS::TaskDefinition"),
        (settled, "AWS::StepFunctions::StateMachine"),
        (settled, "AWS::Logs::LogGroup"),
        (settled, "AWS::SQS::Queue"),
    ):
        found = properties(template, kind)
        assert found
        for resource in found:
            assert [tag for tag in resource["Tags"] if tag in expected] == expected
