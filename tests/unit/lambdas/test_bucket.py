"""What S3 answers of an object that is not there."""

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from lambdas.aws import Bucket


def found(code, listed):
    """Find an object of which GetObject says ``code`` and ListObjectsV2 ``listed``."""
    client = boto3.client(
        "s3", region_name="eu-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as s3:
        s3.add_client_error("get_object", code)
        s3.add_response("list_objects_v2", {"Contents": [{"Key": key} for key in listed]})
        return Bucket(client, "results").find("work/a.json")


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_an_object_that_is_not_listed_is_not_there(code):
    assert found(code, ["work/a.json.old"]) is None


def test_an_object_that_is_there_and_may_not_be_read_is_an_error():
    with pytest.raises(ClientError, match="AccessDenied"):
        found("AccessDenied", ["work/a.json"])
