"""The results bucket: types of objects, folders and missing objects."""

from contextlib import contextmanager

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from aws.bucket import S3Bucket


@contextmanager
def stubbed():
    """Yield an S3 client and its stub."""
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
def test_an_object_that_a_browser_can_show_has_its_type(key, kind):
    with stubbed() as (client, s3):
        request = {"Bucket": "results", "Key": key, "Body": b"<p>", "ContentType": kind}
        s3.add_response("put_object", {}, request)
        S3Bucket(client, "results").write(key, b"<p>")
        s3.assert_no_pending_responses()


def test_the_folders_of_a_folder_are_those_of_all_pages():
    request = {"Bucket": "results", "Prefix": "versions/rocksdb/", "Delimiter": "/"}
    with stubbed() as (client, s3):
        for version, more in (("8.8.1", {"ContinuationToken": "x"}), ("9.0.0", {})):
            answer = {
                "CommonPrefixes": [{"Prefix": f"versions/rocksdb/{version}/"}],
                "IsTruncated": bool(more),
                "NextContinuationToken": "x",
            }
            s3.add_response("list_objects_v2", answer, request)
            request = {**request, **more}
        folders = list(S3Bucket(client, "results").folders("versions/rocksdb/"))
    assert folders == ["8.8.1", "9.0.0"]


def find(keys, code):
    """Return the object after ListObjectsV2 lists ``keys`` and GetObject fails with ``code``."""
    with stubbed() as (client, s3):
        s3.add_response("list_objects_v2", {"Contents": [{"Key": key} for key in keys]})
        if code:
            s3.add_client_error("get_object", code)
        return S3Bucket(client, "results").find("work/a.json")


def test_an_object_that_is_not_listed_is_missing():
    assert find(["work/a.json.old"], None) is None


def test_an_object_that_is_gone_when_it_is_read_is_missing():
    assert find(["work/a.json"], "NoSuchKey") is None


def test_an_existing_object_that_may_not_be_read_is_an_error():
    with pytest.raises(ClientError, match="AccessDenied"):
        find(["work/a.json"], "AccessDenied")
