import json

import pytest
from botocore.exceptions import ClientError

from local.cloud import stacks


@pytest.fixture
def create(endpoint):
    replaced = stacks.install()

    def create(**properties):
        saved = {"Type": "AWS::Logs::QueryDefinition", "Properties": {"Name": "q", **properties}}
        template = json.dumps({"Resources": {"Saved": saved}})
        endpoint.client("cloudformation").create_stack(StackName="s", TemplateBody=template)

    yield create
    replaced.restore()


def test_a_query_that_insights_takes_is_saved(create):
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
def test_one_that_would_fail_when_it_is_asked_fails_its_stack(create, properties, sentence):
    with pytest.raises(ClientError, match=sentence):
        create(**properties)
