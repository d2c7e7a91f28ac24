"""The contract of the one-machine S3: objects that boto3 puts stay for the next process."""

import errno
import hashlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from unittest.mock import Mock

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.moto_api._internal.models import moto_api_backend
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

from onebox.app import ACCOUNT
from onebox.cloud.deployment import bootstrap, upload
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.objects import FileKey, install
from onebox.store.index import DamagedIndex
from onebox.store.object_files import ObjectFiles

MEBIBYTE = 1 << 20


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "objects"


@pytest.fixture(scope="module")
def url():
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    server.stop()


@pytest.fixture
def s3(url, folder):
    installed = install(folder)
    client = client_of(url, "s3")
    client.create_bucket(Bucket="results")
    yield client
    client.close()
    moto_api_backend.reset()
    installed.close()


@pytest.fixture
def restart(s3, folder):
    def start_again():
        moto_api_backend.reset()
        install(folder)
        s3.create_bucket(Bucket="results")

    return start_again


def client_of(url, service):
    return boto3.client(
        service,
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=32),
    )


def read(s3, key):
    return s3.get_object(Bucket="results", Key=key)["Body"].read()


def keys(s3, **options):
    found = s3.list_objects_v2(Bucket="results", **options)
    return [entry["Key"] for entry in found.get("Contents", [])]


def bodies(folder, name="bodies"):
    return [path.read_bytes() for path in (folder / name).iterdir()]


def refusal(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    response = error.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize("letter", ["k", "ä"])
def test_a_key_longer_than_s3_accepts_is_refused_as_by_s3(s3, letter):
    key = letter * (1024 // len(letter.encode()))
    s3.put_object(Bucket="results", Key=key, Body=b"")

    too_long = {"Bucket": "results", "Key": f"{key}1"}
    assert refusal(s3.put_object, **too_long, Body=b"") == ("KeyTooLongError", 400)
    assert refusal(s3.get_object, **too_long) == ("KeyTooLongError", 400)
    assert keys(s3) == [key]


def test_an_object_is_read_as_it_was_put(s3):
    put = s3.put_object(
        Bucket="results",
        Key="a/b.json",
        Body=b"{}",
        ContentType="application/json",
        Metadata={"suite": "rocksdb"},
    )

    found = s3.get_object(Bucket="results", Key="a/b.json")

    assert found["Body"].read() == b"{}"
    assert found["ETag"] == put["ETag"] == f'"{hashlib.md5(b"{}").hexdigest()}"'
    assert found["ContentType"] == "application/json"
    assert found["ContentLength"] == 2
    assert found["Metadata"] == {"suite": "rocksdb"}


def test_a_body_has_its_own_file(s3, folder):
    body = bytes(range(256)) * 4096

    s3.put_object(Bucket="results", Key="large", Body=body)

    assert bodies(folder) == [body]


def test_an_empty_object_is_kept(s3, restart):
    s3.put_object(Bucket="results", Key="empty")
    restart()

    assert read(s3, "empty") == b""


def test_objects_survive_a_restart(s3, restart):
    s3.put_object(
        Bucket="results",
        Key="plan.json",
        Body=b"plan",
        ContentType="application/json",
        ContentEncoding="gzip",
        Metadata={"Suite": "rocksdb"},
        Tagging="kept=yes",
        ChecksumAlgorithm="SHA256",
    )
    before = s3.get_object(Bucket="results", Key="plan.json", ChecksumMode="ENABLED")
    restart()
    after = s3.get_object(Bucket="results", Key="plan.json", ChecksumMode="ENABLED")

    assert after["Body"].read() == before["Body"].read() == b"plan"
    for field in (
        "ETag",
        "ContentType",
        "ContentEncoding",
        "Metadata",
        "LastModified",
        "TagCount",
        "ChecksumSHA256",
    ):
        assert after[field] == before[field]
    tags = s3.get_object_tagging(Bucket="results", Key="plan.json")["TagSet"]
    assert tags == [{"Key": "kept", "Value": "yes"}]


def test_a_bucket_of_another_name_has_no_objects(s3, restart):
    s3.put_object(Bucket="results", Key="plan.json", Body=b"plan")
    restart()
    s3.create_bucket(Bucket="others")

    assert "Contents" not in s3.list_objects_v2(Bucket="others")


def test_a_bucket_that_a_template_creates_again_has_its_objects(s3, url, folder):
    stacks = client_of(url, "cloudformation")
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "templated"}}
    template = json.dumps({"Resources": {"Bucket": bucket}})
    stacks.create_stack(StackName="first", TemplateBody=template)
    s3.put_object(Bucket="templated", Key="k", Body=b"body")

    moto_api_backend.reset()
    install(folder)
    stacks.create_stack(StackName="second", TemplateBody=template)

    assert s3.get_object(Bucket="templated", Key="k")["Body"].read() == b"body"
    stacks.close()


@pytest.mark.parametrize(
    "key",
    ["../x", "/etc/passwd", "a//b/./..", "k" * 1024, "ü ∞ 'quote\"; --", "a\\b", "%2e%2e%2fx", "."],
)
def test_any_key_is_kept_within_the_folder(s3, restart, folder, tmp_path, key):
    s3.put_object(Bucket="results", Key=key, Body=b"body")
    restart()

    assert read(s3, key) == b"body"
    assert keys(s3) == [key]
    assert [path.name for path in tmp_path.iterdir()] == ["objects"]
    assert bodies(folder) == [b"body"]


def test_a_replaced_object_leaves_no_file(s3, restart, folder):
    s3.put_object(Bucket="results", Key="k", Body=b"old", Metadata={"a": "1"})
    s3.put_object(Bucket="results", Key="k", Body=b"new")
    restart()

    found = s3.get_object(Bucket="results", Key="k")

    assert found["Body"].read() == b"new"
    assert found["Metadata"] == {}
    assert bodies(folder) == [b"new"]


def test_a_write_once_object_is_refused_when_it_exists(s3, folder):
    s3.put_object(Bucket="results", Key="k", Body=b"first", IfNoneMatch="*")

    error = refusal(s3.put_object, Bucket="results", Key="k", Body=b"second", IfNoneMatch="*")

    assert error == ("PreconditionFailed", 412)
    assert read(s3, "k") == b"first"
    assert bodies(folder) == [b"first"]


def test_a_write_once_object_is_refused_after_a_restart(s3, restart):
    s3.put_object(Bucket="results", Key="k", Body=b"first", IfNoneMatch="*")
    restart()

    error = refusal(s3.put_object, Bucket="results", Key="k", Body=b"second", IfNoneMatch="*")

    assert error == ("PreconditionFailed", 412)


def test_one_of_many_parallel_writers_writes_a_write_once_object(s3, folder):
    def write(number):
        try:
            body = str(number).encode() * MEBIBYTE
            s3.put_object(Bucket="results", Key="k", Body=body, IfNoneMatch="*")
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"]
        return number

    with ThreadPoolExecutor(8) as writers:
        outcomes = list(writers.map(write, range(8)))

    (winner,) = (outcome for outcome in outcomes if outcome != 412)
    assert bodies(folder) == [str(winner).encode() * MEBIBYTE]
    assert read(s3, "k") == str(winner).encode() * MEBIBYTE


def test_an_object_is_replaced_if_its_tag_matches(s3):
    put = s3.put_object(Bucket="results", Key="k", Body=b"first")

    s3.put_object(Bucket="results", Key="k", Body=b"second", IfMatch=put["ETag"])
    error = refusal(s3.put_object, Bucket="results", Key="k", Body=b"third", IfMatch=put["ETag"])

    assert error == ("PreconditionFailed", 412)
    assert read(s3, "k") == b"second"


def test_an_object_is_deleted_if_its_tag_matches(s3):
    put = s3.put_object(Bucket="results", Key="k", Body=b"first")
    s3.put_object(Bucket="results", Key="k", Body=b"second")
    expected = s3.head_object(Bucket="results", Key="k")["ETag"]

    error = refusal(s3.delete_object, Bucket="results", Key="k", IfMatch=put["ETag"])
    s3.delete_object(Bucket="results", Key="k", IfMatch=expected)
    gone = refusal(s3.delete_object, Bucket="results", Key="k", IfMatch=expected)

    assert error == ("PreconditionFailed", 412)
    assert gone[0] == "NoSuchKey"
    assert keys(s3) == []


def test_readers_get_a_whole_object_while_it_is_replaced(s3):
    def replace(number):
        s3.put_object(Bucket="results", Key="k", Body=bytes([number]) * MEBIBYTE)

    def consistent(_):
        return len(set(read(s3, "k"))) == 1

    replace(0)
    with ThreadPoolExecutor(8) as pool:
        writes = pool.map(replace, range(32))
        assert all(pool.map(consistent, range(64)))
        list(writes)


def test_a_deleted_object_and_its_file_are_gone(s3, restart, folder):
    for key in "abc":
        s3.put_object(Bucket="results", Key=key, Body=key.encode())

    s3.delete_object(Bucket="results", Key="a")
    s3.delete_objects(Bucket="results", Delete={"Objects": [{"Key": "b"}, {"Key": "never"}]})
    restart()

    assert keys(s3) == ["c"]
    assert bodies(folder) == [b"c"]
    assert refusal(s3.get_object, Bucket="results", Key="a") == ("NoSuchKey", 404)


def test_a_bucket_with_restored_objects_cannot_be_deleted(s3, restart):
    s3.put_object(Bucket="results", Key="k", Body=b"body")
    restart()

    assert refusal(s3.delete_bucket, Bucket="results") == ("BucketNotEmpty", 409)


def test_keys_are_listed_by_prefix_delimiter_and_page(s3, restart):
    for key in ("a/1", "a/2", "a/b/3", "c"):
        s3.put_object(Bucket="results", Key=key)
    restart()

    listed = s3.list_objects_v2(Bucket="results", Prefix="a/", Delimiter="/")
    pages = s3.get_paginator("list_objects_v2").paginate(
        Bucket="results", PaginationConfig={"PageSize": 1}
    )

    assert [entry["Key"] for entry in listed["Contents"]] == ["a/1", "a/2"]
    assert [entry["Prefix"] for entry in listed["CommonPrefixes"]] == ["a/b/"]
    assert [page["Contents"][0]["Key"] for page in pages] == ["a/1", "a/2", "a/b/3", "c"]
    assert len(s3.list_object_versions(Bucket="results")["Versions"]) == 4


def test_a_range_of_an_object_is_read(s3):
    s3.put_object(Bucket="results", Key="k", Body=b"0123456789")

    found = s3.get_object(Bucket="results", Key="k", Range="bytes=2-4")

    assert found["Body"].read() == b"234"


def test_a_copy_is_independent_of_its_source(s3, restart):
    s3.put_object(Bucket="results", Key="from", Body=b"body", Metadata={"a": "1"})
    s3.copy_object(Bucket="results", Key="to", CopySource="results/from")
    s3.delete_object(Bucket="results", Key="from")
    restart()

    found = s3.get_object(Bucket="results", Key="to")

    assert found["Body"].read() == b"body"
    assert found["Metadata"] == {"a": "1"}


def test_an_object_copied_onto_itself_has_its_new_metadata(s3, restart, folder):
    s3.put_object(Bucket="results", Key="k", Body=b"body", Metadata={"a": "1"})
    s3.copy_object(
        Bucket="results",
        Key="k",
        CopySource="results/k",
        Metadata={"b": "2"},
        MetadataDirective="REPLACE",
    )
    restart()

    assert s3.head_object(Bucket="results", Key="k")["Metadata"] == {"b": "2"}
    assert bodies(folder) == [b"body"]


def test_new_tags_are_kept(s3, restart):
    s3.put_object(Bucket="results", Key="k", Tagging="a=1")
    s3.put_object_tagging(
        Bucket="results", Key="k", Tagging={"TagSet": [{"Key": "b", "Value": "2"}]}
    )
    restart()

    tags = s3.get_object_tagging(Bucket="results", Key="k")["TagSet"]
    assert tags == [{"Key": "b", "Value": "2"}]


def test_nothing_is_kept_of_a_deleted_object_nor_of_tags_that_are_none(s3, restart):
    s3.put_object(Bucket="results", Key="plain")
    s3.put_object(Bucket="results", Key="k", Tagging="a=1")
    s3.delete_object(Bucket="results", Key="k")

    tagger = s3_backends[ACCOUNT]["aws"].tagger
    assert not tagger.tags
    restart()
    assert not tagger.tags
    s3.put_object(Bucket="results", Key="k")
    assert s3.get_object_tagging(Bucket="results", Key="k")["TagSet"] == []


def test_an_upload_in_parts_becomes_one_object(s3, restart, folder):
    first, second = b"1" * (5 * MEBIBYTE), b"2"
    upload = begin(s3, "k")
    parts = [put_part(s3, upload, number, body) for number, body in [(1, first), (2, second)]]
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
    restart()

    found = s3.get_object(Bucket="results", Key="k")

    assert found["Body"].read() == first + second
    assert found["ETag"].endswith('-2"')
    assert found["Metadata"] == {"a": "1"}
    assert bodies(folder) == [first + second]


def test_a_large_file_is_uploaded_and_downloaded_by_the_transfer_manager(s3, tmp_path):
    body = bytes(range(256)) * (20 * MEBIBYTE // 256)
    (tmp_path / "from").write_bytes(body)

    s3.upload_file(str(tmp_path / "from"), "results", "k")
    s3.download_file("results", "k", str(tmp_path / "to"))

    assert (tmp_path / "to").read_bytes() == body


def test_a_replaced_or_aborted_part_leaves_no_file(s3, folder):
    upload = begin(s3, "k")
    put_part(s3, upload, 1, b"old")
    put_part(s3, upload, 1, b"new")
    assert bodies(folder, "uploads") == [b"new"]

    s3.abort_multipart_upload(**upload)

    assert bodies(folder, "uploads") == []
    assert refusal(s3.upload_part, **upload, PartNumber=1, Body=b"") == ("NoSuchUpload", 404)


def test_an_upload_takes_no_parts_for_another_key(s3):
    upload = begin(s3, "k")

    other = {**upload, "Key": "other"}
    assert refusal(s3.upload_part, **other, PartNumber=1, Body=b"1") == ("NoSuchUpload", 404)
    assert put_part(s3, upload, 1, b"1")["PartNumber"] == 1


def begin(s3, key):
    upload = s3.create_multipart_upload(Bucket="results", Key=key, Metadata={"a": "1"})
    return {name: upload[name] for name in ("Bucket", "Key", "UploadId")}


def put_part(s3, upload, number, body):
    part = s3.upload_part(**upload, PartNumber=number, Body=body)
    return {"PartNumber": number, "ETag": part["ETag"]}


def test_a_broken_upload_leaves_nothing(s3, url, folder):
    server = urllib.parse.urlsplit(url)
    with socket.create_connection((server.hostname, server.port)) as connection:
        connection.sendall(b"PUT /results/k HTTP/1.1\r\nHost: localhost\r\n")
        connection.sendall(b"Content-Length: 10\r\nConnection: close\r\n\r\nhalf")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass

    assert bodies(folder) == []
    assert keys(s3) == []


def test_a_body_in_signed_chunks_is_decoded(s3, url, restart):
    request = urllib.request.Request(
        f"{url}/results/k",
        method="PUT",
        data=b"4\r\nbody\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n",
        headers={
            "Authorization": "AWS4-HMAC-SHA256 Credential=k/20261120/us-east-1/s3/aws4_request",
            "Content-Encoding": "aws-chunked",
            "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
            "x-amz-decoded-content-length": "4",
        },
    )
    urllib.request.urlopen(request).close()
    restart()

    assert read(s3, "k") == b"body"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("put_bucket_versioning", {"VersioningConfiguration": {"Status": "Enabled"}}),
        (
            "put_bucket_notification_configuration",
            {"NotificationConfiguration": {"EventBridgeConfiguration": {}}},
        ),
        ("put_object", {"Key": "k", "ACL": "public-read"}),
        ("put_object_acl", {"Key": "k", "ACL": "public-read"}),
        ("get_object", {"Key": "k", "PartNumber": 1}),
        ("get_object", {"Key": "k", "VersionId": "1"}),
    ],
)
def test_an_unsupported_request_is_refused(s3, operation, arguments):
    code, _ = refusal(getattr(s3, operation), Bucket="results", **arguments)

    assert code == "NotImplemented"


def test_a_bucket_with_object_locks_is_refused(s3):
    code, _ = refusal(s3.create_bucket, Bucket="locked", ObjectLockEnabledForBucket=True)

    assert code == "NotImplemented"


def test_a_folder_in_use_by_another_process_is_refused(s3, folder):
    program = "import sys, pathlib, onebox.cloud.objects as o; o.install(pathlib.Path(sys.argv[1]))"

    other = subprocess.run(
        [sys.executable, "-c", program, folder],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "FolderInUse" in other.stderr
    assert "index.sqlite" in other.stderr


def test_the_error_of_a_damaged_object_names_it_and_hides_no_other(s3, restart, folder):
    s3.put_object(Bucket="results", Key="damaged", Body=b"body")
    (path,) = (folder / "bodies").iterdir()
    s3.put_object(Bucket="results", Key="whole", Body=b"whole")
    path.write_bytes(b"bo")
    restart()

    with pytest.raises(ClientError, match=r"s3://results/damaged is damaged: .*tidemark doctor"):
        read(s3, "damaged")
    assert read(s3, "whole") == b"whole"


def test_a_cloud_does_not_start_with_a_damaged_index(s3, restart, folder):
    s3.put_object(Bucket="results", Key="k", Body=b"body")
    FileKey.files.close()
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute("UPDATE objects SET attributes = '{'")
    index.commit()
    index.close()

    with pytest.raises(DamagedIndex, match=r"index.sqlite is damaged: the row of k is .*`tide"):
        install(folder)


def test_a_cloud_that_cannot_check_its_index_keeps_no_lock(s3, restart, folder, monkeypatch):
    FileKey.files.close()
    with monkeypatch.context() as broken:
        broken.setattr(ObjectFiles, "check_index", Mock(side_effect=OSError("broken")))
        with pytest.raises(OSError, match="broken") as failed:
            install(folder)

    ObjectFiles(folder).close()
    assert failed.tb  # keeps the first attempt's objects alive


def test_an_unfinished_file_of_a_dead_process_is_removed(s3, restart, folder):
    s3.put_object(Bucket="results", Key="k", Body=b"body")
    (folder / "uploads" / "unfinished").write_bytes(b"bo")

    restart()
    s3.put_object(Bucket="results", Key="k", Body=b"again")

    assert bodies(folder) == [b"again"]
    assert bodies(folder, "uploads") == []


def test_a_whole_listing_is_the_same_list_until_one_of_its_objects_changes(s3):
    def keys():
        return [key for key, *_ in FileKey.files.whole_listing("results", "a/")]

    s3.put_object(Bucket="results", Key="a/1", Body=b"1")
    first = FileKey.files.whole_listing("results", "a/")
    s3.put_object(Bucket="results", Key="b/1", Body=b"1")
    assert FileKey.files.whole_listing("results", "a/") is first

    s3.put_object(Bucket="results", Key="a/2", Body=b"2")
    assert keys() == ["a/1", "a/2"]
    s3.put_object(Bucket="results", Key="a/2", Body=b"two")
    assert FileKey.files.whole_listing("results", "a/") == FileKey.files.listed("results", "a/")
    s3.delete_object(Bucket="results", Key="a/1")
    assert keys() == ["a/2"]


def test_the_objects_below_a_prefix_are_listed_in_key_order(s3):
    for key in ("a/2", "a/10", "a", "b/1", "a/\U0010fffd", "a0"):
        s3.put_object(Bucket="results", Key=key, Body=key.encode())

    assert [each[:2] for each in FileKey.files.listed("results", "a/")] == [
        ("a/10", 4),
        ("a/2", 3),
        ("a/\U0010fffd", 6),
    ]
    assert [key for key, *_ in FileKey.files.listed("results", "a/", "a/10", 1)] == ["a/2"]
    assert FileKey.files.listed("others", "") == []


def test_a_request_without_room_is_refused_and_leaves_the_old_object(
    s3, restart, folder, monkeypatch
):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    s3.put_object(Bucket="results", Key="k", Body=b"old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ClientError, match="No space left on device"):
            s3.put_object(Bucket="results", Key="k", Body=b"new")
        with pytest.raises(ClientError, match="No space left on device"):
            s3.put_object(Bucket="results", Key="k2", Body=b"new")
    assert (read(s3, "k"), keys(s3)) == (b"old", ["k"])

    s3.put_object(Bucket="results", Key="k2", Body=b"new")
    restart()
    assert (read(s3, "k"), read(s3, "k2")) == (b"old", b"new")
    assert sorted(bodies(folder)) == [b"new", b"old"]


def test_a_damaged_asset_of_a_deployment_is_put_again(s3, url, folder, restart, tmp_path):
    endpoint = Endpoint(urllib.parse.urlsplit(url).port, key="")
    (tmp_path / "template.json").write_text("{}")
    file = {
        "source": {"path": "template.json", "packaging": "file"},
        "destinations": {"here": {"objectKey": "asset"}},
    }
    (tmp_path / "App.assets.json").write_text(json.dumps({"files": {"asset": file}}))
    bootstrap(endpoint)
    upload(tmp_path, "App", endpoint)
    (body,) = (folder / "bodies").iterdir()
    body.write_bytes(b"??")
    restart()
    bootstrap(endpoint)

    upload(tmp_path, "App", endpoint)

    assert bodies(folder) == [b"{}"]


def test_a_server_keeps_files_while_they_are_installed_and_only_then(folder):
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    client = client_of(f"http://127.0.0.1:{server.get_host_and_port()[1]}", "s3")
    grant = partial(client.put_object, Bucket="results", Key="a", Body=b"one", ACL="private")
    for _ in range(2):
        client.create_bucket(Bucket="results")
        grant()
        moto_api_backend.reset()
        with install(folder):
            client.create_bucket(Bucket="results")
            assert refusal(grant) == ("NotImplemented", 400)
            moto_api_backend.reset()
    client.close()
    server.stop()
