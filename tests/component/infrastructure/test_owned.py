"""The permission of tasks to have buckets, queues and tables of their trial's own."""

import json

import pytest

from onebox.cloud.policy_evaluation import Request, allowed, read_statements
from tests.component.infrastructure.granted import granted, listed
from tidemark.model.suite import OWN_DIGITS
from tidemark.store.keys import DATA

OWN = f"sleeper-tm{'0' * OWN_DIGITS}"
PLACE = "eu-west-2:123456789012"
SHOWN = {"AWS::Partition": "aws", "AWS::Region": "eu-west-2", "AWS::AccountId": "123456789012"}


def text(value):
    """Return the text of a value in a template; what another stack exports is the bucket's ARN."""
    if isinstance(value, str):
        return value
    if "Ref" in value:
        return SHOWN[value["Ref"]]
    if "Fn::Join" in value:
        return "".join(map(text, value["Fn::Join"][1]))
    return "arn:aws:s3:::results"


def of_tasks(template, suite):
    """Yield the statements of the role of a suite's tests without what its log and image need."""
    for _, each in granted(template, f"SystemTests{suite}TaskTaskRole"):
        yield {**each, "Resource": [text(resource) for resource in listed(each["Resource"])]}


@pytest.fixture
def may(template):
    """Return a question: may a task of a suite do an action on a resource?"""

    def may(suite, action, resource):
        document = json.loads(json.dumps({"Statement": list(of_tasks(template, suite))}))
        return allowed(Request(action, resource), read_statements(document))

    return may


@pytest.mark.parametrize(
    ("action", "place"),
    [
        ("dynamodb:CreateTable", f"arn:aws:dynamodb:{PLACE}:table/"),
        ("sqs:CreateQueue", f"arn:aws:sqs:{PLACE}:"),
        ("s3:CreateBucket", "arn:aws:s3:::"),
    ],
)
def test_tasks_make_what_has_the_digits_of_a_trial_in_its_name(may, action, place):
    assert may("Sleeper", action, f"{place}{OWN}-a")
    assert not may("Rocksdb", action, f"{place}{OWN}-a")
    for name in (OWN, "sleeper-tm-a", f"{OWN[:-1]}-a", f"x-{OWN}-a", "theirs"):
        assert not may("Sleeper", action, f"{place}{name}")


def test_tasks_use_the_objects_of_their_own_buckets_and_delete_none_of_the_results(may):
    assert may("Sleeper", "s3:DeleteObject", f"arn:aws:s3:::{OWN}-a/data/1")
    assert not may("Sleeper", "s3:DeleteObject", f"arn:aws:s3:::results/{DATA}1")
