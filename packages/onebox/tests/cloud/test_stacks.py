"""Stacks on one machine, created from templates as the CDK CLI deploys them: by change sets."""

import json
from datetime import datetime

import pytest
import yaml
from botocore.exceptions import ClientError
from moto.moto_api._internal.models import moto_api_backend
from moto.s3.models import s3_backends

from onebox.app import ACCOUNT, REGION
from onebox.cloud.objects import FileKey, install
from onebox.cloud.stacks import expire

TOPIC = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"Topic": {"Value": {"Ref": "Topic"}, "Export": {"Name": "topic"}}},
}
READER = {
    "Resources": {
        "Name": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Name": "read", "Type": "String", "Value": {"Fn::ImportValue": "topic"}},
        }
    },
}


@pytest.fixture
def plan(formation):
    """Return a way to plan a stack; it returns the change set's status and ARN."""

    def plan(template, stack="s", kind="CREATE"):
        change_set = formation.create_change_set(
            StackName=stack,
            ChangeSetName=f"change-{stack}",
            ChangeSetType=kind,
            TemplateBody=json.dumps(template),
        )["Id"]
        return formation.describe_change_set(ChangeSetName=change_set)["Status"], change_set

    return plan


@pytest.fixture
def create(formation, plan):
    def create(template, stack="s"):
        _, change_set = plan(template, stack)
        formation.execute_change_set(ChangeSetName=change_set)
        (created,) = formation.describe_stacks(StackName=stack)["Stacks"]
        return created

    return create


def test_the_template_of_a_stack_may_be_an_object(endpoint, formation):
    s3 = endpoint.client("s3")
    s3.create_bucket(Bucket="assets")
    s3.put_object(Bucket="assets", Key="a/template.json", Body=json.dumps(TOPIC))

    url = f"{endpoint.url}/assets/a/template.json"
    formation.create_stack(StackName="s", TemplateURL=url)

    assert formation.describe_stacks(StackName="s")["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"


def test_an_executed_change_set_creates_the_stack_with_its_outputs_and_events(formation, create):
    created = create(TOPIC)

    assert created["StackStatus"] == "CREATE_COMPLETE"
    (output,) = created["Outputs"]
    assert output["OutputValue"].startswith("arn:aws:sns:")
    events = formation.describe_stack_events(StackName=created["StackId"])["StackEvents"]
    assert {event["ResourceStatus"] for event in events} == {
        "REVIEW_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE",
    }  # fmt: skip


def test_a_stack_imports_the_export_of_an_earlier_stack(endpoint, create):
    (topic,) = create(TOPIC)["Outputs"]
    create(READER, "reader")

    parameter = endpoint.client("ssm").get_parameter(Name="read")["Parameter"]
    assert parameter["Value"] == topic["OutputValue"]


def test_a_member_without_a_value_is_no_member_of_its_list(endpoint, create):
    queue = {"Fn::GetAtt": ["Queue", "Arn"]}
    policy = {
        "PolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": queue},
                {"Fn::If": ["Never", {}, {"Ref": "AWS::NoValue"}]},
            ],
        }
    }
    create(
        {
            "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
            "Resources": {
                "Queue": {"Type": "AWS::SQS::Queue"},
                "Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": policy},
            },
        }
    )

    iam = endpoint.client("iam")
    (made,) = iam.list_policies(Scope="Local")["Policies"]
    version = iam.get_policy_version(PolicyArn=made["Arn"], VersionId="v1")["PolicyVersion"]
    assert [each["Action"] for each in version["Document"]["Statement"]] == ["sqs:SendMessage"]


def test_a_planned_stack_can_be_planned_again(formation, plan):
    plan(TOPIC)
    for _ in range(2):
        formation.delete_change_set(ChangeSetName="change-s", StackName="s")
    with pytest.raises(formation.exceptions.ChangeSetNotFoundException):
        formation.describe_change_set(ChangeSetName="change-s", StackName="s")
    status, _ = plan(TOPIC)

    assert status == "CREATE_COMPLETE"
    assert len(formation.describe_stacks()["Stacks"]) == 1


def test_an_unsupported_type_leaves_no_complete_stack(formation, plan):
    _, change_set = plan({"Resources": {"X": {"Type": "AWS::QuickSight::Theme"}}})

    with pytest.raises(ClientError, match="AWS::QuickSight::Theme is not supported on one machine"):
        formation.execute_change_set(ChangeSetName=change_set)
    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_FAILED"


def test_a_missing_resource_leaves_no_complete_stack(formation, plan):
    never = {"Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}}
    left_out = {"Resources": {"Topic": {**TOPIC["Resources"]["Topic"], "Condition": "Never"}}}
    _, change_set = plan({**never, **left_out})

    with pytest.raises(ClientError, match=r"Topic \(AWS::SNS::Topic\) of s was not created"):
        formation.execute_change_set(ChangeSetName=change_set)
    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_FAILED"


def test_the_change_and_the_deletion_of_a_stack_are_refused_and_change_nothing(
    endpoint, formation, create, plan
):
    create(TOPIC)

    for operation, arguments in [("update_stack", {"TemplateBody": "{}"}), ("delete_stack", {})]:
        name = operation.title().replace("_", "")
        with pytest.raises(ClientError, match=f"{name} is not supported on one machine"):
            getattr(formation, operation)(StackName="s", **arguments)
    for kind in ("CREATE", "UPDATE"):
        with pytest.raises(ClientError, match=r"\[s\] already exists: on one machine a stack"):
            plan(READER, kind=kind)
    with pytest.raises(ClientError, match=r"Stack \[s\] already exists"):
        formation.execute_change_set(ChangeSetName="change-s", StackName="s")
    assert len(endpoint.client("sns").list_topics()["Topics"]) == 1


def test_a_stack_is_protected_from_its_termination(formation, create):
    create(TOPIC)
    formation.update_termination_protection(StackName="s", EnableTerminationProtection=True)

    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["EnableTerminationProtection"]


@pytest.mark.parametrize("template", [json.dumps(TOPIC), yaml.dump(TOPIC)])
def test_a_template_is_json_or_yaml(formation, template):
    formation.create_stack(StackName="s", TemplateBody=template)

    (resource,) = formation.describe_stack_resources(StackName="s")["StackResources"]
    assert resource["PhysicalResourceId"].startswith("arn:aws:sns:")


@pytest.fixture
def create_one(formation):
    """Return a way to create a stack with one resource."""

    def create_one(kind, **properties):
        template = json.dumps({"Resources": {"R": {"Type": kind, "Properties": properties}}})
        formation.create_stack(StackName="s", TemplateBody=template)

    return create_one


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        ("AWS::S3::Bucket", {"ObjectLockEnabled": True}, "ObjectLockEnabled"),
        ("AWS::SNS::Topic", {"FifoTopic": True}, "FifoTopic"),
        ("AWS::SQS::Queue", {"DelaySeconds": 3}, "DelaySeconds"),
        ("AWS::IAM::Role", {"ManagedPolicyArns": ["arn"]}, "ManagedPolicyArns"),
        ("AWS::Logs::LogGroup", {"KmsKeyId": "key"}, "KmsKeyId"),
        ("AWS::Logs::QueryDefinition", {"QueryLanguage": "SQL"}, "QueryLanguage"),
        ("AWS::ECS::Cluster", {"CapacityProviders": []}, "CapacityProviders"),
    ],
)
def test_a_property_without_effect_is_refused_by_name(create_one, kind, properties, named):
    with pytest.raises(ClientError, match=f"{kind} has {named} .*, which one machine does not"):
        create_one(kind, **properties)


def test_a_property_that_one_machine_need_not_honour_is_accepted(create_one):
    create_one("AWS::S3::Bucket", PublicAccessBlockConfiguration={"BlockPublicAcls": True})


def test_a_valid_query_is_saved(create_one):
    create_one("AWS::Logs::QueryDefinition", Name="q", QueryString="limit 3", LogGroupNames=["g"])


def test_an_invalid_query_fails_its_stack(create_one):
    with pytest.raises(ClientError, match=r"QueryString of s-R-.*dance"):
        create_one("AWS::Logs::QueryDefinition", Name="q", QueryString="fields @message | dance")


RULES = [
    {"Id": "Work", "Prefix": "work/", "ExpirationInDays": "2", "Status": "Enabled"},
    {"Id": "Off", "Prefix": "off/", "ExpirationInDays": "1", "Status": "Disabled"},
    {
        "Id": "Parts",
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": "2"},
        "Status": "Enabled",
    },
]


@pytest.fixture
def bucket(tmp_path):
    with install(tmp_path):
        backend = s3_backends[ACCOUNT]["aws"]
        bucket = backend.create_bucket("results", REGION)
        for key in ("work/a", "work/b", "off/a", "runs/a"):
            stored = backend.put_object("results", key, b"")
            stored.last_modified = datetime(2026, 11, 20, 12, 45)
        yield bucket
        moto_api_backend.reset()


@pytest.mark.parametrize(
    ("now", "left"),
    [
        (datetime(2026, 11, 22, 23, 59), {"work/a", "work/b", "off/a", "runs/a"}),
        (datetime(2026, 11, 23), {"off/a", "runs/a"}),
    ],
)
def test_an_object_expires_at_the_midnight_after_its_days(bucket, now, left):
    expire(bucket, RULES, now)

    assert set(bucket.keys) == left
    assert {key for key, _, _ in FileKey.files.objects("results")} == left


def test_an_unsupported_property_of_a_rule_is_refused_by_name(create_one):
    rule = {"Id": "Move", "Status": "Enabled", "Transitions": []}

    with pytest.raises(ClientError, match=r"A rule of AWS::S3::Bucket has Transitions \[\], whi"):
        create_one("AWS::S3::Bucket", LifecycleConfiguration={"Rules": [rule]})
