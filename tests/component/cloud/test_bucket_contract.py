"""The port of the results bucket: S3, the files of the one-machine cloud and the fake alike."""

import hashlib
import json

import pytest
from moto.moto_api._internal.models import moto_api_backend

from aws.bucket import S3Bucket
from onebox.cloud.objects import FileKey, install
from onebox.store.object_files import ObjectFiles
from tests.unit.fakes import FakeBucket
from tidemark.one_machine.stored import FileBucket
from tidemark.store.claims import claimed_runs
from tidemark.store.keys import CLAIMS


@pytest.fixture(params=["fake", "files", "s3"])
def bucket(request, tmp_path):
    """Have an empty bucket of each kind."""
    if request.param == "fake":
        yield FakeBucket()
    elif request.param == "files":
        files = ObjectFiles(tmp_path / "objects")
        yield FileBucket(files, "results")
        files.close()
    else:
        endpoint = request.getfixturevalue("endpoint")
        s3 = endpoint.client("s3")
        s3.create_bucket(Bucket="contract")
        bucket = S3Bucket(s3, "contract")
        bucket.delete("")
        yield bucket


def test_an_object_is_read_as_it_was_written_last(bucket):
    bucket.write("runs/a.json", b"first")
    bucket.write("runs/a.json", b"second")

    assert bucket.read("runs/a.json") == b"second"
    assert bucket.find("runs/a.json").body == b"second"


def test_a_missing_object_is_not_found_and_cannot_be_read(bucket):
    assert bucket.find("runs/a.json") is None
    with pytest.raises(Exception, match=r"."):  # each service has an error of its own
        bucket.read("runs/a.json")


def test_an_object_is_written_once(bucket):
    assert bucket.write_once("k", b"first")
    assert not bucket.write_once("k", b"second")
    assert bucket.read("k") == b"first"


def test_an_object_is_replaced_only_by_a_writer_that_knows_it(bucket):
    bucket.write("k", b"first")
    seen = bucket.find("k").etag
    bucket.write("k", b"second")

    assert not bucket.write_over("k", b"third", seen)
    assert bucket.write_over("k", b"third", bucket.find("k").etag)
    assert not bucket.write_over("gone", b"", seen)
    assert bucket.read("k") == b"third"


def test_keys_are_listed_in_order_below_a_prefix_and_after_a_key(bucket):
    for key in ("b/2", "a/1", "b/1", "b/10", "c"):
        bucket.write(key, b"")

    assert list(bucket.keys("b/")) == ["b/1", "b/10", "b/2"]
    assert list(bucket.keys("b/", 1)) == ["b/1", "b/10", "b/2"]
    assert list(bucket.keys("b/", after="b/1")) == ["b/10", "b/2"]
    assert list(bucket.keys("d")) == []


def test_folders_are_named_once_and_objects_beside_them_are_not(bucket):
    for key in ("v/9.0.0/x", "v/9.0.0/y", "v/9.8.4/x", "v/file"):
        bucket.write(key, b"")

    assert list(bucket.folders("v/")) == ["9.0.0", "9.8.4"]


def test_objects_are_deleted_by_key_and_by_prefix(bucket):
    for key in ("work/1", "work/2", "kept"):
        bucket.write(key, b"")

    bucket.discard("nothing")
    bucket.discard("work/1")
    assert list(bucket.keys("")) == ["kept", "work/2"]
    bucket.delete("work/")
    assert list(bucket.keys("")) == ["kept"]


# A task chooses the names below its own place. Of these, XML cannot hold the first six.
STRANGE_NAMES = [
    *("a\0b", "a\x01b", "a\x1b[31mb", "\ufffe", "\uffff", "a\x0cb"),
    *("a\tb", "a\rb", " a ", "a\x7fb", "\x85", "\u2028", "\ufeff", "\U0010ffff", "\U0001f600"),
    *("..", "../x", "a/../b", "./a", "a//b", "/a", "a\\b", "x" * 900),
    *("%00", "a%00b", "a+b", "a?b#c", "]]>", "a&<>\"'"),
]


@pytest.mark.parametrize("name", STRANGE_NAMES, ids=ascii)
def test_an_object_of_any_name_is_listed_read_and_deleted(bucket, name):
    bucket.write(f"work/{name}", b"body")
    bucket.write("work/plain", b"")
    bucket.write("kept", b"")

    assert sorted(bucket.keys("work/")) == sorted([f"work/{name}", "work/plain"])
    assert bucket.read(f"work/{name}") == b"body"
    bucket.delete("work/")

    assert list(bucket.keys("")) == ["kept"]


def test_an_object_is_deleted_only_as_it_was_seen(bucket):
    bucket.write("k", b"first")
    seen = bucket.find("k").etag
    bucket.write("k", b"second")

    assert not bucket.delete_if("k", seen)
    assert bucket.delete_if("k", bucket.find("k").etag)
    assert not bucket.delete_if("k", seen)
    assert bucket.find("k") is None


@pytest.fixture(params=["fake", "s3"])
def copying(request):
    """Have a bucket of each kind that copies objects, with one object."""
    if request.param == "fake":
        return FakeBucket({"work/a +b": b"body"})
    s3 = request.getfixturevalue("endpoint").client("s3")
    s3.create_bucket(Bucket="copying")
    s3.put_object(Bucket="copying", Key="work/a +b", Body=b"body")
    return S3Bucket(s3, "copying")


def test_an_object_is_copied_with_its_digest(copying):
    assert list(copying.sizes("work/")) == [("work/a +b", 4)]

    digest = copying.copy("work/a +b", "kept/a")

    assert digest == hashlib.sha256(b"body").hexdigest()
    assert copying.read("kept/a") == b"body"


def test_a_copy_has_none_of_the_types_and_metadata_of_its_source(endpoint):
    s3 = endpoint.client("s3")
    s3.create_bucket(Bucket="plain")
    page = {"ContentType": "text/html", "Metadata": {"of": "task"}}
    s3.put_object(Bucket="plain", Key="from", Body=b"body", **page)

    S3Bucket(s3, "plain").copy("from", "to")

    head = s3.head_object(Bucket="plain", Key="to")
    assert (head["ContentType"], head["Metadata"]) == ("binary/octet-stream", {})


def test_a_damaged_claim_is_told_and_hides_no_other_in_a_running_cloud(endpoint, tmp_path):
    installed = install(tmp_path / "objects")
    s3, told = endpoint.client("s3"), []
    s3.create_bucket(Bucket="results")
    for suite in ("damaged", "whole"):
        fields = {"run_id": suite, "execution_arn": "arn:x", "claimed_at": "2026-11-27T12:00:00Z"}
        claim = json.dumps(fields)
        s3.put_object(Bucket="results", Key=f"{CLAIMS}{suite}.json", Body=claim.encode())
    file = FileKey.files.find("results", f"{CLAIMS}damaged.json").path
    file.write_bytes(b"{")
    # A later cloud knows of the object only what is stored.
    installed.close()
    moto_api_backend.reset()
    installed = install(tmp_path / "objects")
    s3.create_bucket(Bucket="results")

    claims = claimed_runs(S3Bucket(s3, "results", told.append))
    installed.close()

    assert claims == {"whole": "arn:x"}
    (sentence,) = told
    assert f"s3://results/{CLAIMS}damaged.json is damaged: {file} has 1 bytes" in sentence
    assert "`tidemark doctor`" in sentence
