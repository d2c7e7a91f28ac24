import json

import pytest
from botocore.exceptions import ClientError

from onebox.cloud import stacks


@pytest.fixture
def create(endpoint):
    replacements = stacks.install()

    def create(**properties):
        saved = {"Type": "AWS::Logs::QueryDefinition", "Properties": {"Name": "q", **properties}}
        template = json.dumps({"Resources": {"Saved": saved}})
        endpoint.client("cloudformation").create_stack(StackName="s", TemplateBody=template)

    yield create
    replacements.restore()


def test_a_valid_query_is_saved(create):
    create(QueryString="fields @message | limit 3", LogGroupNames=["g"])


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"QueryString": "fields @message | dance"}, "QueryString of s-Saved-.*dance"),
        (
            {"QueryString": "limit 3", "QueryLanguage": "SQL"},
            "QueryLanguage of AWS::Logs::QueryDefinition is not supported on one machine",
        ),
    ],
)
def test_an_invalid_query_fails_its_stack(create, properties, sentence):
    with pytest.raises(ClientError, match=sentence):
        create(**properties)
