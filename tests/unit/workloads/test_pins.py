"""The pins of the workload, which are those of the rest of the repository."""

import re
from pathlib import Path

from rocksdb_workload.preparation import BOTO3

from tidemark.model.suite_files import read_suites

ROOT = Path(__file__).parents[3]
PINS = ROOT / "workloads" / "rocksdb" / "rocksdb_workload"


def test_boto3_and_what_it_needs_have_the_versions_that_are_pinned_here():
    here = set(re.findall(r"^\S+==\S+", (ROOT / "requirements.txt").read_text(), re.MULTILINE))
    packages = re.findall(r"^\S+==\S+", PINS.joinpath("boto3.txt").read_text(), re.MULTILINE)

    assert BOTO3 in packages
    assert set(packages) <= here


def test_every_version_of_the_suite_has_its_hashes():
    subject = read_suites()["rocksdb"].subject
    releases = re.findall(r"^\S+==\S+", PINS.joinpath("rocksdict.txt").read_text(), re.MULTILINE)

    assert releases == [subject.requirement(version) for version in subject.versions]


def test_uv_in_the_image_has_the_version_and_the_hashes_that_are_pinned_here():
    pinned = (ROOT / "workloads" / "rocksdb" / "uv.txt").read_text()

    assert pinned in (ROOT / "requirements.txt").read_text()
