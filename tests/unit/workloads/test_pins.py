"""The pins of the workload, which are those of the rest of the repository."""

import re
import tomllib
from pathlib import Path

import pytest
from rocksdb_workload.preparation import BOTO3

ROOT = Path(__file__).parents[3]


@pytest.fixture
def pins():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return set(project["dependencies"])


def test_boto3_has_the_pinned_version(pins):
    assert BOTO3 in pins


def test_uv_in_the_image_has_the_pinned_version(pins):
    dockerfile = (ROOT / "workloads" / "rocksdb" / "Dockerfile").read_text()

    assert re.findall(r"uv==\S+", dockerfile) == [pin for pin in pins if pin.startswith("uv==")]
