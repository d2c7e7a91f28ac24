import json

import pytest
from botocore.exceptions import ClientError

from onebox.cloud import stacks


@pytest.fixture
def create(endpoint):
    replacements = stacks.install()

    def create(kind, **properties):
        template = json.dumps({"Resources": {"R": {"Type": kind, "Properties": properties}}})
        endpoint.client("cloudformation").create_stack(StackName="s", TemplateBody=template)

    yield create
    replacements.restore()


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        ("AWS::S3::Bucket", {"ObjectLockEnabled": True}, "ObjectLockEnabled"),
        ("AWS::SNS::Topic", {"FifoTopic": True}, "FifoTopic"),
        ("AWS::SQS::Queue", {"DelaySeconds": 3}, "DelaySeconds"),
        ("AWS::IAM::Role", {"ManagedPolicyArns": ["arn"]}, "ManagedPolicyArns"),
        ("AWS::Logs::LogGroup", {"KmsKeyId": "key"}, "KmsKeyId"),
        ("AWS::ECS::Cluster", {"CapacityProviders": []}, "CapacityProviders"),
    ],
)
def test_a_property_without_effect_is_refused_by_name(create, kind, properties, named):
    with pytest.raises(ClientError, match=f"{named}.* of {kind} is not supported on one machine"):
        create(kind, **properties)


def test_a_property_that_one_machine_need_not_honour_is_accepted(create):
    create("AWS::S3::Bucket", PublicAccessBlockConfiguration={"BlockPublicAcls": True})
