"""CloudFormation's rules of replacement on one machine, against the schemas that cfn-lint has."""

import json
from importlib.resources import files
from pathlib import PurePosixPath

import pytest

from local.cloud.fixed_properties import FIXED

SCHEMAS = files("cfnlint") / "data" / "schemas"
OF_TYPE = json.loads((SCHEMAS / "providers" / "us-east-1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", FIXED)
def test_the_properties_that_replace_a_resource_are_those_of_its_schema(kind):
    text = (SCHEMAS / "resources" / f"{OF_TYPE[kind]}.json").read_text(encoding="utf-8")
    schema = json.loads(text)

    paths = [
        *schema.get("createOnlyProperties", ()),
        *schema.get("conditionalCreateOnlyProperties", ()),
    ]
    fixed = {str(PurePosixPath(path).relative_to("/properties")) for path in paths}
    assert fixed == {*FIXED[kind]}


def test_every_type_of_the_stacks_has_rules(template, data):
    parts = [*template.to_json()["Resources"].values(), *data.to_json()["Resources"].values()]

    assert {part["Type"] for part in parts} <= FIXED.keys()
