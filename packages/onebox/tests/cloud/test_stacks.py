import json

import pytest

TOPIC = {"Resources": {"R": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "t"}}}}
YAML = "Resources: {R: {Type: 'AWS::SNS::Topic', Properties: {TopicName: t}}}"


@pytest.mark.parametrize("template", [json.dumps(TOPIC), YAML])
def test_a_template_is_json_or_yaml(formation, template):
    formation.create_stack(StackName="s", TemplateBody=template)

    (resource,) = formation.describe_stack_resources(StackName="s")["StackResources"]
    assert resource["PhysicalResourceId"].endswith(":t")
