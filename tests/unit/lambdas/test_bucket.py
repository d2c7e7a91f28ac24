"""What the results bucket says of an object that is not there."""

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from lambdas.aws import Bucket


def found(listed, code):
    """Find an object of which ListObjectsV2 says ``listed`` and GetObject, if asked, ``code``."""
    client = boto3.client(
        "s3", region_name="eu-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as s3:
        s3.add_response("list_objects_v2", {"Contents": [{"Key": key} for key in listed]})
        if code:
            s3.add_client_error("get_object", code)
        return Bucket(client, "results").find("work/a.json")


def test_an_object_that_is_not_listed_is_not_there():
    assert found(["work/a.json.old"], None) is None


def test_an_object_that_is_gone_when_it_is_read_is_not_there():
    assert found(["work/a.json"], "NoSuchKey") is None


def test_an_object_that_is_there_and_may_not_be_read_is_an_error():
    with pytest.raises(ClientError, match="AccessDenied"):
        found(["work/a.json"], "AccessDenied")
