"""A synthesised template that Python reads."""

import json

from aws_cdk.assertions import Template


class Synthesised:
    """The template of a stack, read once: each question to the CDK itself takes long."""

    def __init__(self, stack):
        self._template = Template.from_stack(stack)
        self._text = json.dumps(self._template.to_json())

    def to_json(self):
        return json.loads(self._text)

    def find_resources(self, kind, properties=None):
        if properties:
            return self._template.find_resources(kind, properties)
        resources = self.to_json()["Resources"].items()
        return {name: each for name, each in resources if each["Type"] == kind}

    def resource_count_is(self, kind, count):
        assert len(self.find_resources(kind)) == count

    def __getattr__(self, name):
        return getattr(self._template, name)
