"""What the workload installs is what the rest of the repository was tested with."""

import re
import tomllib
from pathlib import Path

import pytest
from rocksdb_workload.preparation import BOTO3

ROOT = Path(__file__).parents[3]


@pytest.fixture
def pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return set(project["dependencies"])


def test_boto3_is_the_pinned_one(pinned):
    assert BOTO3 in pinned


def test_the_images_uv_is_the_pinned_one(pinned):
    dockerfile = (ROOT / "workloads" / "rocksdb" / "Dockerfile").read_text()

    assert re.findall(r"uv==\S+", dockerfile) == [pin for pin in pinned if pin.startswith("uv==")]
