"""The template for teams without the CDK."""

import json

import pytest

from cdk.release import one_template, settings_of_template, with_or_without_key
from tidemark.model.checkout import written_context
from tidemark.model.settings import read_settings


def test_one_template_has_the_resources_of_both_stacks_and_imports_nothing(template, data):
    both = template.to_json(), data.to_json()

    one = one_template(*both, {})

    assert one["Resources"].keys() == both[0]["Resources"].keys() | both[1]["Resources"].keys()
    assert not both[0]["Resources"].keys() & both[1]["Resources"].keys()
    text = json.dumps(one)
    assert "Fn::ImportValue" not in text
    assert "cdk-hnb659fds-assets" not in text
    assert "BootstrapVersion" not in text
    # CAPABILITY_IAM is enough for roles and policies without names of their own.
    assert "RoleName" not in text
    assert "ManagedPolicyName" not in text
    pulling = [
        json.dumps(each["Properties"]["PolicyDocument"])
        for name, each in one["Resources"].items()
        if each["Type"] == "AWS::IAM::Policy" and "ExecutionRole" in name
    ]
    assert pulling
    assert all("ecr:GetAuthorizationToken" in document for document in pulling)


def test_the_results_outlive_the_stack(template, data):
    one = one_template(template.to_json(), data.to_json(), {})

    (bucket,) = [each for each in one["Resources"].values() if each["Type"] == "AWS::S3::Bucket"]
    assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain"


def test_what_an_account_decides_is_a_parameter():
    context, programs = settings_of_template(read_settings(written_context()))
    stack = {
        "Description": "Tidemark",
        "Outputs": {"Bucket": {"Value": {"Fn::ImportValue": "Data:Bucket"}}},
        "Resources": {
            "Group": {
                "Type": "AWS::EC2::SecurityGroup",
                "Properties": {"VpcId": context["vpcId"]},
            },
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"DefinitionSubstitutions": {"Subnets": context["subnetIds"][0]}},
            },
            "Mail": {
                "Type": "AWS::SNS::Subscription",
                "Properties": {"Endpoint": context["notifyEmail"]},
            },
            "Task": {
                "Type": "AWS::ECS::TaskDefinition",
                "Properties": {"ContainerDefinitions": [{"Image": "parameter/kiwi/server:0"}]},
            },
        },
    }
    data = {
        "Resources": {},
        "Outputs": {"B": {"Export": {"Name": "Data:Bucket"}, "Value": {"Ref": "Bucket"}}},
    }

    one = one_template(stack, data, programs, "the key of cdk.json")

    assert one["Parameters"]["Key"]["Default"] == "the key of cdk.json"
    parts = {name: each["Properties"] for name, each in one["Resources"].items()}
    assert parts["Group"] == {"VpcId": {"Ref": "Vpc"}}
    assert parts["Machine"]["DefinitionSubstitutions"] == {
        "Subnets": {"Fn::Join": [",", {"Ref": "Subnets"}]}
    }
    assert parts["Mail"] == {"Endpoint": {"Ref": "Email"}}
    assert parts["Task"]["ContainerDefinitions"] == [{"Image": {"Ref": "ImageKiwiServer"}}]
    assert one["Outputs"]["Bucket"]["Value"] == {"Ref": "Bucket"}
    assert {"Vpc", "Subnets", "Email", "Key", "ImageKiwiServer", "ImageRocksdb"} <= one[
        "Parameters"
    ].keys()


KEYED, PLAIN = {"key": {"Ref": "Key"}}, {"own": True}


def chosen(value, *, has_key):
    """Return a value as CloudFormation reads it, with or without a key."""
    match value:
        case {"Fn::If": ["HasKey", keyed, plain]}:
            return chosen(keyed if has_key else plain, has_key=has_key)
        case dict():
            parts = {name: chosen(each, has_key=has_key) for name, each in value.items()}
            return {name: each for name, each in parts.items() if each != {"Ref": "AWS::NoValue"}}
        case list():
            parts = [chosen(each, has_key=has_key) for each in value]
            return [each for each in parts if each != {"Ref": "AWS::NoValue"}]
    return value


@pytest.mark.parametrize(
    ("keyed", "plain"),
    [
        ({"a": 1, "k": "key"}, {"a": 1}),
        ({"a": 1, "k": {"of": "key"}}, {"a": 1}),
        ({"a": {"k": "key"}}, {"a": {"own": True}}),
        ([KEYED], [PLAIN]),
        ([1, 2, KEYED, 3], [1, 2, 3]),
        ([KEYED, 1], [2, 3, 4]),
    ],
)
def test_the_parameter_of_the_key_chooses_between_both_templates(keyed, plain):
    both = with_or_without_key(keyed, plain)

    assert chosen(both, has_key=True) == keyed
    assert chosen(both, has_key=False) == plain


def test_the_condition_is_within_the_properties_of_a_resource_that_has_none_without_a_key():
    topic = {"Type": "AWS::SNS::Topic"}

    both = with_or_without_key({**topic, "Properties": {"KmsMasterKeyId": 1}}, topic)

    assert chosen(both, has_key=False) == {**topic, "Properties": {}}


def test_what_is_the_same_with_and_without_a_key_has_no_condition():
    assert with_or_without_key({"a": [1], "k": 1}, {"a": [1]}) == {
        "a": [1],
        "k": {"Fn::If": ["HasKey", 1, {"Ref": "AWS::NoValue"}]},
    }
