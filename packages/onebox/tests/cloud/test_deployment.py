"""The upload of an assembly's assets."""

import json
import os

import pytest

from onebox.cloud.deployment import bootstrap, upload

PUT = "before-call.s3.PutObject"


@pytest.fixture
def assembly(tmp_path):
    """An assembly with a file and a folder as assets of its stack."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "handler.py").write_text("pass\n")
    (tmp_path / "template.json").write_text("{}")
    files = {
        path: {
            "source": {"path": path, "packaging": packaging},
            "destinations": {"here": {"objectKey": path}},
        }
        for path, packaging in [("template.json", "file"), ("code", "zip")]
    }
    (tmp_path / "App.assets.json").write_text(json.dumps({"files": files}))
    return tmp_path


@pytest.fixture
def put(assembly, endpoint):
    """Return a function that uploads the assets and returns the keys that it put."""
    bootstrap(endpoint)
    events = endpoint.client("s3").meta.events
    keys = []

    def note(params, **_):
        keys.append(params["url_path"].rpartition("/")[2])

    def put():
        keys.clear()
        upload(assembly, "App", endpoint)
        return sorted(keys)

    events.register(PUT, note)
    yield put
    events.unregister(PUT, note)


def test_an_asset_with_the_same_bytes_is_not_put_again(assembly, put):
    assert put() == ["code", "template.json"]
    # A later synthesis makes the same files anew.
    os.utime(assembly / "code" / "handler.py", (1e9, 1e9))

    assert put() == []


def test_a_changed_asset_is_put(assembly, put):
    put()
    (assembly / "code" / "handler.py").write_text("print()\n")

    assert put() == ["code"]
