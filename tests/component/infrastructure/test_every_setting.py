"""The effect of each setting, in a deployment where every setting differs from cdk.json."""

import json
from pathlib import Path

import pytest
from aws_cdk import App, Stack

from cdk.app import build
from cdk.system_tests import INTERFACE_ENDPOINTS, Network
from tests.component.infrastructure.synthesised import Synthesised
from tidemark.model.checkout import ROOT, written_context
from tidemark.model.settings import Settings, read_settings
from tidemark.money.idle import idle_charges

CHANGED = json.loads(Path(__file__).with_name("every_setting.json").read_text())


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Return the stack that may be replaced."""
    # The command line gives lists and booleans as texts.
    context = {**CHANGED, "subnetIds": ",".join(CHANGED["subnetIds"]), "alarms": "false"}
    # An existing network has its zones, and is private.
    del context["availabilityZones"], context["privateNetwork"]
    return build(App(outdir=str(tmp_path_factory.mktemp("changed")), context=context))


@pytest.fixture(scope="module")
def changed_data(changed):
    return Synthesised(changed.data)


@pytest.fixture(scope="module")
def changed_template(changed):
    return Synthesised(changed)


def properties(template, kind):
    return [resource.get("Properties", {}) for resource in template.find_resources(kind).values()]


def variables(template):
    return [
        function["Environment"]["Variables"]
        for function in properties(template, "AWS::Lambda::Function")
    ]


def test_every_setting_is_changed_here():
    accepted = [field.alias for field in Settings.model_fields.values()]

    # A feature flag of the CDK has a slash in its name, and its command line has a switch here.
    written = [name for name in written_context() if "/" not in name and name != "cli-telemetry"]

    assert sorted(CHANGED) == sorted(accepted) == sorted(written)
    assert not [name for name in accepted if CHANGED[name] == written_context()[name]]


def test_stack_name_names_both_stacks_their_workgroup_and_log_groups(
    changed, changed_data, changed_template
):
    (workgroup,) = properties(changed_data, "AWS::Athena::WorkGroup")
    groups = {
        group.get("LogGroupName", "")
        for group in properties(changed_template, "AWS::Logs::LogGroup")
    }

    assert (changed.stack_name, changed.data.stack_name) == (
        "TidemarkVerify",
        "TidemarkVerify-Data",
    )
    assert workgroup["Name"] == "TidemarkVerify"
    assert "/TidemarkVerify/scripted" in groups


def test_ephemeral_results_are_deleted_with_their_stack(changed, changed_data):
    changed_data.has_resource(
        "AWS::S3::Bucket", {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}
    )
    assert not changed.data.termination_protection


def test_systems_come_from_the_folder_of_the_setting(changed_template):
    (task,) = properties(changed_template, "AWS::ECS::TaskDefinition")

    assert task["ContainerDefinitions"][0]["Name"] == "scripted"


def test_retired_suites_stay_in_the_tables(changed_data):
    for table in properties(changed_data, "AWS::Glue::Table"):
        values = table["TableInput"]["Parameters"]["projection.suite.values"]
        assert values == "leveldb,scripted"


def test_image_is_used_unchanged_and_may_be_pulled_from_its_repository(changed_template):
    (task,) = properties(changed_template, "AWS::ECS::TaskDefinition")
    pulling = [
        json.dumps(statement["Resource"])
        for policy in properties(changed_template, "AWS::IAM::Policy")
        for statement in policy["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]

    assert "/perf/workload:1.2" in json.dumps(task["ContainerDefinitions"][0]["Image"])
    assert ["repository/perf/workload" in resource for resource in pulling] == [True]


def test_log_retention_applies_to_every_log_group(changed_template):
    groups = properties(changed_template, "AWS::Logs::LogGroup")

    assert groups
    assert {group["RetentionInDays"] for group in groups} == {7}


def test_logs_deadline_seconds_is_a_variable_of_the_functions(changed_template):
    values = {function["LOGS_DEADLINE_SECONDS"] for function in variables(changed_template)}

    assert values == {"60"}


def test_schedules_start_the_suite_that_they_name(changed_template):
    (schedule,) = properties(changed_template, "AWS::Scheduler::Schedule")

    assert json.loads(schedule["Target"]["Input"])["suite"] == "scripted"
    assert schedule["ScheduleExpression"] == "cron(30 3 ? * SAT *)"


def test_notify_email_subscribes_to_the_topic(changed_template):
    (subscription,) = properties(changed_template, "AWS::SNS::Subscription")

    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "perf@example.com")


def test_alarms_may_be_turned_off(changed_template):
    changed_template.resource_count_is("AWS::CloudWatch::Alarm", 0)


def test_the_dashboard_is_made_only_if_it_is_wanted(template, changed_template):
    template.resource_count_is("AWS::CloudWatch::Dashboard", 0)
    changed_template.resource_count_is("AWS::CloudWatch::Dashboard", 1)


def test_reports_have_the_name_of_the_stack_and_are_granted_to_the_group(changed_template):
    (dashboard,) = properties(changed_template, "AWS::QuickSight::Dashboard")

    assert dashboard["DashboardId"] == "TidemarkVerify-dashboard"
    principals = [permission["Principal"] for permission in dashboard["Permissions"]]
    assert principals == [CHANGED["reportsPrincipal"]]


def test_vpc_id_and_subnet_ids_let_tasks_run_in_an_existing_network(changed_template):
    (group,) = properties(changed_template, "AWS::EC2::SecurityGroup")
    (machine,) = [
        machine["DefinitionSubstitutions"]
        for machine in properties(changed_template, "AWS::StepFunctions::StateMachine")
        if "Subnets" in machine["DefinitionSubstitutions"]
    ]

    assert group["VpcId"] == "vpc-0123456789abcdef0"
    assert "SecurityGroupIngress" not in group
    assert machine["Subnets"] == "subnet-0123456789abcdef0,subnet-0123456789abcdef1"
    assert machine["PublicAddress"] == "DISABLED"
    for kind in ("VPC", "Subnet", "InternetGateway", "VPCEndpoint"):
        changed_template.resource_count_is(f"AWS::EC2::{kind}", 0)


def test_tasks_have_the_index_the_certificates_and_the_variables_of_the_settings(changed_template):
    (task,) = properties(changed_template, "AWS::ECS::TaskDefinition")
    given = {each["Name"]: each["Value"] for each in task["ContainerDefinitions"][0]["Environment"]}

    assert given["UV_DEFAULT_INDEX"] == CHANGED["packageIndex"]
    assert given["TIDEMARK_CERTIFICATES"] == (ROOT / CHANGED["caBundle"]).read_text()
    assert given["HTTPS_PROXY"] == CHANGED["taskEnvironment"]["HTTPS_PROXY"]


def test_egress_is_the_only_way_out_of_the_security_group(changed_template):
    (group,) = properties(changed_template, "AWS::EC2::SecurityGroup")
    (to_list,) = properties(changed_template, "AWS::EC2::SecurityGroupEgress")

    assert [each["CidrIp"] for each in group["SecurityGroupEgress"]] == ["10.0.0.0/8"]
    assert to_list["DestinationPrefixListId"] == "pl-63a5400a"


KEYS = {
    "AWS::Lambda::Function": "KmsKeyArn",
    "AWS::Logs::LogGroup": "KmsKeyId",
    "AWS::SNS::Topic": "KmsMasterKeyId",
    "AWS::SQS::Queue": "KmsMasterKeyId",
}


@pytest.mark.parametrize("kind", KEYS)
def test_kms_key_encrypts_what_holds_data(changed_template, kind):
    found = properties(changed_template, kind)

    assert found
    assert {each.get(KEYS[kind]) for each in found} == {CHANGED["kmsKey"]}


def test_kms_key_encrypts_the_results_and_those_of_queries(changed_data):
    (bucket,) = properties(changed_data, "AWS::S3::Bucket")
    (workgroup,) = properties(changed_data, "AWS::Athena::WorkGroup")

    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    of_bucket, key = rule["ServerSideEncryptionByDefault"], CHANGED["kmsKey"]
    assert (of_bucket["SSEAlgorithm"], of_bucket["KMSMasterKeyID"]) == ("aws:kms", key)
    assert rule["BucketKeyEnabled"]
    result = workgroup["WorkGroupConfiguration"]["ResultConfiguration"]
    assert result["EncryptionConfiguration"] == {"EncryptionOption": "SSE_KMS", "KmsKey": key}


# The acts of a role on an encrypted thing, by the permission that it also needs on the key: the
# user guides of S3 ("Using server-side encryption with KMS keys"), SNS and SQS ("Key management").
NEEDED = {
    "s3:GetObject": "kms:Decrypt",
    "s3:PutObject": "kms:GenerateDataKey",
    "sns:Publish": "kms:GenerateDataKey",
    "sqs:SendMessage": "kms:GenerateDataKey",
}


def test_whatever_uses_an_encrypted_thing_may_use_its_key(changed_template):
    policies = [
        *properties(changed_template, "AWS::IAM::Policy"),
        *properties(changed_template, "AWS::IAM::ManagedPolicy"),
    ]
    users = set()
    for policy in policies:
        statements = policy["PolicyDocument"]["Statement"]
        allowed = {
            action
            for each in statements
            for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
        }
        used = allowed & NEEDED.keys()
        assert {NEEDED[action] for action in used} <= allowed
        users |= used
        on_keys = [each["Resource"] for each in statements if "kms:Decrypt" in each["Action"]]
        assert on_keys in ([], [CHANGED["kmsKey"]])

    assert users == NEEDED.keys()


def test_nothing_is_encrypted_with_a_key_of_the_account_by_default(template):
    assert not any(KEYS[kind] in each for kind in KEYS for each in properties(template, kind))
    assert "kms:" not in json.dumps(properties(template, "AWS::IAM::Policy"))


def test_a_private_network_has_no_way_to_the_internet_but_to_what_tasks_need():
    stack = Stack()
    settings = read_settings({**written_context(), "privateNetwork": True, "prebuilt": True})

    network = Network(stack, "Network", settings=settings)

    private = Synthesised(stack)
    assert not network.public_address
    for kind in ("InternetGateway", "NatGateway"):
        private.resource_count_is(f"AWS::EC2::{kind}", 0)
    endpoints = properties(private, "AWS::EC2::VPCEndpoint")
    services = {each["ServiceName"]["Fn::Join"][1][-1] for each in endpoints}
    assert services == {".s3", *(f".{name}" for name in INTERFACE_ENDPOINTS)}


def test_the_endpoints_that_an_existing_network_needs_are_named_in_the_docs():
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")

    assert all(f"`com.amazonaws.<region>.{name}`" in text for name in ("s3", *INTERFACE_ENDPOINTS))


def role_of_workflows(template):
    """Return the policies of the role of workflows, and the conditions of its trust."""
    (role,) = [
        each
        for each in properties(template, "AWS::IAM::Role")
        if "oidc-provider" in json.dumps(each["AssumeRolePolicyDocument"])
    ]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    return role["ManagedPolicyArns"], trust["Condition"]


def test_github_repository_may_take_a_role_with_the_policy_of_pipelines_alone(
    changed_template, everything
):
    github = "token.actions.githubusercontent.com"
    policies = changed_template.find_resources("AWS::IAM::ManagedPolicy")

    attached, trust = role_of_workflows(changed_template)

    assert attached == [{"Ref": name} for name in policies]
    assert trust["StringEquals"] == {f"{github}:aud": "sts.amazonaws.com"}
    assert trust["StringLike"] == {f"{github}:sub": "repo:perf/database:environment:release"}
    _, trust = role_of_workflows(everything)
    assert trust["StringLike"] == {f"{github}:sub": "repo:perf/database:*"}


@pytest.mark.parametrize(
    ("zones", "blocks"),
    [
        ("us-west-1c", {"us-west-1c": "10.0.0.0/20"}),
        ("us-west-1c,us-west-1a", {"us-west-1c": "10.0.0.0/21", "us-west-1a": "10.0.8.0/21"}),
    ],
)
def test_availability_zones_are_those_of_a_new_network(zones, blocks):
    stack = Stack()
    settings = read_settings({**written_context(), "availabilityZones": zones})

    network = Network(stack, "Network", settings=settings)

    subnets = properties(Synthesised(stack), "AWS::EC2::Subnet")
    assert {each["AvailabilityZone"]: each["CidrBlock"] for each in subnets} == blocks
    assert len(network.subnet_ids) == len(blocks)


def test_a_flag_of_the_cdk_closes_the_default_security_group_of_a_new_network(tmp_path):
    # As `make deploy ARGS='-c …'` gives it: docs/security.md.
    flag = {"@aws-cdk/aws-ec2:restrictDefaultSecurityGroup": "true"}
    stack = Stack(App(outdir=str(tmp_path), context=flag))

    Network(stack, "Network", settings=read_settings({**written_context(), **flag}))

    template = Synthesised(stack)
    template.resource_count_is("Custom::VpcRestrictDefaultSG", 1)
    assert sum(charge.usd for charge in idle_charges([template.to_json()])) == 0


def test_a_bootstrap_stack_may_have_another_qualifier(tmp_path):
    flag = {"@aws-cdk/core:bootstrapQualifier": "acme"}
    stack = Stack(App(outdir=str(tmp_path), context=flag))

    read_settings({**written_context(), **flag})

    version = Synthesised(stack).to_json()["Parameters"]["BootstrapVersion"]
    assert version["Default"] == "/cdk-bootstrap/acme/version"


def test_a_new_network_has_no_nat_gateway_and_its_tasks_have_public_addresses(template):
    template.resource_count_is("AWS::EC2::NatGateway", 0)
    assert "ENABLED" in [
        machine["DefinitionSubstitutions"].get("PublicAddress")
        for machine in properties(template, "AWS::StepFunctions::StateMachine")
    ]


def test_permissions_boundary_applies_to_every_role(changed_template):
    roles = properties(changed_template, "AWS::IAM::Role")

    assert roles
    assert {role["PermissionsBoundary"] for role in roles} == {CHANGED["permissionsBoundary"]}


def test_tags_are_on_every_resource_that_costs_money_or_keeps_data(changed_data, changed_template):
    expected = [
        {"Key": "cost-centre", "Value": "4711"},
        {"Key": "team:owner", "Value": "perf"},
    ]

    for template, kind in (
        (changed_data, "AWS::S3::Bucket"),
        (changed_data, "AWS::Athena::WorkGroup"),
        (changed_template, "AWS::Lambda::Function"),
        (changed_template, "AWS::ECS::Cluster"),
        (changed_template, "AWS::ECS::TaskDefinition"),
        (changed_template, "AWS::StepFunctions::StateMachine"),
        (changed_template, "AWS::Logs::LogGroup"),
        (changed_template, "AWS::SQS::Queue"),
    ):
        resources = properties(template, kind)
        assert resources
        for resource in resources:
            assert [tag for tag in resource["Tags"] if tag in expected] == expected
