"""The template for teams without the CDK."""

import json

from cdk.release import one_template, settings_of_template
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

    one = one_template(stack, data, programs)

    parts = {name: each["Properties"] for name, each in one["Resources"].items()}
    assert parts["Group"] == {"VpcId": {"Ref": "Vpc"}}
    assert parts["Machine"]["DefinitionSubstitutions"] == {
        "Subnets": {"Fn::Join": [",", {"Ref": "Subnets"}]}
    }
    assert parts["Mail"] == {"Endpoint": {"Ref": "Email"}}
    assert parts["Task"]["ContainerDefinitions"] == [{"Image": {"Ref": "ImageKiwiServer"}}]
    assert one["Outputs"]["Bucket"]["Value"] == {"Ref": "Bucket"}
    assert {"Vpc", "Subnets", "Email", "ImageKiwiServer", "ImageRocksdb"} <= one[
        "Parameters"
    ].keys()
