"""What the results bucket is told of an object, and says of one that is not there."""

from contextlib import contextmanager

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from lambdas.aws import Bucket


@contextmanager
def stubbed():
    """Have a client of S3, and what stands for the service."""
    client = boto3.client(
        "s3", region_name="eu-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as s3:
        yield client, s3


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("reports/rocksdb/r/report.html", "text/html"),
        ("tables/rates/suite=rocksdb/year=2026/r.jsonl.gz", "binary/octet-stream"),
    ],
)
def test_a_browser_is_told_what_it_can_show(key, kind):
    with stubbed() as (client, s3):
        written = {"Bucket": "results", "Key": key, "Body": b"<p>", "ContentType": kind}
        s3.add_response("put_object", {}, written)
        Bucket(client, "results").write(key, b"<p>")
        s3.assert_no_pending_responses()


def test_the_folders_of_a_folder_are_its_own_however_many_pages_list_them():
    asked = {"Bucket": "results", "Prefix": "versions/rocksdb/", "Delimiter": "/"}
    with stubbed() as (client, s3):
        for version, more in (("8.8.1", {"ContinuationToken": "x"}), ("9.0.0", {})):
            answer = {
                "CommonPrefixes": [{"Prefix": f"versions/rocksdb/{version}/"}],
                "IsTruncated": bool(more),
                "NextContinuationToken": "x",
            }
            s3.add_response("list_objects_v2", answer, asked)
            asked = {**asked, **more}
        found = list(Bucket(client, "results").folders("versions/rocksdb/"))
    assert found == ["8.8.1", "9.0.0"]


def found(listed, code):
    """Find an object of which ListObjectsV2 says ``listed`` and GetObject, if asked, ``code``."""
    with stubbed() as (client, s3):
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
