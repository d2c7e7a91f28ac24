import json

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template
from aws_cdk.aws_ecs import FargateTaskDefinition

from cdk.system_tests import existing_image

REGISTRY = "210987654321.dkr.ecr.eu-west-2"


def synthesise(image):
    """Return the task definition and the policies of a task that runs an image."""
    stack = Stack(App(), "Stack")
    definition = FargateTaskDefinition(stack, "Task")
    definition.add_container("main", image=existing_image(stack, image))
    template = Template.from_stack(stack)
    return [
        json.dumps(template.find_resources(kind))
        for kind in ("AWS::ECS::TaskDefinition", "AWS::IAM::Policy")
    ]


@pytest.mark.parametrize(
    ("suffix", "version"),
    [
        ("", ":latest"),
        (":1.2", ":1.2"),
        ("@sha256:0af3", "@sha256:0af3"),
        (":1.2@sha256:0af3", "@sha256:0af3"),
    ],
)
def test_an_image_of_ecr_is_pulled_from_its_own_account_and_region(suffix, version):
    task, policies = synthesise(f"{REGISTRY}.amazonaws.com/perf/workload{suffix}")

    assert f'"{REGISTRY}.", {{"Ref": "AWS::URLSuffix"}}, "/perf/workload{version}"' in task
    assert "ecr:BatchGetImage" in policies
    assert ':ecr:eu-west-2:210987654321:repository/perf/workload"' in policies


def test_an_image_of_another_registry_is_named_in_full_and_needs_no_grant():
    task, policies = synthesise("ghcr.io/perf/workload:1.2")

    assert '"ghcr.io/perf/workload:1.2"' in task
    assert policies == "{}"
