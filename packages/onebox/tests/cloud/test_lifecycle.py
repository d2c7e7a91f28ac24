"""Objects that expire by the lifecycle rules of their bucket's template."""

import json
from datetime import datetime

import pytest
from botocore.exceptions import ClientError
from moto.moto_api._internal.models import moto_api_backend
from moto.s3.models import s3_backends

from onebox.account import ACCOUNT, REGION
from onebox.cloud import stacks
from onebox.cloud.objects import FileKey, install
from onebox.cloud.stacks import expire

RULES = [
    {"Id": "Work", "Prefix": "work/", "ExpirationInDays": "2", "Status": "Enabled"},
    {"Id": "Off", "Prefix": "off/", "ExpirationInDays": "1", "Status": "Disabled"},
    {
        "Id": "Parts",
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": "2"},
        "Status": "Enabled",
    },
]


@pytest.fixture
def bucket(tmp_path):
    with install(tmp_path):
        backend = s3_backends[ACCOUNT]["aws"]
        bucket = backend.create_bucket("results", REGION)
        for key in ("work/a", "work/b", "off/a", "runs/a"):
            stored = backend.put_object("results", key, b"")
            stored.last_modified = datetime(2026, 11, 20, 12, 45)
        yield bucket
        moto_api_backend.reset()


@pytest.mark.parametrize(
    ("now", "left"),
    [
        (datetime(2026, 11, 22, 23, 59), {"work/a", "work/b", "off/a", "runs/a"}),
        (datetime(2026, 11, 23), {"off/a", "runs/a"}),
    ],
)
def test_an_object_expires_at_the_midnight_after_its_days(bucket, now, left):
    expire(bucket, RULES, now)

    assert set(bucket.keys) == left
    assert {key for key, _, _ in FileKey.files.objects("results")} == left


def test_an_unsupported_property_of_a_rule_is_refused_by_name(endpoint):
    rule = {"Id": "Move", "Status": "Enabled", "Transitions": []}
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {"LifecycleConfiguration": {"Rules": [rule]}},
    }
    replacements = stacks.install()

    with pytest.raises(ClientError, match=r"A rule of AWS::S3::Bucket has Transitions \[\], whi"):
        endpoint.client("cloudformation").create_stack(
            StackName="s", TemplateBody=json.dumps({"Resources": {"B": bucket}})
        )
    replacements.restore()
