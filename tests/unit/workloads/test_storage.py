import json

import pytest
from botocore.exceptions import ClientError
from harness.storage import Manifest, Storage, digest
from harness.task import CheckFailedError

from tests.unit.workloads.fake_bucket import Bucket


@pytest.fixture
def bucket():
    return Bucket()


@pytest.fixture
def storage(bucket):
    return Storage(bucket, "results", "work/task-0000/")


@pytest.fixture
def stored(storage, tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "CURRENT").write_text("MANIFEST-000005\n")
    (folder / "parts").mkdir()
    (folder / "parts" / "000009.sst").write_bytes(bytes(range(256)) * 10_000)
    files = {name: digest(folder / name) for name in ("CURRENT", "parts/000009.sst")}
    manifest = Manifest("9.0.0", "rocksdict==0.3.23", 7, 100, 42, "store-0", files)
    storage.store(folder, manifest)
    return manifest


def test_stored_files_are_loaded(storage, stored, tmp_path):
    manifest = storage.load(tmp_path / "loaded")

    assert manifest == stored
    for name in ("CURRENT", "parts/000009.sst"):
        loaded = (tmp_path / "loaded" / name).read_bytes()
        assert loaded == (tmp_path / "store" / name).read_bytes()


def test_the_manifest_is_stored_last(bucket, stored):
    assert bucket.order[-1] == "work/task-0000/manifest.json"


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_files_that_were_never_stored_are_missing(bucket, storage, tmp_path, code):
    bucket.code = code

    with pytest.raises(CheckFailedError, match=r"^s3://results/work/.+/manifest\.json is missing"):
        storage.load(tmp_path / "loaded")


def test_another_error_of_s3_keeps_its_name(bucket, storage, tmp_path):
    bucket.code = "SlowDown"

    with pytest.raises(ClientError, match="SlowDown"):
        storage.load(tmp_path / "loaded")


def test_a_missing_file_is_named(bucket, storage, stored, tmp_path):
    del bucket.objects["work/task-0000/files/CURRENT"]

    with pytest.raises(CheckFailedError, match="/files/CURRENT is missing"):
        storage.load(tmp_path / "loaded")


def test_a_changed_file_is_named(bucket, storage, stored, tmp_path):
    bucket.objects["work/task-0000/files/parts/000009.sst"] = b"changed"

    with pytest.raises(CheckFailedError, match=r"/files/parts/000009\.sst has the SHA-256"):
        storage.load(tmp_path / "loaded")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", json.dumps({"other": 1}).encode()])
def test_a_manifest_that_ingest_did_not_store_is_refused(bucket, storage, stored, tmp_path, body):
    bucket.objects["work/task-0000/manifest.json"] = body

    with pytest.raises(CheckFailedError, match=r"manifest\.json is not one that ingest stored"):
        storage.load(tmp_path / "loaded")
